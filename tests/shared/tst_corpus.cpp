// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"
#include "model/run/rank.hpp"
#include "tests/support/json_subset.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Lines of expected.jsonl: snapshots whose figures were computed elsewhere.
constexpr int expectedFiles = 28;

std::filesystem::path corpus()
{
    return sharedFolder() / "corpus";
}

std::shared_ptr<const Rank> opened(const QString& file)
{
    static std::map<QString, std::shared_ptr<const Rank>> known;
    auto& rank = known[file];
    if (!rank) {
        auto result = openRank(corpus() / file.toStdString(), {}, {});
        if (!result)
            qFatal("%s: %s", qPrintable(file), result.error().message.c_str());
        rank = *result;
    }
    return rank;
}

/// The lives that begin and end with each state, walked from the first state on: what checkpoints must agree
/// with.
class Walk {
public:
    explicit Walk(const Timeline& timeline)
        : m_columns(timeline.allocations())
        , m_ending(timeline.states() + 1)
    {
        for (std::uint32_t id = 0; id < m_columns.count(); ++id)
            m_ending[m_columns.endState[id]].push_back(AllocationId{id});
    }

    void enter(StateIndex state)
    {
        for (const AllocationId id : m_ending[state]) {
            m_live.erase(std::ranges::lower_bound(m_live, id));
            m_sum -= static_cast<std::int64_t>(m_columns.size[index(id)]);
        }
        for (; m_next < m_columns.count() && m_columns.firstState[m_next] == state; ++m_next) {
            m_live.push_back(AllocationId{m_next});
            m_sum += static_cast<std::int64_t>(m_columns.size[m_next]);
        }
    }
    const std::vector<AllocationId>& live() const { return m_live; }
    std::int64_t sum() const { return m_sum; }

private:
    const AllocationColumns& m_columns;
    std::vector<std::vector<AllocationId>> m_ending;
    std::vector<AllocationId> m_live;
    std::uint32_t m_next = 0;
    std::int64_t m_sum = 0;
};

} // namespace

class TestCorpus : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    void infoEqualsTheExpectation_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("line");
        std::ifstream lines(corpus() / "expected.jsonl");
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            const std::string file = nlohmann::json::parse(line)["file"];
            QTest::newRow(file.c_str()) << QString::fromStdString(file) << QByteArray::fromStdString(line);
        }
        QCOMPARE(count, expectedFiles);
    }

    void infoEqualsTheExpectation()
    {
        QFETCH(QString, file);
        QFETCH(QByteArray, line);
        nlohmann::json expected = nlohmann::json::parse(line.toStdString());
        const std::string path = (corpus() / file.toStdString()).string();
        expected["file"] = path;
        const std::vector<const char*> arguments{"info", "--json", path.c_str()};
        std::ostringstream out;
        std::ostringstream err;
        QCOMPARE(runCommandLine(arguments, out, err, nullptr), std::optional<int>(exitStatus::done));
        QCOMPARE(QString::fromStdString(err.str()), QString());
        QCOMPARE(QString::fromStdString(missingFrom(nlohmann::json::parse(out.str()), expected)), QString());
    }

    void sumsAndLiveSetsAtEveryEvent_data()
    {
        QTest::addColumn<QString>("file");
        int count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus())) {
            if (!entry.is_regular_file() || entry.path().parent_path() == corpus())
                continue;
            if (openRank(entry.path(), {}, {})) {
                const QString file
                    = QString::fromStdString(std::filesystem::relative(entry.path(), corpus()).string());
                QTest::newRow(qPrintable(file)) << file;
                ++count;
            }
        }
        QVERIFY2(count >= expectedFiles, std::to_string(count).c_str());
    }

    void sumsAndLiveSetsAtEveryEvent()
    {
        QFETCH(QString, file);
        for (const auto& replay : opened(file)->devices) {
            const Timeline& timeline = replay->timeline;
            Walk walk(timeline);
            for (StateIndex state = 0; state < timeline.states(); ++state) {
                walk.enter(state);
                QCOMPARE(walk.sum(), timeline.requested().at(state));
                QVERIFY(timeline.liveAt(state) == walk.live());
                QCOMPARE(std::size_t(timeline.liveCountAt(state)), walk.live().size());
                std::int64_t streams = 0;
                for (const auto& [stream, series] : replay->requestedByStream)
                    streams += series.at(state);
                QCOMPARE(streams, walk.sum());
                std::int64_t pools = 0;
                for (const auto& [pool, series] : replay->requestedByPool)
                    pools += series.at(state);
                QCOMPARE(pools, walk.sum());
            }
            QVERIFY(timeline.requested().total().min >= 0);
            if (replay->segments.reservedKnown())
                QVERIFY(replay->segments.reserved().total().min >= 0);
        }
    }

    /// The figures of the design's picture of this file, read off independently.
    void whoIsAliveAtThePeak()
    {
        const QString file = "42-cs336-medium-training-2026/medium_1024_training_memory_snapshot.pickle";
        const std::string path = (corpus() / file.toStdString()).string();
        const std::vector<const char*> arguments{"at", path.c_str(), "--peak", "--top", "12", "--json"};
        std::ostringstream out;
        std::ostringstream err;
        QCOMPARE(runCommandLine(arguments, out, err, nullptr), std::optional<int>(exitStatus::done));
        const auto at = nlohmann::json::parse(out.str());
        QCOMPARE(at["event"].get<int>(), 3737);
        QCOMPARE(at["allocations"].get<int>(), 1432);
        QCOMPARE(at["groups"][0]["key"].get<std::string>(), std::string("softmax@nn_utils.py:6"));
        QCOMPARE(at["groups"][0]["allocations"].get<int>(), 24);
        QCOMPARE(at["groups"][0]["bytes"].get<std::int64_t>(), std::int64_t(24) << 28);
        QCOMPARE(at["groups"][3]["key"].get<std::string>(), std::string("before recording → end"));
        QCOMPARE(at["groups"][3]["allocations"].get<int>(), 226);
        QCOMPARE(at["groups"][7]["key"].get<std::string>(), std::string("DivBackward0 (backward)"));
        std::int64_t sum = at["other"]["bytes"];
        for (const auto& group : at["groups"])
            sum += group["bytes"].get<std::int64_t>();
        QCOMPARE(sum, at["live"].get<std::int64_t>());
    }
};

QTEST_GUILESS_MAIN(TestCorpus)
#include "tst_corpus.moc"
