// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"
#include "tests/shared/scenario_maker.hpp"

#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

/// The byte model of the playbook's estimator for the fullest stage of a scenario that is trained with a
/// dense model, plain pipelining and the distributed optimizer, from the scenario's own parameters.
struct Estimate {
    std::int64_t states = 0;
    std::int64_t activations = 0;
    std::int64_t total() const { return states + activations; }
};

Estimate estimateOf(const Json& p)
{
    const auto number = [&p](const char* key) { return p[key].get<std::int64_t>(); };
    const std::int64_t hidden = number("hidden");
    const std::int64_t keys = number("kv_heads") * (hidden / number("heads"));
    const std::int64_t layer
        = 2 * hidden * hidden + 2 * hidden * keys + 2 * hidden + 3 * hidden * number("ffn");
    const std::int64_t layers = number("layers") / number("pp");
    const std::int64_t count = (layers * layer + number("vocab") * hidden) / number("tp");
    const std::int64_t tokens = number("seq") * number("batch");
    const std::int64_t each = tokens * (18 * hidden + 4 * number("ffn")) / number("tp");
    const std::int64_t flying = std::min(number("pp"), number("microbatches"));
    return {6 * count + 12 * count / number("dp"), flying * layers * each};
}

Json findingsOf(const std::filesystem::path& file, std::optional<std::uint64_t> device)
{
    const auto rank = openRank(file, {}, {});
    if (!rank)
        qFatal("%s", rank.error().message.c_str());
    DiagnosisOptions options;
    options.deviceTotal = device;
    for (const std::filesystem::path& each : configFilesBeside(file))
        if (const auto added = options.config.addFile(each); !added)
            qFatal("%s", added.error().message.c_str());
    return Json::parse(diagnose(*rank, options, {})->json())["findings"];
}

std::vector<Json> ofRule(const Json& findings, const char* rule)
{
    std::vector<Json> out;
    for (const Json& each : findings)
        if (each["rule"] == rule)
            out.push_back(each);
    return out;
}

} // namespace

/// `estimate-exceeds-device`, of which no scenario is: the settings of pipeline scenarios against cards of
/// several sizes.
class TestEstimateScenarios : public QObject {
    Q_OBJECT
private slots:
    void settingsAgainstACard_data()
    {
        QTest::addColumn<QString>("arguments");
        QTest::newRow("first stage fullest") << "short_mib=0 microbatches=5";
        QTest::newRow("fewer microbatches than stages") << "pp=4 microbatches=2 short_mib=0 seq=2048";
        QTest::newRow("wide") << "layers=32 hidden=5120 ffn=13824 heads=40 kv_heads=40 vocab=32000 pp=2 "
                                 "microbatches=4 short_mib=0";
        QTest::newRow("several microbatch rows") << "layers=24 pp=3 batch=2 short_mib=0 microbatches=4";
        QTest::newRow("fails") << "seq=2048 microbatches=6 short_mib=700";
    }

    void settingsAgainstACard()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
        QFETCH(QString, arguments);
        ScenarioMaker made("SC-09", arguments, false);
        if (!made.started())
            QSKIP("python3 is not here.");
        const QByteArray failed = made.wait();
        QVERIFY2(failed.isEmpty(), failed.constData());
        std::ifstream in(made.folder() / "expected.json");
        const Json expected = Json::parse(in);
        const auto file = made.folder() / expected["files"][0]["file"].get<std::string>();
        const Estimate estimate = estimateOf(expected["params"]);

        const auto card = static_cast<std::uint64_t>(estimate.total());
        QVERIFY(ofRule(findingsOf(file, card), "estimate-exceeds-device").empty());
        for (const std::int64_t less : {std::int64_t(1), estimate.activations, estimate.total() / 2}) {
            const auto found = ofRule(
                findingsOf(file, card - static_cast<std::uint64_t>(less)), "estimate-exceeds-device");
            QCOMPARE(found.size(), std::size_t(1));
            QCOMPARE(found[0]["bytes"].get<std::int64_t>(), less);
            QCOMPARE(found[0]["evidence"]["estimate"].get<std::int64_t>(), estimate.total());
            QCOMPARE(found[0]["evidence"]["activations"].get<std::int64_t>(), estimate.activations);
            QCOMPARE(found[0]["evidence"]["device_total"].get<std::int64_t>(), estimate.total() - less);
            QVERIFY(found[0]["playbook"] == "D3");
            QVERIFY(found[0]["event_range"].is_null());
        }
        // By the card that the settings name.
        const auto given = expected["params"]["total_mib"].get<std::int64_t>() << 20;
        QCOMPARE(ofRule(findingsOf(file, {}), "estimate-exceeds-device").size(),
            std::size_t(estimate.total() > given));
    }
};

QTEST_GUILESS_MAIN(TestEstimateScenarios)
#include "tst_estimate_scenarios.moc"
