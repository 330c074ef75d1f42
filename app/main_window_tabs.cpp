// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs in the middle of the window, and the ways from one view to another.
#include "app/error_banner.hpp"
#include "app/filter_strip.hpp"
#include "app/growing_page.hpp"
#include "app/load_strip.hpp"
#include "app/main_window.hpp"
#include "app/peak_bars_window.hpp"
#include "app/session_keeper.hpp"
#include "app/short_names.hpp"
#include "app/summary_strip.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/report/report_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QApplication>
#include <QFileDialog>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QVBoxLayout>

#include <utility>

namespace tidemark {

namespace {

/// Width of the tabs with their whole names: the bar's own hint is for shortened ones.
int wholeWidth(const QTabBar& bar, const Metrics& metrics)
{
    constexpr double around = 36; // the style's space, icon gap and frame
    int width = 0;
    for (int i = 0; i < bar.count(); ++i)
        width += bar.fontMetrics().horizontalAdvance(bar.tabText(i)) + bar.iconSize().width()
            + metrics.px(around);
    return width;
}

} // namespace

void MainWindow::showPages()
{
    const bool rank = m_work.session.rank() != nullptr;
    const bool open = rank || m_tabs->indexOf(m_ranks) >= 0;
    const bool progress = m_work.loader.isLoading() && !m_progressDelay.isActive();
    m_stripStack->setCurrentWidget(progress ? static_cast<QWidget*>(m_loadStrip) : m_strip);
    m_stripBar->setVisible(rank || progress);
    m_filterBar->setVisible(rank && m_filterStrip->hasFilter());
    const bool was = m_pages->currentWidget() == m_tabs;
    if (open)
        m_pages->setCurrentWidget(m_tabs);
    else if (progress)
        m_pages->setCurrentWidget(m_growing);
    else
        m_pages->setCurrentIndex(0);
    m_layout->setDocksShown(rank);
    showRankless();
    followTab();
    if (open && !was) {
        if (std::exchange(m_compareFirst, false))
            m_tabs->setCurrentWidget(m_compare);
        else if (m_ranksFirst)
            m_tabs->setCurrentWidget(m_ranks);
        else
            showTimelineTab();
        m_timeline->setFocus();
    }
    showProblem();
}

void MainWindow::showProblem()
{
    QVBoxLayout* column = showsStartPage() ? m_startColumn : m_tabColumn;
    if (column->indexOf(m_banner) < 0)
        column->insertWidget(0, m_banner);
    m_banner->setProblem(m_work.files.problem());
}

void MainWindow::followTab()
{
    const bool timeline = m_tabs->currentWidget() && m_tabs->currentWidget()->isAncestorOf(m_timeline);
    m_corner->setVisible(timeline && m_corner->isAncestorOf(m_timeline->controls()));
    // A corner that comes or goes does not tell the tabs.
    QApplication::postEvent(m_tabs, new QEvent(QEvent::LayoutRequest));
    const QWidget* const page = m_tabs->currentWidget();
    const QList<const QWidget*> whole{m_compare, m_ranks, m_report};
    m_layout->setRoom(timeline     ? WindowLayout::Room::Docks
            : whole.contains(page) ? WindowLayout::Room::Nothing
                                   : WindowLayout::Room::Height);
    m_work.comparer.setActive(m_tabs->currentWidget() == m_compare && m_work.session.rank());
    // The comparison has figures of its own.
    const bool compares = m_tabs->currentWidget() == m_compare && m_work.comparer.state().comparison();
    if (m_stripBar && m_work.session.rank())
        m_stripBar->setVisible((!compares && m_tabs->currentWidget() != m_ranks)
            || m_stripStack->currentWidget() == m_loadStrip);
    placeControls();
}

// Beside the tabs where both have room, else on a line of their own above the timeline.
void MainWindow::placeControls()
{
    QWidget* const controls = m_timeline->controls();
    const int needed = wholeWidth(*m_tabs->tabBar(), m_style.metrics()) + controls->sizeHint().width();
    const bool beside = needed <= m_tabs->width();
    const bool is = m_corner->isAncestorOf(controls);
    if (beside == is)
        return;
    const bool hidden = controls->isHidden();
    // On its own line it is no reason for a wider window.
    controls->setSizePolicy(beside ? QSizePolicy::Preferred : QSizePolicy::Ignored, QSizePolicy::Preferred);
    if (beside)
        m_corner->layout()->addWidget(controls);
    else
        m_tabColumn->insertWidget(m_tabColumn->indexOf(m_timeline), controls);
    controls->setHidden(hidden);
    m_corner->setVisible(beside && m_tabs->currentWidget()->isAncestorOf(m_timeline));
    QApplication::postEvent(m_tabs, new QEvent(QEvent::LayoutRequest));
}

// The tab is there while there is an out-of-memory event, and comes to the front when a file brings one.
void MainWindow::showOomTab()
{
    const int tab = m_tabs->indexOf(m_oom);
    if (m_oom->hasContent() == (tab >= 0))
        return;
    if (tab >= 0) {
        m_tabs->removeTab(tab);
        m_oom->hide();
        placeControls();
        return;
    }
    m_tabs->insertTab(m_tabs->indexOf(m_ranks) + 2, m_oom, m_style.icon(QStringLiteral("oom"), Tone::Crit),
        tr("Out of memory"));
    placeControls();
    // Once a file: who has gone elsewhere since, or to another device, is not taken back.
    if (std::exchange(m_oomBrought, true) || m_tabs->currentWidget() == m_compare
        || m_tabs->currentWidget() == m_ranks || m_keeper->scene().hasPlace())
        return;
    showOomOf();
}

// The page of the failed request, at its moment.
void MainWindow::showOomOf()
{
    if (m_tabs->indexOf(m_oom) < 0)
        return;
    m_tabs->setCurrentWidget(m_oom);
    const auto diagnosis = m_work.session.diagnosis();
    const std::vector<OomAutopsy>& ooms = diagnosis->devices[m_work.session.deviceIndex()].ooms;
    m_work.state.pushHistory();
    m_work.state.setCursor(ooms.back().state);
}

void MainWindow::showTab(QWidget* view)
{
    if (m_tabs->indexOf(view) < 0)
        return;
    m_tabs->setCurrentWidget(view);
    view->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::connectFixes()
{
    connect(m_oom, &OomView::tryRequested, this, &MainWindow::tryFix);
    connect(m_oom, &OomView::findingRequested, this, [this](std::size_t finding) {
        m_work.state.setFinding(finding);
        showPane(m_findings);
    });
    // Not at once: a dock that changes its place goes and comes back.
    connect(m_layout->dockOf(m_sandbox), &QDockWidget::visibilityChanged, this, &MainWindow::followSandbox,
        Qt::QueuedConnection);
}

void MainWindow::tryFix(std::size_t finding, std::size_t fix)
{
    showPane(m_sandbox);
    for (const FixPlace& place : m_sandbox->ticked())
        m_sandbox->setTicked(place, false);
    m_sandbox->setTicked({finding, fix}, true);
}

// What the sandbox predicts is drawn while the sandbox is open, and no longer.
void MainWindow::followSandbox()
{
    const bool open = !m_layout->dockOf(m_sandbox)->isHidden();
    if (!open)
        m_work.session.setPrediction(nullptr);
    else if (!m_work.session.prediction())
        emit m_sandbox->settings().changed();
}

void MainWindow::connectCompare()
{
    Comparer& comparer = m_work.comparer;
    connect(m_compare, &CompareView::fileRequested, this,
        [this](compare::Which side, const QString& path) { m_work.comparer.open(side, path); });
    connect(m_compare, &CompareView::chooseRequested, this, &MainWindow::chooseForSide);
    connect(m_compare, &CompareView::swapRequested, &comparer, &Comparer::swap);
    connect(&m_work.diagnoser, &Diagnoser::rulesFileChanged, &comparer, &Comparer::setRulesFile);
    connect(&m_work.search, &Search::changed, &comparer,
        [this] { m_work.comparer.setFilter(m_work.search.text()); });
    connect(&comparer, &Comparer::loading, m_compare, &CompareView::setLoading);
    connect(&comparer, &Comparer::failed, m_compare, &CompareView::setProblem);
    connect(&comparer, &Comparer::opened, &m_work.recent, [this](const QString& path) {
        m_work.recent.add(path);
        m_compare->setProblem({});
    });
    connect(&comparer.state(), &CompareState::changed, this, &MainWindow::updateCommands);
    connect(&comparer.state(), &CompareState::changed, this, &MainWindow::followTab);
    m_peakBars = new PeakBarsWindow(m_style, comparer.opener(), this);
    connect(m_peakBars, &PeakBarsWindow::compareRequested, this, [this](const QString& a, const QString& b) {
        m_work.comparer.open(compare::Which::A, a);
        compareWith(b);
    });
    connect(&m_work.files, &Files::listChanged, this, &MainWindow::followChoices);
    connect(&m_work.recent, &RecentFiles::changed, this, &MainWindow::followChoices);
    connect(&m_work.session, &Session::opened, this, &MainWindow::followChoices);
    followChoices();
}

// The files that are open together, and in the empty state those opened last.
void MainWindow::followChoices()
{
    QList<CompareView::Choice> choices;
    QStringList paths;
    for (const Files::Entry& entry : m_work.files.entries())
        paths << entry.path;
    const QStringList names = shortNames(paths);
    for (qsizetype i = 0; i < paths.size(); ++i)
        choices << CompareView::Choice{names[i], paths[i]};
    m_compare->setChoices(choices);
    constexpr qsizetype mostRecent = 3;
    QStringList recent;
    for (const RecentFiles::Entry& entry : m_work.recent.entries())
        if (!paths.contains(entry.path) && !isSessionPath(entry.path) && recent.size() < mostRecent)
            recent << entry.path;
    m_compare->setRecent(recent);
}

void MainWindow::chooseForSide(compare::Which side)
{
    const QString path = QFileDialog::getOpenFileName(
        this, side == compare::Which::A ? tr("Run A") : tr("Run B"), m_settings.get(setting::lastFolder));
    if (!path.isEmpty())
        m_work.comparer.open(side, path);
}

void MainWindow::compareWith(const QString& path, const ReadOptions& options)
{
    m_compareFirst = showsStartPage();
    showTab(m_compare);
    m_work.comparer.open(compare::Which::B, path, options);
}

void MainWindow::compareRange()
{
    const auto range = m_work.state.range();
    if (!range)
        return;
    m_work.comparer.compareInstants(range->first, range->second);
    showTab(m_compare);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_tabs && event->type() == QEvent::Resize)
        placeControls();
    // One of them came or went: another width is needed.
    if (watched == m_timeline->controls() && event->type() == QEvent::LayoutRequest)
        QMetaObject::invokeMethod(this, &MainWindow::placeControls, Qt::QueuedConnection);
    return QMainWindow::eventFilter(watched, event);
}

} // namespace tidemark
