// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.hpp"

#include "app/command_palette.hpp"
#include "app/error_banner.hpp"
#include "app/filter_strip.hpp"
#include "app/goto_popup.hpp"
#include "app/growing_page.hpp"
#include "app/help_window.hpp"
#include "app/key_overlay.hpp"
#include "app/key_policy.hpp"
#include "app/label_rules_window.hpp"
#include "app/load_strip.hpp"
#include "app/main_toolbar.hpp"
#include "app/notice_bar.hpp"
#include "app/session_keeper.hpp"
#include "app/settings_window.hpp"
#include "app/start_page.hpp"
#include "app/status_line.hpp"
#include "app/summary_strip.hpp"
#include "app/system_theme.hpp"
#include "model/core/quality.hpp"
#include "widgets/common/source_files.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/events/events_view.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/growth/growth_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/notes/notes_view.hpp"
#include "widgets/oom/oom_text_dialog.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/playbook/playbook_source.hpp"
#include "widgets/playbook/playbook_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/report/report_view.hpp"
#include "widgets/results/results_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/segments/segment_table_view.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QApplication>
#include <QCloseEvent>
#include <QDesktopServices>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QProcess>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

constexpr QSize smallest(960, 600);
constexpr QSize first(1600, 1000);
constexpr int frameDelayMs = 200;
constexpr const char* firstSize = "firstSize";

QStringList localFiles(const QMimeData& data)
{
    QStringList paths;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile())
            paths << url.toLocalFile();
    return paths;
}

} // namespace

MainWindow::MainWindow(Workspace& workspace, Style& style, Settings& settings)
    : m_work(workspace)
    , m_style(style)
    , m_settings(settings)
{
    setObjectName(QStringLiteral("main"));
    setWindowIcon(style.icon(QStringLiteral("tidemark"), Tone::Sel));
    setAcceptDrops(true);
    setMinimumSize(smallest);
    m_layout = new WindowLayout(*this, settings, style);
    m_keyPolicy = new KeyPolicy(*this);
    createViews();
    m_commands = new Commands(style, *this);
    createCommands();
    createBars();
    createMenus();
    m_keys = new KeyOverlay(*menuBar(), style, this);
    connectLoader();
    connectViews();
    connectFindings();
    connectFilter();
    connectCompare();
    connectNotes();
    connectRanks();
    connectSession();
    connectReport();
    applySettings();
    restyle();
    showPages();
    updateCommands();

    resize(first.boundedTo(screen() ? screen()->availableSize() : first));
    m_layout->restoreGeometry();
    m_layout->fitScreen();
    setProperty(firstSize, size());
}

MainWindow::~MainWindow() = default;

