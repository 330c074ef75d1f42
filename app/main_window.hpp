// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands.hpp"
#include "app/window_layout.hpp"
#include "app/workspace.hpp"
#include "widgets/style/style.hpp"

#include <QMainWindow>
#include <QTimer>

#include <vector>

class QActionGroup;
class QMenu;
class QStackedWidget;
class QTabWidget;
class QVBoxLayout;

namespace tidemark {

class CommandPalette;
class CallTreeView;
class CompareView;
class DetailsView;
class EmptyState;
class ErrorBanner;
class EventsView;
class FilterStrip;
class FindingsView;
class FlameView;
class GotoPopup;
class GrowingPage;
class GrowthView;
class HelpWindow;
class KeyOverlay;
class KeyPolicy;
class LabelRulesWindow;
class LiveTableView;
class LoadStrip;
class MainToolbar;
class NotesView;
class NoticeBar;
class OomTextDialog;
class OomView;
class PeakBarsWindow;
struct DiscoveredJob;
class JobLoader;
struct JobWish;
class PictureWindow;
class RanksView;
struct PictureSource;
struct SummarisedJob;
class PlaybookView;
class Reporter;
class ReportView;
class ResultsView;
class SandboxView;
class SegmentMapView;
class SegmentTableView;
class RangeDialog;
class SessionKeeper;
class SettingsWindow;
class StartPage;
class StatusLine;
class SummaryStrip;
class TimelineView;
class TreeSource;

/// The window: menus, toolbar, summary strip, the timeline in the middle, segment map, live allocations and
/// details in docks, status bar; the start page while no file is open. GUI thread.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Workspace& workspace, Style& style, Settings& settings);
    ~MainWindow() override;

    /// Files and folders of the command line.
    void open(const QStringList& paths, const ReadOptions& options = {});

    /// A second run beside the open one.
    void compareWith(const QString& path, const ReadOptions& options = {});

    /// Asks which events of a file to open: of the one on screen without a path, else of one to choose.
    void openPart(QString path = {});
    RangeDialog* rangeDialog() const { return m_rangeDialog; }

    Commands& commands() { return *m_commands; }
    TimelineView* timeline() const { return m_timeline; }
    SegmentMapView* segmentMap() const { return m_map; }
    LiveTableView* liveTable() const { return m_live; }
    DetailsView* details() const { return m_details; }
    FindingsView* findings() const { return m_findings; }
    SandboxView* sandbox() const { return m_sandbox; }
    CallTreeView* callTree() const { return m_tree; }
    FlameView* flame() const { return m_flame; }
    EventsView* events() const { return m_events; }
    GrowthView* growth() const { return m_growth; }
    ResultsView* results() const { return m_results; }
    NotesView* notes() const { return m_notes; }
    RanksView* ranks() const { return m_ranks; }
    JobLoader* jobs() const { return m_jobs; }
    FilterStrip* filterStrip() const { return m_filterStrip; }
    LabelRulesWindow* labelRules() const { return m_labelRules; }
    OomView* oomView() const { return m_oom; }
    CompareView* compareView() const { return m_compare; }
    ReportView* reportView() const { return m_report; }
    Reporter* reporter() const { return m_reporter; }
    PeakBarsWindow* peakBars() const { return m_peakBars; }
    PictureWindow* picture() const { return m_picture; }
    PlaybookView* playbook() const { return m_playbook; }
    QTabWidget* tabs() const { return m_tabs; }
    SummaryStrip* strip() const { return m_strip; }
    LoadStrip* loadStrip() const { return m_loadStrip; }
    GrowingPage* growingPage() const { return m_growing; }
    ErrorBanner* banner() const { return m_banner; }
    StartPage* startPage() const { return m_start; }
    MainToolbar* toolbar() const { return m_toolbar; }
    StatusLine* statusLine() const { return m_status; }
    WindowLayout& windowLayout() { return *m_layout; }
    KeyOverlay* keyOverlay() const { return m_keys; }
    GotoPopup* gotoPopup() const { return m_goto; }
    HelpWindow* helpWindow() const { return m_help; }
    SessionKeeper& keeper() { return *m_keeper; }
    NoticeBar* notices() const { return m_notices; }
    bool showsStartPage() const;
    bool showsProgress() const;

    /// The progress of a load appears after this time.
    static constexpr int progressDelayMs = 150;

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    bool event(QEvent* event) override;

private:
    // main_window.cpp
    void createViews();
    void createBars();
    void connectLoader();
    void connectViews();
    void connectFindings();
    void connectFilter();
    void showTitle();
    void chooseColours();
    void updateCommands();
    void openEditor(const QString& recorded, int line);
    void focusPane(int direction);
    void applySettings();
    void restyle();

    // main_window_notes.cpp
    void createNoteCommands(QActionGroup& tools);
    void connectNotes();
    void goToNote(std::uint64_t id);
    void undoOrRedo(bool redo);

    // main_window_pictures.cpp
    std::vector<PictureSource> pictureSources() const;
    QString pictureInFront() const;
    void createPictures();
    void copyPicture();

