// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_palette.hpp"
#include "app/goto_popup.hpp"
#include "app/help_window.hpp"
#include "app/key_overlay.hpp"
#include "app/label_rules_window.hpp"
#include "app/main_toolbar.hpp"
#include "app/main_window.hpp"
#include "app/peak_bars_window.hpp"
#include "app/picture_window.hpp"
#include "app/session_keeper.hpp"
#include "app/settings_window.hpp"
#include "app/status_line.hpp"
#include "app/summary_strip.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/events/events_view.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/growth/growth_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/oom/oom_text_dialog.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/playbook/playbook_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/report/report_view.hpp"
#include "widgets/results/results_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/segments/segment_table_view.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int textStep = 10;

bool hasEvents(const Session& session)
{
    const auto replay = session.replay();
    return replay && replay->device().events.count() > 0;
}

bool hasTimeline(const Session& session)
{
    return hasEvents(session) || (session.rank() && session.rank()->snapshot->categories);
}

} // namespace

void MainWindow::createCommands()
{
    createFileCommands();
    createSessionCommands();
    createEditCommands();
    createViewCommands();
    createLookCommands();
    createGoCommands();
    createToolCommands();
    createAnalyzeCommands();
    createHelpCommands();
}

void MainWindow::createFileCommands()
{
    Commands& c = *m_commands;
    c.add("file.open", tr("&Open…"), "open", {"Ctrl+O"}, [this] { chooseFiles(); });
    c.add("file.openFolder", tr("Open &folder…"), "open", {"Ctrl+Shift+O"}, [this] { chooseFolder(); });
    c.add("file.openPart", tr("Open a &part…"), "open", {"Ctrl+Alt+P"}, [this] { openPart(); });
    c.add("file.sample", tr("Open the &sample"), "", {}, [this] {
         m_keeper->openSample();
     })->setVisible(Files::hasSample());
    c.add("file.reload", tr("&Reload"), "reload", {"F5"}, [this] { m_work.files.reload(); });
    c.add("file.cardSize", tr("&Card size…"), "gpu", {}, [this] { m_strip->editCardSize(); });
    c.add("compare.open", tr("&Compare with…"), "compare", {"Ctrl+Alt+O"}, [this] {
        showTab(m_compare);
        chooseForSide(compare::Which::B);
    });
    c.add("compare.swap", tr("S&wap the sides"), "compare", {}, [this] { m_work.comparer.swap(); });
    c.add("compare.range", tr("Compare both ends of the &range"), "compare", {}, [this] { compareRange(); });
    c.add("compare.several", tr("Peaks of &several runs…"), "compare", {}, [this] {
        QStringList paths;
        for (const Files::Entry& entry : m_work.files.entries())
            paths << entry.path;
        m_peakBars->show();
        m_peakBars->raise();
        m_peakBars->add(paths);
    });
    c.add("window.compare", tr("Com&pare"), "compare", {"8"}, [this] { showTab(m_compare); });
    c.add("file.labelRules", tr("&Label rules…"), "layers", {}, [this] { m_labelRules->open(); });
    c.add("file.runSettings", tr("R&un settings…"), "settings", {}, [this] { chooseRunSettings(); });
    c.add("file.report", tr("&Export report…"), "export", {"Ctrl+E"}, [this] { exportReport(); });
    c.add("window.report", tr("Rep&ort"), "report", {"9"}, [this] { showTab(m_report); });
    c.add("file.picture", tr("&Picture of a view…"), "export", {"Ctrl+Shift+E"},
        [this] { m_picture->open(pictureInFront()); });
    c.add("file.close", tr("&Close file"), "", {"Ctrl+W"}, [this] { m_keeper->close(); });
    c.add("file.quit", tr("&Quit"), "", {"Ctrl+Q"}, [this] { close(); });
}