void MainWindow::createViews()
{
    Session& session = m_work.session;
    ViewState& state = m_work.state;
    m_timeline = new TimelineView(session, state, m_style, this);
    m_map = new SegmentMapView(session, state, m_style, this);
    m_live = new LiveTableView(session, state, m_style, this);
    m_details = new DetailsView(session, state, m_style, this);
    m_findings = new FindingsView(session, state, m_style, this);
    m_sandbox = new SandboxView(session, state, m_style, this);
    m_tree = new CallTreeView(session, state, m_style, this);
    m_flame = new FlameView(session, state, m_style, this);
    m_events = new EventsView(session, state, m_style, this);
    m_growth = new GrowthView(session, state, m_style, this);
    m_segmentTable = new SegmentTableView(session, state, m_style, this);
    m_results = new ResultsView(session, state, m_style, this);
    m_notes = new NotesView(m_work.notes, m_style, this);

    m_tabs = new QTabWidget(this);
    m_tabs->setDocumentMode(true);
    auto* page = new QWidget(m_tabs);
    m_tabColumn = new QVBoxLayout(page);
    m_tabColumn->setContentsMargins(0, 0, 0, 0);
    m_tabColumn->setSpacing(0);
    m_tabColumn->addWidget(m_timeline, 1);
    m_rankless = new EmptyState(m_style, page);
    m_rankless->hide();
    m_tabColumn->addWidget(m_rankless, 1);
    m_tabs->addTab(page, m_style.icon(QStringLiteral("timeline")), tr("Timeline"));
    m_oom = new OomView(session, state, m_style, this);
    m_oom->hide();
    m_ranks = new RanksView(m_style, this);
    m_ranks->hide();
    m_compare = new CompareView(m_work.comparer.state(), m_style, this);
    m_tabs->addTab(m_compare, m_style.icon(QStringLiteral("compare")), tr("Compare"));
    createReport();
    m_playbook = new PlaybookView(session, state, m_style, m_tabs);
    m_playbook->setPage(playbookPage(Playbook::standard()));
    m_tabs->addTab(m_playbook, m_style.icon(QStringLiteral("report")), tr("Playbook"));
    // The timeline shows and hides its controls by itself, so a holder goes with the tab.
    m_corner = new QWidget(m_tabs);
    auto* cornerRow = new QHBoxLayout(m_corner);
    cornerRow->setContentsMargins(0, 0, 0, 0);
    cornerRow->addWidget(m_timeline->controls());
    m_tabs->setCornerWidget(m_corner);
    m_tabs->setUsesScrollButtons(false);
    m_tabs->setElideMode(Qt::ElideRight);
    m_tabs->installEventFilter(this);
    m_timeline->controls()->installEventFilter(this);
    // Stacking and curves are the timeline's: no other tab shows their buttons.
    connect(m_tabs, &QTabWidget::currentChanged, this, &MainWindow::followTab);
    m_tabs->tabBar()->setExpanding(false);

    auto* startHolder = new QWidget(this);
    m_startColumn = new QVBoxLayout(startHolder);
    m_startColumn->setContentsMargins(0, 0, 0, 0);
    m_startColumn->setSpacing(0);
    m_start = new StartPage(m_work.recent, m_style, Files::hasSample(), startHolder);
    m_startColumn->addWidget(m_start, 1);
    m_banner = new ErrorBanner(m_style, startHolder);
    m_startColumn->insertWidget(0, m_banner);

    m_pages = new QStackedWidget(this);
    m_pages->addWidget(startHolder);
    m_pages->addWidget(m_tabs);
    m_growing = new GrowingPage(m_style, m_pages);
    m_pages->addWidget(m_growing);
    auto* middle = new QWidget(this);
    auto* middleColumn = new QVBoxLayout(middle);
    middleColumn->setContentsMargins(0, 0, 0, 0);
    middleColumn->setSpacing(0);
    m_notices = new NoticeBar(m_style, middle);
    middleColumn->addWidget(m_notices);
    middleColumn->addWidget(m_pages, 1);
    setCentralWidget(middle);

    auto* map = m_layout->addDock(m_map, QStringLiteral("segments"), tr("Segment map"),
        QStringLiteral("segments"), m_map->headerControls());
    auto* live = m_layout->addDock(m_live, QStringLiteral("live"), tr("Live allocations"),
        QStringLiteral("table"), m_live->headerControls());
    auto* details = m_layout->addDock(
        m_details, QStringLiteral("details"), tr("Details"), QStringLiteral("details"), nullptr);
    auto* findings = m_layout->addDock(
        m_findings, QStringLiteral("findings"), tr("Findings"), QStringLiteral("findings"), nullptr);
    auto* sandbox = m_layout->addDock(
        m_sandbox, QStringLiteral("sandbox"), tr("Fix sandbox"), QStringLiteral("sandbox"), nullptr);
    auto* tree = m_layout->addDock(
        m_tree, QStringLiteral("tree"), tr("Call tree"), QStringLiteral("tree"), m_tree->headerControls());
    auto* flame = m_layout->addDock(
        m_flame, QStringLiteral("flame"), tr("Flame"), QStringLiteral("flame"), m_flame->headerControls());
    auto* events = m_layout->addDock(
        m_events, QStringLiteral("events"), tr("Events"), QStringLiteral("editor"), nullptr);
    auto* segments = m_layout->addDock(
        m_segmentTable, QStringLiteral("segmentTable"), tr("Segments"), QStringLiteral("table"), nullptr);
    auto* growth = m_layout->addDock(
        m_growth, QStringLiteral("growth"), tr("Growth"), QStringLiteral("compare"), nullptr);
    auto* results = m_layout->addDock(
        m_results, QStringLiteral("results"), tr("Results"), QStringLiteral("filter"), nullptr);
    auto* notes
        = m_layout->addDock(m_notes, QStringLiteral("notes"), tr("Notes"), QStringLiteral("note"), nullptr);
    m_layout->setPlaces(
        {map, live}, {tree, flame, events, segments, growth, results}, {findings, details}, {sandbox, notes});

    m_keyPolicy->addArrowOwner(m_map);
    m_keyPolicy->addArrowOwner(m_live);
    m_keyPolicy->addArrowOwner(m_details);
    m_keyPolicy->addArrowOwner(m_findings);
    m_keyPolicy->addArrowOwner(m_sandbox);
    m_keyPolicy->addArrowOwner(m_tree);
    m_keyPolicy->addArrowOwner(m_flame);
    m_keyPolicy->addArrowOwner(m_events);
    m_keyPolicy->addArrowOwner(m_growth);
    m_keyPolicy->addArrowOwner(m_segmentTable);
    m_keyPolicy->addArrowOwner(m_results);
    m_keyPolicy->addArrowOwner(m_notes);
    m_keyPolicy->addArrowOwner(m_ranks);
    m_keyPolicy->addArrowOwner(m_compare);
    m_keyPolicy->addArrowOwner(m_report);
    m_keyPolicy->setEscapeOwner(m_timeline, [this] { return m_work.loader.isLoading(); });
}

