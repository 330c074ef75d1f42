// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/findings_fixture.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/playbook/playbook_view.hpp"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QUrl>

using namespace tidemark;

namespace {

PageRow row(const char* id, std::vector<std::string> rules, std::vector<std::string> checks = {})
{
    PageRow out;
    out.id = QLatin1String(id);
    out.title = QStringLiteral("entry %1").arg(out.id);
    out.rules = std::move(rules);
    out.checks = std::move(checks);
    return out;
}

Finding finding(const char* rule, const char* playbook, Severity severity, std::uint64_t bytes)
{
    Finding out;
    out.rule = rule;
    out.playbook = playbook;
    out.severity = severity;
    out.bytes = bytes;
    out.title = "Something keeps memory";
    return out;
}

PageRow entry(const char* id, const char* title, std::vector<std::string> rules, const char* keys)
{
    PageRow out;
    out.id = QLatin1String(id);
    out.title = QLatin1String(title);
    out.rules = std::move(rules);
    out.fields = {{QStringLiteral("do it when"), QStringLiteral("it says so"), false},
        {QStringLiteral("keys"), QLatin1String(keys), true}};
    return out;
}

/// A small book with something of every kind.
PlaybookPage somePage()
{
    PlaybookPage page;
    PageSection steps{
        QStringLiteral("steps"), QStringLiteral("Decision steps"), QStringLiteral("In this order."), {}, {}};
    steps.rows = {entry("S1", "Expandable segments", {"fragmentation"}, "env.PYTORCH_CUDA_ALLOC_CONF"),
        entry("S2", "Gather adapter inputs again", {"lora-gathered-input"}, "peft.regather"),
        entry("S6", "Recompute the MLP", {"recompute-candidate"}, "model.recompute_modules"),
        entry("S7", "Offload to the host", {}, "model.cpu_offloading")};
    PageSection diagnosis{QStringLiteral("diagnosis"), QStringLiteral("Diagnosis"), {}, {}, {}};
    diagnosis.rows = {entry("D1", "One rank fails, others have room", {"fragmentation"}, "env"),
        entry("D2", "Fails although segments expand", {"capacity"}, "env"),
        entry("D3", "The estimate is above the card", {"estimate-exceeds-device"}, "model"),
        entry("D4", "LoRA keeps gathered inputs", {"lora-gathered-input"}, "peft")};
    PageSection measured{QStringLiteral("measured"), QStringLiteral("Measured results"), {}, {}, {}};
    PageTable table;
    table.title = QStringLiteral("Adapter inputs gathered again");
    table.context = {{QStringLiteral("hardware"), QStringLiteral("H100"), false},
        {QStringLiteral("unit"), QStringLiteral("GB = 10\u2079 B"), false}};
    table.columns = {QStringLiteral("model"), QStringLiteral("before, GB"), QStringLiteral("after, GB")};
    table.figures = {false, true, true};
    table.rows = {{QStringLiteral("Qwen3-8B"), QStringLiteral("47.545"), QStringLiteral("42.814")},
        {QStringLiteral("GPT-OSS-120B"), QStringLiteral("52.185"), QStringLiteral("51.371")}};
    measured.tables = {table, table, table, table};
    PageSection limits{QStringLiteral("limits"), QStringLiteral("Limitations"), {}, {}, {}};
    for (int i = 0; i < 20; ++i) {
        PageRow limit;
        limit.title = QStringLiteral("Limitation number %1").arg(i);
        limit.fields = {{QStringLiteral("says"), QStringLiteral("Savings do not add up."), false}};
        limits.rows.push_back(limit);
    }
    PageSection verify{QStringLiteral("verify"), QStringLiteral("Verification"), {}, {}, {}};
    PageRow look;
    look.title = QStringLiteral("Who holds the card");
    look.command = QStringLiteral("nvidia-smi");
    verify.rows = {look};
    page.sections = {steps, diagnosis, measured, limits, verify};
    return page;
}

QString plain(QString text)
{
    return text.replace(QChar(0xa0), QLatin1Char(' '));
}

/// The real view over a made-up file.
struct Window : test::PanelFixture {
    explicit Window(ThemeChoice theme = ThemeChoice::Light)
        : PanelFixture(test::trainingStep())
        , book(session, view, style)
    {
        style.applyTo(*qApp);
        style.setChoice(theme);
        book.setPage(somePage());
        book.resize(980, 420);
        book.show();
        settle();
    }
    void settle() { QTest::qWait(10); }
    void diagnose(std::vector<Finding> findings, std::vector<Undecided> undecided = {},
        std::vector<std::string> clear = {}, std::vector<ConfigCheck> checks = {})
    {
        auto diagnosis = test::diagnosisOf(session, nullptr, std::move(findings));
        diagnosis->undecided = std::move(undecided);
        diagnosis->clear = std::move(clear);
        diagnosis->checks = std::move(checks);
        session.setDiagnosis(diagnosis);
        settle();
    }
    QTextBrowser* body() const { return book.findChild<QTextBrowser*>(); }
    QString text() const { return plain(book.text()); }
    /// The blocks of an entry, from its id to the next entry's.
    QString entryText(const QString& id) const
    {
        QString out;
        bool inside = false;
        const QStringList lines = text().split(QLatin1Char('\n'));
        static const QRegularExpression start(QStringLiteral("^(?:\\x{fffc})?([SDRC]-?\\d+)  "));
        for (const QString& line : lines) {
            const auto match = start.match(line);
            if (match.hasMatch())
                inside = match.captured(1) == id;
            if (inside)
                out += line + QLatin1Char('\n');
        }
        return out;
    }
    /// Follows the first link to `target`, as a click or Enter on it does.
    bool followLink(const QString& target)
    {
        for (QTextBlock block = body()->document()->begin(); block.isValid(); block = block.next())
            for (auto it = block.begin(); !it.atEnd(); ++it)
                if (it.fragment().charFormat().anchorHref() == target) {
                    emit body()->anchorClicked(QUrl(target));
                    return true;
                }
        return false;
    }