void MainWindow::createEditCommands()
{
    Commands& c = *m_commands;
    c.add("edit.copy", tr("&Copy selection"), "copy", {"Ctrl+C"}, [this] { copySelection(); });
    c.add("edit.copyPicture", tr("Copy the view as a &picture"), "copy", {"Ctrl+Shift+C"},
        [this] { copyPicture(); });
    c.add("edit.filter", tr("&Filter…"), "filter", {"Ctrl+F", "/"}, [this] {
        m_toolbar->filterField()->setFocus(Qt::ShortcutFocusReason);
        m_toolbar->filterField()->selectAll();
    });
    c.add("edit.undoFilter", tr("&Undo filter or note"), "undo", {"Ctrl+Z"}, [this] { undoOrRedo(false); });
    c.add("edit.redoFilter", tr("&Redo filter or note"), "redo", {"Ctrl+Shift+Z", "Ctrl+Y"},
        [this] { undoOrRedo(true); });
    c.add("edit.nextMatch", tr("&Next match"), "", {"F3"}, [this] { m_work.navigator.goToMatch(1); });
    c.add("edit.previousMatch", tr("&Previous match"), "", {"Shift+F3"},
        [this] { m_work.navigator.goToMatch(-1); });
    c.add(
        "edit.clearFilter", tr("C&lear filter"), "clear", {}, [this] { m_toolbar->filterField()->clear(); });
    c.add("edit.deselect", tr("Take &back: load, tool, range, filter, selection"), "", {"Esc"},
        [this] { escape(); });
    c.add("edit.palette", tr("Co&mmands…"), "search", {"Ctrl+Shift+P"}, [this] { m_palette->popup(); });
    c.add("edit.settings", tr("&Settings…"), "settings", {"Ctrl+,"}, [this] { m_settingsWindow->open(); });
}

void MainWindow::createViewCommands()
{
    Commands& c = *m_commands;
    c.add("view.zoomIn", tr("Zoom &in"), "zoom-in", {"W"}, [this] { m_timeline->zoomIn(); });
    c.add("view.zoomOut", tr("Zoom &out"), "zoom-out", {"S"}, [this] { m_timeline->zoomOut(); });
    c.add("view.panLeft", tr("Pan left"), "", {"A"}, [this] { m_timeline->panLeft(); });
    c.add("view.panRight", tr("Pan right"), "", {"D"}, [this] { m_timeline->panRight(); });
    c.add("view.pageLeft", tr("Screenful left"), "", {"PgUp"}, [this] { m_timeline->screenful(-1); });
    c.add("view.pageRight", tr("Screenful right"), "", {"PgDown"}, [this] { m_timeline->screenful(1); });
    c.add("view.fit", tr("&Whole trace"), "zoom-fit", {"Home"}, [this] { m_timeline->zoomFit(); });
    c.add("view.zoomSelection", tr("Zoom to &selection or range, and back"), "zoom-selection", {"F"},
        [this] { m_timeline->zoomToSelection(); });
    c.add("view.zoomRange", tr("Zoom to &range"), "range", {}, [this] { m_timeline->zoomToRange(); });
    c.add("view.fitY", tr("Fit &y to what is visible"), "", {"Y"}, [this] { m_timeline->fitY(); });
    c.addToggle("view.lanes", tr("&Lanes"), "layers", {"L"}, [this](bool on) {
        m_timeline->setLanesVisible(on);
        m_settings.set(setting::lanes, on);
    });
    c.add("view.cycleColour", tr("&Next colouring"), "colour", {"C"}, [this] { cycleColour(); });
    auto* colours = new QActionGroup(this);
    for (const ColourBy by : {ColourBy::Site, ColourBy::Size, ColourBy::Age, ColourBy::Stream, ColourBy::Pool,
             ColourBy::SegmentKind, ColourBy::Category, ColourBy::Label, ColourBy::Role}) {
        const QByteArray id = QByteArrayLiteral("view.colour.") + QByteArray::number(static_cast<int>(by));
        colours->addAction(c.addToggle(id.constData(),
            tr("Colour by %1").arg(MainToolbar::colourName(by).toLower()), "", {}, [this, by](bool) {
                m_work.session.prepare(*this, {{}, {by}}, [this, by] { m_work.state.setColourBy(by); });
            }));
    }
    c.addToggle("view.timeAxis", tr("&Time axis instead of events"), "", {"X"},
        [this](bool on) { m_work.state.setAxis(on ? XAxis::Time : XAxis::Events); });
    c.addToggle("view.stepsAxis", tr("S&teps axis instead of events"), "", {"Shift+X"},
        [this](bool on) { m_work.state.setAxis(on ? XAxis::Steps : XAxis::Events); });
    c.addToggle("view.stackByGroup", tr("Stack by colour &group instead of age"), "", {"G"},
        [this](bool on) { m_work.state.setStackOrder(on ? StackOrder::Group : StackOrder::Age); });
    c.addToggle("view.rawSites", tr("Call sites: innermost frame of &all"), "", {}, [this](bool on) {
        m_work.session.setSiteMode(on ? SiteMode::Raw : SiteMode::User);
        m_settings.set(setting::siteMode, on ? QStringLiteral("raw") : QStringLiteral("user"));
        updateCommands();
    });
    c.addToggle("view.hideFrames", tr("&Hide framework frames"), "eye-off", {"H"}, [this](bool on) {
        m_details->setFrameworkHidden(on);
        for (TreeSource* source : {&m_tree->source(), &m_flame->source()}) {
            CallTreeWish wish = source->options();
            wish.ownFramesOnly = on;
            source->setOptions(wish);
        }
    });
}