void MainWindow::createBars()
{
    m_toolbar = new MainToolbar(
        m_work.session, m_work.state, m_work.files, m_work.search, *m_commands, m_style, this);
    addToolBar(Qt::TopToolBarArea, m_toolbar);
    addToolBarBreak(Qt::TopToolBarArea);

    m_strip = new SummaryStrip(m_work.session, m_work.state, m_work.navigator, m_style, this);
    m_loadStrip = new LoadStrip(m_style, this);
    m_stripStack = new QStackedWidget(this);
    m_stripStack->addWidget(m_strip);
    m_stripStack->addWidget(m_loadStrip);
    m_stripStack->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_stripBar = new QToolBar(tr("Summary"), this);
    m_stripBar->setObjectName(QStringLiteral("summary"));
    m_stripBar->setMovable(false);
    m_stripBar->setFloatable(false);
    m_stripBar->setContextMenuPolicy(Qt::PreventContextMenu);
    m_stripBar->setContentsMargins(0, 0, 0, 0);
    m_stripBar->layout()->setContentsMargins(0, 0, 0, 0);
    m_stripBar->addWidget(m_stripStack);
    addToolBar(Qt::TopToolBarArea, m_stripBar);
    addToolBarBreak(Qt::TopToolBarArea);

    m_filterStrip = new FilterStrip(m_work.search, m_work.state, m_style, this);
    m_filterBar = new QToolBar(tr("Filter"), this);
    m_filterBar->setObjectName(QStringLiteral("filter"));
    m_filterBar->setMovable(false);
    m_filterBar->setFloatable(false);
    m_filterBar->setContextMenuPolicy(Qt::PreventContextMenu);
    m_filterBar->setContentsMargins(0, 0, 0, 0);
    m_filterBar->layout()->setContentsMargins(0, 0, 0, 0);
    m_filterBar->addWidget(m_filterStrip);
    addToolBar(Qt::TopToolBarArea, m_filterBar);
    m_filterBar->hide();

    m_status = new StatusLine(m_work.session, m_work.state, m_work.search, m_style, this);
    setStatusBar(m_status);
    m_goto = new GotoPopup(m_work.navigator, m_style, this);
    m_labelRules = new LabelRulesWindow(m_work.session, m_work.diagnoser, m_settings, m_style, this);
    createPictures();
    m_palette = new CommandPalette(*m_commands, m_style, this);
    m_help = new HelpWindow(m_style, this);
    m_settingsWindow = new SettingsWindow(m_settings, m_work.recent, m_style, m_work.cache, this);
    connect(m_settingsWindow, &SettingsWindow::themeChosen, this, &MainWindow::chooseTheme);
    m_work.state.setPathRules(m_settings.get(setting::pathRules));
    connect(m_settingsWindow, &SettingsWindow::pathRulesChosen, this,
        [this](const QString& rules) { m_work.state.setPathRules(rules); });
    connect(m_settingsWindow, &SettingsWindow::textSizeChosen, this, &MainWindow::chooseTextSize);
    connect(m_settingsWindow, &SettingsWindow::singleLettersChosen, this, [this](bool on) {
        m_settings.set(setting::singleLetters, on);
        m_commands->setSingleLetters(on);
    });
}