    PlaybookView book;
};

} // namespace

class TestPlaybookView : public QObject {
    Q_OBJECT
private slots:
    // ---- what the open run says about an entry

    void namesAreToldApart()
    {
        QVERIFY(namesEntry("D1", "D1"));
        QVERIFY(namesEntry("D1, S1/R7", "S1"));
        QVERIFY(!namesEntry("S10", "S1"));
        QVERIFY(!namesEntry("D1", ""));
        QVERIFY(namesEntry("C-06", "C-06"));
    }

    void nothingIsSaidWithoutADiagnosis()
    {
        QCOMPARE(rowStatus(row("D1", {"fragmentation"}), nullptr).kind, RowStatus::Kind::Unasked);
    }

    void anEntryIsFoundByNameOrByRule()
    {
        Diagnosis diagnosis;
        diagnosis.findings = {finding("fragmentation", "D1", Severity::Critical, 7)};
        for (const char* id : {"D1", "S1", "R7"}) {
            const RowStatus status = rowStatus(row(id, {"fragmentation"}), &diagnosis);
            QCOMPARE(status.kind, RowStatus::Kind::Found);
            QCOMPARE(status.severity, Severity::Critical);
            QCOMPARE(status.findings, std::vector<std::size_t>{0});
        }
        QCOMPARE(rowStatus(row("D2", {"capacity"}), &diagnosis).kind, RowStatus::Kind::Unasked);
    }

    void aRuleOfSeveralEntriesLightsTheOneItNames()
    {
        Diagnosis diagnosis;
        diagnosis.findings = {finding("recompute-candidate", "S6", Severity::Info, 7)};
        QCOMPARE(rowStatus(row("S6", {"recompute-candidate"}), &diagnosis).kind, RowStatus::Kind::Found);
        QCOMPARE(rowStatus(row("S3", {"recompute-candidate"}), &diagnosis).kind, RowStatus::Kind::Clear);
    }

    void aLabelIsFoundByItsEvidence()
    {
        PageRow mlp = row("", {"recompute-candidate"});
        mlp.label = "mlp";
        PageRow moe = mlp;
        moe.label = "moe";
        Diagnosis diagnosis;
        diagnosis.findings = {finding("recompute-candidate", "S6", Severity::Info, 7)};
        diagnosis.findings[0].evidence = {{"label", std::string("mlp")}};
        QCOMPARE(rowStatus(mlp, &diagnosis).kind, RowStatus::Kind::Found);
        QCOMPARE(rowStatus(moe, &diagnosis).kind, RowStatus::Kind::Clear);
    }

    void clearAndUndecidedAreNotTheSame()
    {
        Diagnosis diagnosis;
        diagnosis.clear = {"fragmentation"};
        diagnosis.undecided = {{"capacity", "the size of the card"}, {"capacity", "the size of the card"}};
        QCOMPARE(rowStatus(row("D1", {"fragmentation"}), &diagnosis).kind, RowStatus::Kind::Clear);
        const RowStatus open = rowStatus(row("D2", {"capacity"}), &diagnosis);
        QCOMPARE(open.kind, RowStatus::Kind::CannotDecide);
        QCOMPARE(open.needs, QStringList{QStringLiteral("the size of the card")});
        // One part of it undecided is not "not found".
        QCOMPARE(rowStatus(row("S1", {"fragmentation", "capacity"}), &diagnosis).kind,
            RowStatus::Kind::CannotDecide);
        QCOMPARE(rowStatus(row("R1", {}), &diagnosis).kind, RowStatus::Kind::Unasked);
    }