void MainWindow::createLookCommands()
{
    Commands& c = *m_commands;
    auto* themes = new QActionGroup(this);
    themes->addAction(c.addToggle("look.system", tr("Theme: as the &system"), "theme", {},
        [this](bool) { chooseTheme(ThemeChoice::System); }));
    themes->addAction(c.addToggle(
        "look.light", tr("Theme: &light"), "", {}, [this](bool) { chooseTheme(ThemeChoice::Light); }));
    themes->addAction(c.addToggle(
        "look.dark", tr("Theme: &dark"), "", {}, [this](bool) { chooseTheme(ThemeChoice::Dark); }));
    c.add("look.larger", tr("&Larger text"), "", {"Ctrl++", "Ctrl+="},
        [this] { chooseTextSize(m_style.textPercent() + textStep); });
    c.add("look.smaller", tr("&Smaller text"), "", {"Ctrl+-"},
        [this] { chooseTextSize(m_style.textPercent() - textStep); });
    c.add("look.normal", tr("&Normal text"), "", {"Ctrl+0"}, [this] { chooseTextSize(100); });
    c.addToggle("look.fullScreen", tr("&Full screen"), "", {"F11"},
        [this](bool on) { on ? showFullScreen() : showNormal(); });
    c.add("look.reset", tr("&Reset layout"), "", {}, [this] { m_layout->reset(); });
}

void MainWindow::createGoCommands()
{
    Commands& c = *m_commands;
    c.add("go.back", tr("&Back"), "back", {"Alt+Left"}, [this] { m_work.state.goBack(); });
    c.add("go.forward", tr("&Forward"), "forward", {"Alt+Right"}, [this] { m_work.state.goForward(); });
    c.add("go.peak", tr("&Peak"), "peak", {}, [this] { m_work.navigator.goToPeak(); });
    c.add("go.nextPeak", tr("&Next peak"), "peak-next", {"N"}, [this] { m_timeline->stepPeak(1); });
    c.add("go.previousPeak", tr("P&revious peak"), "peak-prev", {"P"}, [this] { m_timeline->stepPeak(-1); });
    c.add("go.oom", tr("&Out-of-memory event"), "oom", {}, [this] { m_work.navigator.goToOom(); });
    c.add("go.nextStep", tr("Next &step"), "step", {"]"}, [this] { m_timeline->stepStep(1); });
    c.add("go.previousStep", tr("Previous step"), "", {"["}, [this] { m_timeline->stepStep(-1); });
    c.add("go.nextEvent", tr("Next &event"), "", {"Right"}, [this] { m_timeline->stepCursor(1, false); });
    c.add("go.previousEvent", tr("Previous event"), "", {"Left"},
        [this] { m_timeline->stepCursor(-1, false); });
    c.add("go.extendRight", tr("Extend range to the right"), "", {"Shift+Right"},
        [this] { m_timeline->stepCursor(1, true); });
    c.add("go.extendLeft", tr("Extend range to the left"), "", {"Shift+Left"},
        [this] { m_timeline->stepCursor(-1, true); });
    c.add("go.nextOfSite", tr("Next of the same s&ite"), "", {"Ctrl+Right"},
        [this] { m_timeline->stepSameSite(1); });
    c.add("go.previousOfSite", tr("Previous of the same site"), "", {"Ctrl+Left"},
        [this] { m_timeline->stepSameSite(-1); });
    c.add("go.to", tr("&Go to event, time or address…"), "arrow", {"E"}, [this] { m_goto->popup(); });
}