void MainWindow::connectLoader()
{
    Loader& loader = m_work.loader;
    m_progressDelay.setSingleShot(true);
    m_progressDelay.setInterval(progressDelayMs);
    connect(&m_progressDelay, &QTimer::timeout, this, &MainWindow::showPages);
    connect(&loader, &Loader::started, this, [this](const LoadRequest& request) {
        m_loadStrip->begin(request);
        m_progressDelay.start();
        m_status->setActivity(
            tr("Opening %1").arg(shownText(QFileInfo(request.path).fileName().toStdString())));
        updateCommands();
    });
    connect(&loader, &Loader::progressed, m_loadStrip, [this](const LoadProgress& progress) {
        m_loadStrip->show(progress);
        const bool reading = progress.stage == Stage::Open || progress.stage == Stage::Read;
        const double total = static_cast<double>(std::max<std::uint64_t>(progress.total, progress.done));
        m_growing->setCurve(m_work.loader.curve(),
            !reading        ? 1
                : total > 0 ? static_cast<double>(progress.done) / total
                            : 0);
    });
    const auto over = [this](const QString& activity) {
        m_progressDelay.stop();
        if (m_work.diagnoser.isBusy())
            m_status->setActivity(tr("Looking for causes"));
        else
            m_status->remark(activity);
        showPages();
        updateCommands();
    };
    connect(&loader, &Loader::loaded, this, [over] { over(tr("Ready")); });
    connect(&loader, &Loader::failed, this, [over] { over(tr("Could not be opened")); });
    connect(&loader, &Loader::cancelled, this, [over] { over(tr("Stopped")); });
    connect(m_loadStrip, &LoadStrip::stopRequested, &loader, &Loader::cancel);
}

void MainWindow::connectViews()
{
    Files& files = m_work.files;
    Session& session = m_work.session;
    ViewState& state = m_work.state;
    connect(&files, &Files::problemChanged, this, &MainWindow::showProblem);
    connect(&files, &Files::listChanged, this, &MainWindow::updateCommands);
    connect(&session, &Session::opened, this, [this] {
        m_oomBrought = false;
        showPages();
        showTitle();
    });
    connect(&session, &Session::deviceChanged, this, [this] {
        chooseColours();
        updateCommands();
    });
    for (const auto signal : {&ViewState::historyChanged, &ViewState::rangeChanged,
             &ViewState::selectionChanged, &ViewState::matchesChanged, &ViewState::toolChanged,
             &ViewState::axisChanged, &ViewState::colourByChanged, &ViewState::stackOrderChanged})
        connect(&state, signal, this, &MainWindow::updateCommands);
    connect(&state, &ViewState::openFileRequested, this, &MainWindow::chooseFiles);
    connect(&state, &ViewState::helpRequested, m_help, &HelpWindow::open);
    connect(&state, &ViewState::editorRequested, this, &MainWindow::openEditor);
    connect(&state, &ViewState::searchRequested, this, [this](const QString& text) {
        m_toolbar->filterField()->setText(text);
        m_work.search.start();
    });

    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFiles);
    connect(m_start, &StartPage::sampleRequested, this, [this] { m_keeper->openSample(); });
    connect(m_start, &StartPage::pathRequested, this, [this](const QString& path) { open({path}); });
    connect(m_start, &StartPage::helpRequested, m_help, &HelpWindow::open);
    connect(m_banner, &ErrorBanner::partialRequested, this,
        [this](const QString& path) { m_keeper->openPartially(path); });
    connect(m_banner, &ErrorBanner::rangeRequested, this, &MainWindow::openPart);
    connect(&m_work.session, &Session::deviceChanged, this, &MainWindow::showPartNote);
    connect(&m_work.session, &Session::opened, this, &MainWindow::showPartNote);
    connect(m_banner, &ErrorBanner::dismissed, &files, &Files::dismissProblem);
    connect(m_strip, &SummaryStrip::stateRequested, this,
        [this](StateIndex target) { m_work.navigator.goTo(target); });
    connect(m_strip, &SummaryStrip::eventRequested, this,
        [this](std::uint32_t event) { m_work.navigator.goTo(stateOf(static_cast<Moment>(event))); });
    connect(m_strip, &SummaryStrip::helpRequested, m_help, &HelpWindow::open);
    connect(m_toolbar, &MainToolbar::axisChosen, &state, &ViewState::setAxis);
    connect(m_tree, &CallTreeView::foldedWanted, this, [this] { saveFolded(m_tree->source()); });
    connect(m_flame, &FlameView::foldedWanted, this, [this] { saveFolded(m_flame->source()); });
    m_toolbar->filterField()->completeFrom(m_work.session);
    connect(&m_work.search, &Search::wanted, m_toolbar->filterField(), &QLineEdit::setText);
    connect(&m_work.search, &Search::historyChanged, this, &MainWindow::updateCommands);
    connect(m_toolbar->filterField(), &SearchField::left, m_timeline, [this] { m_timeline->setFocus(); });
    connect(m_layout, &WindowLayout::narrowChanged, m_toolbar, &MainToolbar::setNarrow);
    connect(&m_style, &Style::changed, this, &MainWindow::restyle);
    connect(&m_work.recent, &RecentFiles::changed, this, &MainWindow::fillRecentMenu);
}