    void checksOfTheSettingsCount()
    {
        Diagnosis diagnosis;
        const PageRow offload = row("D5", {}, {"C-06"});
        // No settings at all: nothing was tried.
        QCOMPARE(rowStatus(offload, &diagnosis).kind, RowStatus::Kind::Unasked);
        diagnosis.config.set("model.cpu_offloading", false);
        QCOMPARE(rowStatus(offload, &diagnosis).kind, RowStatus::Kind::Clear);
        ConfigCheck check;
        check.id = "C-06";
        check.level = CheckLevel::Unknown;
        check.keys = {{"model.cpu_offloading", "true"}, {"model.pipeline_model_parallel_size", "unknown"}};
        diagnosis.checks = {check};
        const RowStatus open = rowStatus(offload, &diagnosis);
        QCOMPARE(open.kind, RowStatus::Kind::CannotDecide);
        QCOMPARE(open.needs, QStringList{QStringLiteral("model.pipeline_model_parallel_size")});
        diagnosis.checks[0].level = CheckLevel::Error;
        const RowStatus fired = rowStatus(offload, &diagnosis);
        QCOMPARE(fired.kind, RowStatus::Kind::Found);
        QCOMPARE(fired.severity, Severity::Critical);
        QCOMPARE(fired.checks, std::vector<std::size_t>{0});
    }

    // ---- the page

    void everythingIsThere()
    {
        Window w;
        const QString text = w.text();
        for (const char* id : {"S1", "S2", "S6", "S7", "D1", "D2", "D3", "D4"})
            QVERIFY2(!w.entryText(QLatin1String(id)).isEmpty(), qPrintable(text));
        QVERIFY(w.entryText(QStringLiteral("S2")).contains(QStringLiteral("peft.regather")));
        // Steps in the order in which they are to be tried.
        QVERIFY(text.indexOf(QStringLiteral("S1  ")) < text.indexOf(QStringLiteral("S2  ")));
        QVERIFY(text.indexOf(QStringLiteral("S6  ")) < text.indexOf(QStringLiteral("S7  ")));
        // Measured results with what makes them mean something.
        for (const char* words : {"Qwen3-8B", "47.545", "42.814", "H100", "before, GB", "Savings do not",
                 "nvidia-smi", "In this order."})
            QVERIFY2(text.contains(QLatin1String(words)), words);
        // Nothing is said about a run that was not looked at.
        QVERIFY(!text.contains(QStringLiteral("found here")));
        QVERIFY(!text.contains(QStringLiteral("not found")));
    }

    void findingsLightTheirEntries()
    {
        Window w;
        w.diagnose({finding("fragmentation", "D1", Severity::Critical, std::uint64_t{37044092928})},
            {{"capacity", "the size of the card"}}, {"lora-gathered-input"});
        const QString d1 = w.entryText(QStringLiteral("D1"));
        QVERIFY2(d1.contains(QStringLiteral("critical · found here: 34.50 GiB · Something keeps memory")),
            qPrintable(d1));
        QVERIFY(w.entryText(QStringLiteral("D2"))
                    .contains(QStringLiteral("cannot decide: needs the size of the card")));
        QVERIFY(w.entryText(QStringLiteral("D4")).contains(QStringLiteral("looked for, not found")));
        QVERIFY(!w.entryText(QStringLiteral("S7")).contains(QStringLiteral("found here")));
    }

    void theLinkSelectsTheFinding()
    {
        Window w;
        w.diagnose({finding("logits", "", Severity::Info, 1),
            finding("fragmentation", "D1", Severity::Critical, std::uint64_t{1} << 30)});
        QVERIFY(!w.view.finding());
        QVERIFY(w.followLink(QStringLiteral("finding:1")));
        QCOMPARE(w.view.finding(), std::optional<std::size_t>(1));
    }

    void severityIsAShapeAndAWord()
    {
        Window w;
        w.diagnose({finding("fragmentation", "D1", Severity::Warning, 1 << 30)});
        QVERIFY(w.body()->toHtml().contains(QStringLiteral("icon:sev-warning")));
        QVERIFY(w.entryText(QStringLiteral("D1")).contains(QStringLiteral("warning · found here")));
        const QImage icon
            = w.body()
                  ->document()
                  ->resource(QTextDocument::ImageResource, QUrl(QStringLiteral("icon:sev-warning")))
                  .value<QImage>();
        QVERIFY(!icon.isNull());
    }