void MainWindow::createToolCommands()
{
    Commands& c = *m_commands;
    auto* tools = new QActionGroup(this);
    tools->addAction(c.addToggle("tools.pointer", tr("&Pointer"), "pointer", {},
        [this](bool) { m_work.state.setTool(Tool::Pointer); }));
    createNoteCommands(*tools);
    c.add("window.ranks", tr("&Ranks"), "ranks", {"1"}, [this] { showTab(m_ranks); });
    c.add("window.timeline", tr("&Timeline"), "timeline", {"2"}, [this] { showPane(m_timeline); });
    c.add("window.segments", tr("&Segment map"), "segments", {"3"}, [this] { showPane(m_map); });
    c.add("window.live", tr("&Live allocations"), "table", {"4"}, [this] { showPane(m_live); });
    c.add("window.tree", tr("&Call tree"), "tree", {"5"}, [this] { showPane(m_tree); });
    c.add("window.flame", tr("Fl&ame"), "flame", {"6"}, [this] { showPane(m_flame); });
    c.add("window.events", tr("&Events"), "editor", {}, [this] { showPane(m_events); });
    c.add("window.segmentTable", tr("Seg&ments table"), "table", {}, [this] { showPane(m_segmentTable); });
    c.add("window.results", tr("&Results of the filter"), "filter", {}, [this] { showPane(m_results); });
    c.add("window.growth", tr("&Growth"), "compare", {}, [this] { showPane(m_growth); });
    c.add("window.details", tr("&Details"), "details", {}, [this] { showPane(m_details); });
    c.add("window.nextPane", tr("&Next pane"), "", {"F6"}, [this] { focusPane(1); });
    c.add("window.previousPane", tr("&Previous pane"), "", {"Shift+F6"}, [this] { focusPane(-1); });
}

void MainWindow::createAnalyzeCommands()
{
    Commands& c = *m_commands;
    c.add("findings.next", tr("&Next finding"), "", {"J"}, [this] { m_findings->step(1); });
    c.add("findings.previous", tr("&Previous finding"), "", {"K"}, [this] { m_findings->step(-1); });
    c.addToggle("findings.show", tr("&Show the finding in all views"), "eye", {"O"}, [this](bool) {
        m_findings->toggleShown();
        updateCommands(); // there may have been nothing to show
    });
    c.add("findings.go", tr("&Go to the finding"), "arrow", {}, [this] { m_findings->goThere(); });
    c.add("window.findings", tr("&Findings"), "findings", {"7"}, [this] { showPane(m_findings); });
    c.add("window.oom", tr("&Out of memory"), "oom", {"0"}, [this] { showTab(m_oom); });
    c.add("window.playbook", tr("Play&book"), "report", {}, [this] { showTab(m_playbook); });
    c.add("analyze.oomText", tr("Explain an &error text…"), "oom", {}, [this] {
        m_oomText->show();
        m_oomText->raise();
        m_oomText->activateWindow();
    });
    c.add("window.sandbox", tr("Fi&x sandbox"), "sandbox", {}, [this] { showPane(m_sandbox); });
}

void MainWindow::createHelpCommands()
{
    Commands& c = *m_commands;
    c.add("help.keys", tr("&Keys"), "", {"F1", "?"}, [this] { m_keys->toggle(); });
    c.add("help.contents", tr("&Help"), "help", {}, [this] { m_help->open(QStringLiteral("index")); });
    c.add("help.record", tr("How to &record"), "", {}, [this] { m_help->open(QStringLiteral("record")); });
    c.add("help.numbers", tr("What the &numbers mean"), "", {},
        [this] { m_help->open(QStringLiteral("numbers")); });
    c.add("help.about", tr("&About Tidemark"), "tidemark", {}, [this] { showAbout(); });
    c.add("help.licence", tr("&Licences"), "", {}, [this] { showLicence(); });
}