void MainWindow::connectFindings()
{
    connect(m_oom, &OomView::contentChanged, this, &MainWindow::showOomTab);
    m_oomText = new OomTextDialog(m_style, this);
    Diagnoser& diagnoser = m_work.diagnoser;
    connect(&diagnoser, &Diagnoser::started, this, [this] {
        m_findings->setBusy(true);
        m_status->setActivity(tr("Looking for causes"));
    });
    connect(&diagnoser, &Diagnoser::finished, this, [this] {
        m_findings->setBusy(false);
        m_status->remark(tr("Ready"));
        updateCommands();
    });
    connect(&diagnoser, &Diagnoser::settingsProblem, m_status, &StatusLine::remark);
    connect(m_findings, &FindingsView::sandboxRequested, this, [this](std::size_t finding) {
        showPane(m_sandbox);
        m_sandbox->tryFinding(finding);
    });
    connectFixes();
    connect(m_findings, &FindingsView::runSettingsRequested, this, &MainWindow::chooseRunSettings);
    connect(m_findings, &FindingsView::cardSizeRequested, m_strip, &SummaryStrip::editCardSize);
    for (const auto signal : {&ViewState::findingChanged, &ViewState::shownFindingChanged})
        connect(&m_work.state, signal, this, &MainWindow::updateCommands);
}

bool MainWindow::showsStartPage() const
{
    return m_pages->currentWidget() != m_tabs;
}

bool MainWindow::showsProgress() const
{
    return m_stripStack->currentWidget() == m_loadStrip && m_stripBar->isVisibleTo(this);
}

void MainWindow::showTitle()
{
    const auto rank = m_work.session.rank();
    setWindowTitle(rank ? tr("%1 – Tidemark").arg(m_keeper->titleOf(shownText(rank->snapshot->source.name)))
                        : QStringLiteral("Tidemark"));
    setWindowModified(rank && m_keeper->isModified());
    setWindowFilePath(rank ? QString::fromStdString(rank->snapshot->source.path) : QString());
}

void MainWindow::chooseColours()
{
    const auto rank = m_work.session.rank();
    const auto replay = m_work.session.replay();
    if (!rank || !replay)
        return;
    const auto notes = rank->quality(m_work.session.deviceIndex());
    const bool stackless = std::any_of(
        notes.begin(), notes.end(), [](const QualityNote& note) { return note.id == Quality::NoStacks; });
    // One colour for everything says nothing: sizes do. The choice is taken back with the next file.
    if (stackless && m_work.state.colourBy() == ColourBy::Site) {
        m_work.session.prepare(
            *this, {{}, {ColourBy::Size}}, [this] { m_work.state.setColourBy(ColourBy::Size); });
        m_colourChosenForFile = true;
    } else if (!stackless && m_colourChosenForFile) {
        m_work.state.setColourBy(ColourBy::Site);
        m_colourChosenForFile = false;
    }
    const auto useful = MainToolbar::colourings(replay.get(), m_work.session.labels() != nullptr);
    // Modules and roles come with the diagnosis, a moment later.
    const ColourBy by = m_work.state.colourBy();
    if (!m_work.session.diagnosis() && (by == ColourBy::Label || by == ColourBy::Role))
        return;
    if (std::find(useful.begin(), useful.end(), by) == useful.end())
        m_work.state.setColourBy(ColourBy::Site);
}