    void hostileTextStaysText()
    {
        Window w;
        Finding evil = finding("fragmentation", "D1", Severity::Warning, 1 << 30);
        evil.title = "<b>bold</b><a href='copy:0'>x</a>";
        w.diagnose({evil});
        QVERIFY(
            w.entryText(QStringLiteral("D1")).contains(QStringLiteral("<b>bold</b><a href='copy:0'>x</a>")));
    }

    // ---- search

    void searchKeepsEntriesWithAllWords()
    {
        Window w;
        auto* field = w.book.findChild<QLineEdit*>();
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("gathered LORA"));
        w.settle();
        QVERIFY(!w.entryText(QStringLiteral("D4")).isEmpty());
        QVERIFY(w.entryText(QStringLiteral("D2")).isEmpty());
        QTest::keyClick(field, Qt::Key_Escape);
        w.settle();
        QVERIFY(!w.entryText(QStringLiteral("D2")).isEmpty());
        w.book.setSearch(QStringLiteral("xyzzy"));
        w.settle();
        QVERIFY(w.text().contains(QStringLiteral("Nothing in the playbook has all of: xyzzy")));
        QVERIFY(w.followLink(QStringLiteral("clear:")));
        QVERIFY(!w.entryText(QStringLiteral("D2")).isEmpty());
        QVERIFY(field->text().isEmpty());
    }

    void onlyWhatWasFoundOnRequest()
    {
        Window w;
        w.diagnose({finding("fragmentation", "D1", Severity::Critical, 1 << 30)});
        for (auto* button : w.book.findChildren<QAbstractButton*>())
            if (button->text() == QStringLiteral("Found here"))
                button->click();
        w.settle();
        QVERIFY(!w.entryText(QStringLiteral("D1")).isEmpty());
        QVERIFY(w.entryText(QStringLiteral("D3")).isEmpty());
        // A new file that was not looked at shows everything again.
        w.open(test::trainingStep());
        w.settle();
        QVERIFY(!w.entryText(QStringLiteral("D3")).isEmpty());
    }

    void sectionsAndEntriesCanBeReached()
    {
        Window w;
        auto* list = w.book.findChild<QListWidget*>();
        QVERIFY(list->isVisible());
        QCOMPARE(list->count(), 5);
        auto* bar = w.body()->verticalScrollBar();
        QCOMPARE(bar->value(), 0);
        list->setCurrentRow(list->count() - 1);
        const int last = bar->value();
        QVERIFY(last > 300);
        w.book.showEntry(QStringLiteral("D4"));
        QVERIFY(bar->value() > 0 && bar->value() < last);
        w.book.setSearch(QStringLiteral("nvidia"));
        w.settle();
        w.book.showEntry(QStringLiteral("D4"));
        QVERIFY(!w.entryText(QStringLiteral("D4")).isEmpty());
    }

    void commandsAreCopied()
    {
        Window w;
        QGuiApplication::clipboard()->setText(QStringLiteral("before"));
        QVERIFY(w.followLink(QStringLiteral("copy:0")));
        const QString copied = QGuiApplication::clipboard()->text();
        QCOMPARE(copied, QStringLiteral("nvidia-smi"));
    }

    void narrowAndLargeTextStayReadable()
    {
        Window w;
        w.book.resize(420, 500);
        w.settle();
        QVERIFY(!w.book.findChild<QListWidget*>()->isVisible());
        w.style.setTextPercent(200);
        w.settle();
        QVERIFY(!w.entryText(QStringLiteral("D4")).isEmpty());
        w.style.setTextPercent(100);
    }

    void savesPicturesOnRequest()
    {
        const QString folder = qEnvironmentVariable("TIDEMARK_SAVE_PICTURES");
        if (folder.isEmpty())
            QSKIP("TIDEMARK_SAVE_PICTURES is not set");
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Window w(choice);
            w.book.resize(980, 1400);
            w.diagnose({finding("fragmentation", "D1", Severity::Critical, std::uint64_t{37044092928}),
                           finding("recompute-candidate", "S6", Severity::Info, std::uint64_t{5} << 30)},
                {{"capacity", "the size of the card"}}, {"lora-gathered-input"});
            const QString name
                = choice == ThemeChoice::Dark ? QStringLiteral("dark") : QStringLiteral("light");
            w.book.grab().save(folder + QStringLiteral("/playbook-%1.png").arg(name));
        }
    }
};

QTEST_MAIN(TestPlaybookView)
#include "tst_playbook_view.moc"
