// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/exporter.hpp"
#include "model/report/session_file.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::report;
using Json = nlohmann::json;

namespace {

SessionFile fullSession()
{
    SessionFile s;
    s.inputs = {
        {"run/rank0.pickle", "fast1-12-abc", 12, {}}, {"/x/y \"z\"\n.pickle", "", 0, R"({"later":[1,2]})"}};
    s.compare = {{"other.pickle", "", 7, {}}};
    s.current = 1;
    s.device = -1;
    s.cursor = -1;
    s.window = {-1, 4000000000};
    s.range = {3, 5};
    s.axis = "time";
    s.colour = "label";
    s.filter = "site:f and size>64M";
    s.labels = "rules.json";
    s.config = "run_config.yaml";
    s.env = "env.txt";
    s.cardBytes = std::uint64_t{80} << 30;
    s.settings = {"run_config.yaml", "more.yaml", "env.txt"};
    s.view = "compare";
    s.alignment = "step";
    s.fixes = {{"recompute-candidate", 1, "checkpoint"}};
    s.conf = "expandable_segments:True";
    s.title = "Rank 3";
    s.summary = "Two\n\nparagraphs — ünïcödé";
    s.parts = {"verdict", "live"};
    Annotation box;
    box.id = 4;
    box.kind = AnnotationKind::Box;
    box.from = PointAnchor{-1, 0};
    box.to = PointAnchor{212, std::int64_t{34} << 30};
    box.text = "here";
    box.labelX = -12.5;
    box.extra = R"({"shape":"round"})";
    Annotation pin;
    pin.id = 9;
    pin.kind = AnnotationKind::Pin;
    pin.view = "segments";
    pin.device = -1;
    pin.from = AllocationAnchor{std::nullopt, 0x7f4001600000, 3};
    Annotation ruler = pin;
    ruler.id = 10;
    ruler.kind = AnnotationKind::Ruler;
    ruler.from = AllocationAnchor{77, 0x7f4001600000, 0};
    ruler.to = SegmentAnchor{0xffffffffffffff00ULL, 12};
    Annotation note = pin;
    note.id = 11;
    note.kind = AnnotationKind::Note;
    note.from = FindingAnchor{"fragmentation", 2};
    s.annotations = {box, pin, ruler, note};
    s.extra = R"({"newer_key":{"a":null,"b":[true,"x"]},"z":1.5})";
    return s;
}

SessionFile smallSession()
{
    SessionFile s;
    s.inputs = {{"a.pickle", "fast1-1-00", 1, {}}};
    s.cursor = 12;
    s.filter = "site:f";
    Annotation note;
    note.id = 1;
    note.from = PointAnchor{5, 6};
    note.text = "first";
    s.annotations = {note, note};
    s.annotations[1].id = 2;
    s.annotations[1].text = "second";
    return s;
}

std::string contents(const std::filesystem::path& file)
{
    QFile in(QString::fromStdString(file.string()));
    return in.open(QIODevice::ReadOnly) ? in.readAll().toStdString() : std::string();
}

} // namespace

class TestSessionFile : public QObject {
    Q_OBJECT
private slots:
    void roundTrip()
    {
        for (const SessionFile& session : {fullSession(), smallSession(), SessionFile()}) {
            const std::string text = sessionText(session);
            QVERIFY(Json::accept(text));
            const auto read = parseSession(text, "x.tidemark");
            QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
            QVERIFY2(read->problems.empty(), read->problems.empty() ? "" : read->problems.front().c_str());
            QVERIFY(read->session == session);
            QCOMPARE(sessionText(read->session), text);
        }
    }

    void unknownKeysAreKept()
    {
        Json json = Json::parse(sessionText(fullSession()));
        json["future"] = {{"deep", {1, 2, {{"x", "y"}}}}};
        json["inputs"][0]["mtime"] = 7;
        json["annotations"][1]["colour"] = "red";
        const auto read = parseSession(json.dump(), "x.tidemark");
        QVERIFY(read.ok() && read->problems.empty());
        const Json back = Json::parse(sessionText(read->session));
        QVERIFY(back == json);
    }

    void newerVersionsAreRefused()
    {
        for (const char* version : {"2", "99999999999999999999", "1.5"}) {
            const auto read
                = parseSession(std::string("{\"version\": ") + version + ", \"inputs\": []}", "job.tidemark");
            QVERIFY(!read.ok());
            QVERIFY(read.error().code == ErrorCode::Unsupported);
            const QString message = QString::fromStdString(read.error().message);
            QVERIFY2(message.startsWith("job.tidemark was written by a newer version of Tidemark"),
                qPrintable(message));
        }
    }

    void otherFilesAreRefused()
    {
        for (const char* text : {"", "hello", "[]", "3", "{}", "null", "{\"a\": 1}", "\x80\x04}q."})
            QVERIFY2(!parseSession(text, "x").ok(), text);
    }

    void wrongValuesLoseOnlyThemselves()
    {
        const Json whole = Json::parse(sessionText(fullSession()));
        const auto lists = {"inputs", "compare", "annotations", "fixes", "parts"};
        for (const auto& [key, value] : whole.items()) {
            if (key == "version")
                continue;
            for (const Json& wrong : {Json(nullptr), Json(true), Json(-7.5), Json("text"),
                     Json::array({1, "x"}), Json::object({{"a", 1}})}) {
                Json damaged = whole;
                damaged[key] = wrong;
                const auto read = parseSession(damaged.dump(), "x");
                QVERIFY2(read.ok(), key.c_str());
                Json back = Json::parse(sessionText(read->session));
                for (const auto& [other, expected] : whole.items())
                    if (other != key)
                        QVERIFY2(back[other] == expected, (key + ' ' + other).c_str());
            }
        }
        QVERIFY(lists.size() == 5);
    }