void MainWindow::updateCommands()
{
    Commands& c = *m_commands;
    const Session& session = m_work.session;
    const ViewState& state = m_work.state;
    const bool open = session.rank() != nullptr;
    const bool events = hasEvents(session);
    const bool timeline = hasTimeline(session);
    const auto replay = session.replay();

    c["file.reload"]->setEnabled(m_work.session.rank() != nullptr);
    c["file.close"]->setEnabled(open || m_work.loader.isLoading() || m_tabs->indexOf(m_ranks) >= 0);
    for (const char* id : {"file.cardSize", "session.save", "session.saveAs", "file.picture",
             "edit.copyPicture", "file.report", "window.report"})
        c[id]->setEnabled(open);
    c["edit.copy"]->setEnabled(state.selection().kind != Selection::Kind::None);
    for (const char* id : {"edit.filter", "view.hideFrames", "view.rawSites", "view.cycleColour", "go.to"})
        c[id]->setEnabled(replay != nullptr);
    m_toolbar ? m_toolbar->filterField()->setEnabled(replay != nullptr) : void();
    c["edit.undoFilter"]->setEnabled(m_work.search.canUndo() || m_work.notes.canUndo());
    c["edit.redoFilter"]->setEnabled(m_work.search.canRedo() || m_work.notes.canRedo());
    for (const char* id : {"edit.nextMatch", "edit.previousMatch", "edit.clearFilter"})
        c[id]->setEnabled(state.matches() != nullptr);
    for (const char* id : {"view.zoomIn", "view.zoomOut", "view.panLeft", "view.panRight", "view.pageLeft",
             "view.pageRight", "view.fit", "view.fitY", "tools.pointer", "tools.ruler", "tools.note",
             "tools.box", "tools.arrow"})
        c[id]->setEnabled(timeline);
    for (const char* id : {"go.peak", "go.nextPeak", "go.previousPeak", "go.nextEvent", "go.previousEvent",
             "go.extendRight", "go.extendLeft", "go.nextOfSite", "go.previousOfSite", "view.stackByGroup"})
        c[id]->setEnabled(events);
    const bool marks = !session.marks().empty();
    for (const char* id : {"go.nextStep", "go.previousStep"})
        c[id]->setEnabled(events && marks);
    c["view.lanes"]->setEnabled(timeline);
    c["go.oom"]->setEnabled(m_work.navigator.hasOom());
    c["go.oom"]->setToolTip(m_work.navigator.hasOom() ? Commands::toolTip(*c["go.oom"])
                                                      : tr("No out-of-memory event in this trace"));
    c["compare.range"]->setEnabled(state.range().has_value());
    c["compare.open"]->setEnabled(open);
    c["window.compare"]->setEnabled(open);
    c["window.ranks"]->setEnabled(m_tabs->indexOf(m_ranks) >= 0);
    c["compare.swap"]->setEnabled(m_work.comparer.state().comparison() != nullptr);
    c["view.zoomRange"]->setEnabled(state.range().has_value());
    const bool life = state.selection().kind == Selection::Kind::Allocation;
    c["view.zoomSelection"]->setEnabled(timeline && (state.range() || life));
    c["go.back"]->setEnabled(state.canGoBack());
    c["go.forward"]->setEnabled(state.canGoForward());

    const bool times = MainToolbar::hasTimes(replay.get()) || (open && !replay && timeline);
    c["view.timeAxis"]->setEnabled(times);
    c["view.timeAxis"]->setChecked(state.axis() == XAxis::Time);
    c["view.stepsAxis"]->setEnabled(session.stepsAxis() != nullptr);
    c["view.stepsAxis"]->setChecked(state.axis() == XAxis::Steps);
    c["view.stackByGroup"]->setChecked(state.stackOrder() == StackOrder::Group);
    c["view.lanes"]->setChecked(m_timeline->lanesVisible());
    c["view.rawSites"]->setChecked(session.siteMode() == SiteMode::Raw);
    c["view.hideFrames"]->setChecked(m_details->isFrameworkHidden());
    c["tools.pointer"]->setChecked(state.tool() == Tool::Pointer);
    c["tools.ruler"]->setChecked(state.tool() == Tool::Ruler);
    c["tools.note"]->setChecked(state.tool() == Tool::Note);
    c["tools.box"]->setChecked(state.tool() == Tool::Box);
    c["tools.arrow"]->setChecked(state.tool() == Tool::Arrow);
    c["notes.pin"]->setEnabled(events && state.selection().kind == Selection::Kind::Allocation);
    c["notes.delete"]->setEnabled(m_work.notes.chosen().has_value());
    const auto useful = MainToolbar::colourings(replay.get(), session.labels() != nullptr);
    for (int by = 0; by <= static_cast<int>(ColourBy::Role); ++by) {
        QAction* action = c[(QByteArrayLiteral("view.colour.") + QByteArray::number(by)).constData()];
        const auto kind = static_cast<ColourBy>(by);
        action->setEnabled(replay != nullptr);
        action->setVisible(std::find(useful.begin(), useful.end(), kind) != useful.end());
        action->setChecked(state.colourBy() == kind);
    }
    c["look.system"]->setChecked(m_style.choice() == ThemeChoice::System);
    c["look.light"]->setChecked(m_style.choice() == ThemeChoice::Light);
    c["look.dark"]->setChecked(m_style.choice() == ThemeChoice::Dark);
    c["look.fullScreen"]->setChecked(isFullScreen());
    c["look.larger"]->setEnabled(m_style.textPercent() < 200);
    c["look.smaller"]->setEnabled(m_style.textPercent() > 80);
    for (const char* id : {"look.reset", "window.timeline", "window.segments", "window.live", "window.tree",
             "window.flame", "window.events", "window.segmentTable", "window.growth", "window.results",
             "window.details", "window.findings", "window.sandbox", "window.playbook", "file.runSettings"})
        c[id]->setEnabled(open);
    c["window.oom"]->setEnabled(open && m_oom->hasContent());
    const bool found = m_findings->count() > 0;
    for (const char* id : {"findings.next", "findings.previous", "findings.show"})
        c[id]->setEnabled(found);
    c["findings.go"]->setEnabled(found && state.finding().has_value());
    c["findings.show"]->setChecked(m_findings->isShown());
}