void MainWindow::openEditor(const QString& recorded, int line)
{
    const QString file = mappedPath(recorded, m_settings.get(setting::pathRules));
    QString command = m_settings.get(setting::editorCommand);
    if (command.isEmpty()) {
        if (!QFileInfo::exists(file))
            m_status->remark(tr("%1 is not on this computer").arg(shownText(file.toStdString())));
        else
            QDesktopServices::openUrl(QUrl::fromLocalFile(file));
        return;
    }
    // Split first: a path with spaces stays one argument.
    QStringList parts = QProcess::splitCommand(command);
    const QString program = parts.takeFirst();
    for (QString& part : parts)
        part.replace(QStringLiteral("{file}"), file)
            .replace(QStringLiteral("{line}"), QString::number(std::max(1, line)));
    if (!QProcess::startDetached(program, parts))
        m_status->remark(tr("“%1” cannot be started; see Edit › Settings").arg(program));
}

void MainWindow::focusPane(int direction)
{
    QList<QWidget*> panes{m_toolbar, m_strip, m_timeline, m_findings, m_details, m_sandbox, m_map, m_live,
        m_tree, m_flame, m_events, m_segmentTable, m_growth};
    const auto usable = [](QWidget* pane) { return pane->isVisible(); };
    panes.erase(std::remove_if(panes.begin(), panes.end(), std::not_fn(usable)), panes.end());
    if (panes.isEmpty())
        return;
    const QWidget* now = QApplication::focusWidget();
    qsizetype at = -1;
    for (qsizetype i = 0; i < panes.size(); ++i)
        if (now && (panes[i] == now || panes[i]->isAncestorOf(now)))
            at = i;
    for (qsizetype steps = 0; steps < panes.size(); ++steps) {
        at = (at + direction + panes.size()) % panes.size();
        QWidget* pane = panes[at];
        if (pane->focusPolicy() != Qt::NoFocus) {
            pane->setFocus(Qt::TabFocusReason);
            return;
        }
        for (QWidget* child : pane->findChildren<QWidget*>())
            if ((child->focusPolicy() & Qt::TabFocus) && child->isVisible() && child->isEnabled()) {
                child->setFocus(Qt::TabFocusReason);
                return;
            }
    }
}

void MainWindow::applySettings()
{
    const QString theme = m_settings.get(setting::theme);
    m_style.setChoice(theme == QStringLiteral("dark") ? ThemeChoice::Dark
            : theme == QStringLiteral("light")        ? ThemeChoice::Light
                                                      : ThemeChoice::System);
    m_style.setTextPercent(m_settings.get(setting::textPercent));
    m_commands->setSingleLetters(m_settings.get(setting::singleLetters));
    m_work.session.setSiteMode(
        m_settings.get(setting::siteMode) == QStringLiteral("raw") ? SiteMode::Raw : SiteMode::User);
    m_timeline->setLanesVisible(m_settings.get(setting::lanes));
    m_work.diagnoser.setRulesFile(m_settings.get(setting::labelRules));
    fillRecentMenu();
}

void MainWindow::restyle()
{
    const Metrics& m = m_style.metrics();
    m_stripBar->setFixedHeight(m.strip);
    m_stripStack->setFixedHeight(m.strip);
    m_tabs->setIconSize(QSize(m.smallIcon, m.smallIcon));
    placeControls();
    updateCommands();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!m_keeper->mayClose()) {
        event->ignore();
        return;
    }
    m_work.loader.cancel();
    m_layout->save();
    event->accept();
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_layout->follow(event->size());
    if (m_keys)
        m_keys->setGeometry(rect());
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    if (std::exchange(m_fitted, true))
        return;
    // The desktop draws its frame a moment later. A size that somebody has chosen since stays.
    QTimer::singleShot(frameDelayMs, this, [this] {
        if (size() == property(firstSize).toSize())
            m_layout->fitScreen();
    });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList paths = localFiles(*event->mimeData());
    if (paths.isEmpty())
        return;
    event->acceptProposedAction();
    if (event->modifiers() & Qt::ShiftModifier && m_work.session.rank())
        compareWith(paths.front());
    else
        open(paths);
    activateWindow();
}

bool MainWindow::event(QEvent* event)
{
    if (event->type() == QEvent::ThemeChange && m_style.choice() == ThemeChoice::System)
        m_style.setSystemDark(systemPrefersDark(*qApp));
    return QMainWindow::event(event);
}

} // namespace tidemark