    void cutAtEveryByte()
    {
        const SessionFile session = smallSession();
        const std::string text = sessionText(session);
        const std::size_t cursor = text.find("\"cursor\"") + 14;
        const std::size_t first = text.find("first") + 40;
        for (std::size_t size = 0; size < text.size(); ++size) {
            const auto read = parseSession(std::string_view(text).substr(0, size), "x");
            if (!read.ok())
                continue;
            QVERIFY(size + 3 > text.size() || !read->problems.empty());
            if (size > cursor)
                QVERIFY(read->session.cursor == 12);
            if (size > first + 20) {
                QVERIFY(!read->session.annotations.empty());
                QVERIFY(read->session.annotations.front() == session.annotations.front());
            }
        }
        QVERIFY(parseSession(std::string_view(text).substr(0, text.size() / 2), "x").ok());
    }

    void everyByteChanged()
    {
        const SessionFile session = smallSession();
        const std::string text = sessionText(session);
        std::size_t whole = 0;
        for (std::size_t at = 0; at < text.size(); ++at)
            for (const char flip : {'\x01', '\x20', '\x40', '\x80', '\x0a'}) {
                std::string damaged = text;
                damaged[at] = static_cast<char>(damaged[at] ^ flip);
                const auto read = parseSession(damaged, "x");
                if (!read.ok())
                    continue;
                // A line at most is lost: of the two remarks and two other values one line each.
                const SessionFile& kept = read->session;
                const int found = (kept.cursor == session.cursor) + (kept.filter == session.filter)
                    + (kept.inputs == session.inputs)
                    + static_cast<int>(
                        std::count(kept.annotations.begin(), kept.annotations.end(), session.annotations[0]))
                    + static_cast<int>(
                        std::count(kept.annotations.begin(), kept.annotations.end(), session.annotations[1]));
                QVERIFY2(found >= 3, (std::to_string(at) + ": " + damaged).c_str());
                whole += found == 5;
                QVERIFY(Json::accept(sessionText(kept)));
            }
        QVERIFY(whole > 0);
    }

    void limits()
    {
        QVERIFY(!parseSession(std::string(maxSessionBytes + 1, ' '), "x").ok());
        std::string deep = "{\"version\":1,\"inputs\":[],\"cursor\":3,\"x\":";
        deep += std::string(100000, '[');
        const auto read = parseSession(deep, "x");
        QVERIFY(read.ok() && read->session.cursor == 3 && !read->problems.empty());
        std::string keys = "{\"version\":1,\"inputs\":[],\"cursor\":3";
        for (int i = 0; i < 100000; ++i)
            keys += ",\"k" + std::to_string(i) + "\":0";
        const auto many = parseSession(keys + "}", "x");
        QVERIFY(many.ok() && many->session.cursor == 3);
        SessionFile large = smallSession();
        large.annotations.resize(maxSessionItems + 1, large.annotations.front());
        const auto list = parseSession(sessionText(large), "x");
        QVERIFY(list.ok() && list->session.annotations.empty() && list->problems.size() == 1);
    }

    void written()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "a.tidemark";
        QVERIFY(writeSession(path, smallSession()).ok());
        QVERIFY(readSession(path)->session == smallSession());
        QVERIFY(writeSession(path, fullSession()).ok());
        QVERIFY(readSession(path)->session == fullSession());
        QCOMPARE(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}), 1);
        QVERIFY(!readSession(path.parent_path()).ok());
        QVERIFY(!readSession(path.parent_path() / "none").ok());
    }

    void theOldFileStaysWhole()
    {
        const QTemporaryDir folder;
        const std::filesystem::path base = folder.path().toStdString();
        const std::filesystem::path path = base / "sub" / "a.tidemark";
        QVERIFY(!writeSession(path, smallSession()).ok()); // there is no such folder
        std::filesystem::create_directory(base / "dir.tidemark");
        QVERIFY(!writeSession(base / "dir.tidemark", smallSession()).ok());
        QCOMPARE(std::distance(std::filesystem::directory_iterator(base), {}), 1); // nothing is left lying
        // A link stays one.
        const std::filesystem::path old = base / "old.tidemark";
        QVERIFY(writeSession(old, smallSession()).ok());
        const std::string before = contents(old);
        std::filesystem::create_symlink(old, base / "link.tidemark");
        QVERIFY(writeSession(base / "link.tidemark", fullSession()).ok());
        QVERIFY(std::filesystem::is_symlink(base / "link.tidemark"));
        QVERIFY(contents(old) != before);
    }

    void hashesTellFilesApart()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "f";
        const auto hashOf = [&](const std::string& bytes) {
            if (!writeWhole(path, bytes).ok())
                return std::string();
            const auto hash = contentHash(path);
            return hash.ok() ? *hash : std::string();
        };
        std::string bytes(12 << 20, 'x');
        const std::string whole = hashOf(bytes);
        QVERIFY2(whole.starts_with("fast1-12582912-") && whole.size() == 47, whole.c_str());
        QCOMPARE(hashOf(bytes), whole);
        for (const std::size_t at : {std::size_t(0), bytes.size() - 1, std::size_t(1) << 20}) {
            std::string changed = bytes;
            changed[at] = 'y';
            QVERIFY(hashOf(changed) != whole);
        }
        QVERIFY(hashOf(bytes + "x") != whole);
        QVERIFY(hashOf("") != hashOf(std::string(1, '\0')));
        QVERIFY(!contentHash(path.parent_path()).ok());
    }
};

QTEST_GUILESS_MAIN(TestSessionFile)
#include "tst_session_file.moc"