    // main_window_ranks.cpp
    void connectRanks();
    JobWish jobWish(const QStringList& paths, const ReadOptions& options) const;
    void jobDiscovered(const std::shared_ptr<const DiscoveredJob>& job);
    void dropJob();
    void showRankless();
    void openRank(const QString& path);
    void openOutlier(const SummarisedJob& job);
    void showRanksTab(bool shown);
    /// What a session had in front; "ranks" once there are any.
    void showFront(const QString& view);
    void showTimelineTab();

    // main_window_tabs.cpp
    void showPages();
    void showProblem();
    void showOomOf();
    void followTab();
    void placeControls();
    void showOomTab();
    void showTab(QWidget* view);
    void connectFixes();
    void connectCompare();
    void followChoices();
    void chooseForSide(compare::Which side);
    void compareRange();
    void tryFix(std::size_t finding, std::size_t fix);
    void followSandbox();

    // main_window_session.cpp
    void createSessionCommands();
    void connectSession();

    // main_window_report.cpp
    void createReport();
    void connectReport();
    void exportReport();
    /// Where files are written first: the folder chosen last, else beside the snapshot.
    QString exportFolder() const;

    // main_window_commands.cpp
    void createCommands();
    void createFileCommands();
    void createEditCommands();
    void createViewCommands();
    void createLookCommands();
    void createGoCommands();
    void createToolCommands();
    void createAnalyzeCommands();
    void createHelpCommands();
    void createMenus();
    void fillRecentMenu();
    void showPartNote();
    void chooseFiles();
    void chooseFolder();
    void chooseRunSettings();
    QString settingsFolder() const;
    void saveFolded(const TreeSource& source);
    void copySelection();
    void cycleColour();
    void chooseTheme(ThemeChoice choice);
    void chooseTextSize(int percent);
    void escape();
    void showPane(QWidget* view);
    void showAbout();
    void showLicence();

    Workspace& m_work;
    Style& m_style;
    Settings& m_settings;
    Commands* m_commands = nullptr;
    WindowLayout* m_layout = nullptr;
    KeyPolicy* m_keyPolicy = nullptr;

    TimelineView* m_timeline = nullptr;
    SegmentMapView* m_map = nullptr;
    LiveTableView* m_live = nullptr;
    DetailsView* m_details = nullptr;
    FindingsView* m_findings = nullptr;
    SandboxView* m_sandbox = nullptr;
    CallTreeView* m_tree = nullptr;
    FlameView* m_flame = nullptr;
    EventsView* m_events = nullptr;
    GrowthView* m_growth = nullptr;
    ResultsView* m_results = nullptr;
    NotesView* m_notes = nullptr;
    RanksView* m_ranks = nullptr;
    JobLoader* m_jobs = nullptr;
    QStringList m_jobPaths; ///< of the job that is looked for
    bool m_jobKept = false; ///< what is being closed is not the job
    QString m_digestWanted; ///< whose full views were asked for
    EmptyState* m_rankless = nullptr; ///< in place of the timeline
    bool m_outlierWanted = false; ///< the rank that failed may still be opened by itself
    bool m_ranksFirst = false; ///< the overview is to be in front when the first file is open
    QString m_front; ///< what the session being opened had in front
    FilterStrip* m_filterStrip = nullptr;
    QToolBar* m_filterBar = nullptr;
    LabelRulesWindow* m_labelRules = nullptr;
    SegmentTableView* m_segmentTable = nullptr;
    OomView* m_oom = nullptr;
    CompareView* m_compare = nullptr;
    ReportView* m_report = nullptr;
    Reporter* m_reporter = nullptr;
    PeakBarsWindow* m_peakBars = nullptr;
    PictureWindow* m_picture = nullptr;
    PlaybookView* m_playbook = nullptr;
    OomTextDialog* m_oomText = nullptr;
    MainToolbar* m_toolbar = nullptr;
    QToolBar* m_stripBar = nullptr;
    QStackedWidget* m_stripStack = nullptr;
    SummaryStrip* m_strip = nullptr;
    LoadStrip* m_loadStrip = nullptr;
    GrowingPage* m_growing = nullptr;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    QTabWidget* m_tabs = nullptr;
    QVBoxLayout* m_startColumn = nullptr;
    QVBoxLayout* m_tabColumn = nullptr;
    QWidget* m_corner = nullptr; ///< beside the tabs: the timeline's controls, where there is room
    RangeDialog* m_rangeDialog = nullptr;
    ErrorBanner* m_banner = nullptr;
    NoticeBar* m_notices = nullptr;
    StatusLine* m_status = nullptr;
    KeyOverlay* m_keys = nullptr;
    GotoPopup* m_goto = nullptr;
    HelpWindow* m_help = nullptr;
    SettingsWindow* m_settingsWindow = nullptr;
    CommandPalette* m_palette = nullptr;
    QMenu* m_recentMenu = nullptr;
    QTimer m_progressDelay;
    bool m_colourChosenForFile = false;
    bool m_compareFirst = false; ///< the comparison is what the next file is opened for
    bool m_fitted = false; ///< to the screen, with the frame the desktop gives
    enum class LastChange { Filter, Note } m_lastChange = LastChange::Filter;
    bool m_undoing = false;
    bool m_tellsReport = false; ///< the report's choices are on their way into the session
    bool m_oomBrought = false; ///< the out-of-memory tab came to the front for the open file
    std::unique_ptr<SessionKeeper> m_keeper; // last: goes before the views
};

} // namespace tidemark