void MainWindow::chooseFiles()
{
    const QStringList paths = QFileDialog::getOpenFileNames(
        this, tr("Open memory snapshots"), m_settings.get(setting::lastFolder), tr("All files (*)"));
    if (paths.isEmpty())
        return;
    m_settings.set(setting::lastFolder, QFileInfo(paths.front()).absolutePath());
    open(paths);
}

void MainWindow::chooseFolder()
{
    const QString path = QFileDialog::getExistingDirectory(
        this, tr("Open a folder of memory snapshots"), m_settings.get(setting::lastFolder));
    if (path.isEmpty())
        return;
    m_settings.set(setting::lastFolder, path);
    open({path});
}

QString MainWindow::settingsFolder() const
{
    // They mostly lie beside the snapshot.
    const auto rank = m_work.session.rank();
    return rank ? QFileInfo(QString::fromStdString(rank->snapshot->source.path)).absolutePath()
                : m_settings.get(setting::lastFolder);
}

void MainWindow::chooseRunSettings()
{
    const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Run settings"), settingsFolder(),
        tr("Settings (*.yaml *.yml *.json *.txt *.env *.log);;All files (*)"));
    if (!paths.isEmpty())
        m_work.diagnoser.setSettingsFiles(paths);
}

void MainWindow::cycleColour()
{
    const auto useful
        = MainToolbar::colourings(m_work.session.replay().get(), m_work.session.labels() != nullptr);
    const auto now = std::find(useful.begin(), useful.end(), m_work.state.colourBy());
    const bool last = now == useful.end() || now + 1 == useful.end();
    const ColourBy next = last ? useful.front() : *(now + 1);
    m_work.session.prepare(*this, {{}, {next}}, [this, next] {
        m_work.state.setColourBy(next);
        m_status->remark(tr("Colour by %1").arg(MainToolbar::colourName(next).toLower()));
    });
}

void MainWindow::chooseTheme(ThemeChoice choice)
{
    m_settings.set(setting::theme,
        choice == ThemeChoice::Dark        ? QStringLiteral("dark")
            : choice == ThemeChoice::Light ? QStringLiteral("light")
                                           : QStringLiteral("system"));
    m_style.setChoice(choice);
    updateCommands();
}

void MainWindow::chooseTextSize(int percent)
{
    m_style.setTextPercent(percent);
    m_settings.set(setting::textPercent, m_style.textPercent());
    m_status->remark(tr("Text size %1 %").arg(m_style.textPercent()));
}

void MainWindow::escape()
{
    ViewState& state = m_work.state;
    if (m_work.loader.isLoading())
        m_work.loader.cancel();
    else if (state.tool() != Tool::Pointer)
        state.setTool(Tool::Pointer);
    else if (state.range())
        state.setRange(std::nullopt);
    else if (!m_toolbar->filterField()->text().isEmpty())
        m_toolbar->filterField()->clear();
    else if (state.selection().kind != Selection::Kind::None)
        state.clearSelection();
    else if (isFullScreen())
        showNormal();
    updateCommands();
}

void MainWindow::showPane(QWidget* view)
{
    if (m_tabs->isAncestorOf(view))
        showTimelineTab();
    for (QWidget* up = view->parentWidget(); up; up = up->parentWidget())
        if (auto* dock = qobject_cast<QDockWidget*>(up)) {
            dock->show();
            dock->raise();
            break;
        }
    if (view->focusPolicy() != Qt::NoFocus || view->focusProxy()) {
        view->setFocus(Qt::ShortcutFocusReason);
        return;
    }
    for (QWidget* child : view->findChildren<QWidget*>())
        if ((child->focusPolicy() & Qt::TabFocus) && child->isVisible()) {
            child->setFocus(Qt::ShortcutFocusReason);
            return;
        }
}

} // namespace tidemark
