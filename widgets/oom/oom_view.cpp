// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_view.hpp"

#include "widgets/common/wrapped_label.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/oom/oom_banner.hpp"
#include "widgets/oom/oom_capacity_bar.hpp"
#include "widgets/oom/oom_curve.hpp"
#include "widgets/oom/oom_fixes.hpp"
#include "widgets/oom/oom_map.hpp"
#include "widgets/oom/oom_pins.hpp"
#include "widgets/oom/oom_texts.hpp"
#include "widgets/style/style.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QResizeEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr double leastColumn = 56; ///< room for the headings
constexpr double curveFrom = 470; ///< height the map and the tables keep before the curve gets any
constexpr int shareWidth = 104;
constexpr int rightWidth = 240; ///< at least
constexpr double besideFrom = 760; ///< width from which the tables stand beside the map
constexpr double bodyLeast = 210; ///< height below which the whole view scrolls

} // namespace

OomView::OomView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_scroll(new QScrollArea(this))
    , m_banner(new OomBanner(style, this))
    , m_fixes(new OomFixes(style, this))
    , m_barBox(new QWidget(this))
    , m_bar(new OomCapacityBar(view, style, m_barBox))
    , m_body(new QSplitter(this))
    , m_curve(new OomCurve(view, style, this))
    , m_left(new QWidget(m_body))
    , m_leftColumn(new QVBoxLayout(m_left))
    , m_rightScroll(new QScrollArea(m_body))
    , m_rightColumn(nullptr)
    , m_map(new OomMap(session, view, style, m_left))
    , m_refresher(*this, [this] { refresh(false); })
    , m_task([this](std::shared_ptr<const OomScene>&& scene) { take(std::move(scene)); })
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_bar->setBackgroundRole(QPalette::Base);
    auto* const barColumn = new QVBoxLayout(m_barBox);
    barColumn->addWidget(m_bar);
    makePinSection();
    makeLiveSection();
    m_checkSection = new QWidget(this);
    auto* const checkColumn = new QVBoxLayout(m_checkSection);
    checkColumn->setContentsMargins(0, 0, 0, 0);
    checkColumn->setSpacing(0);
    auto* const checkHeading = new QLabel(tr("Checks behind the verdict"), m_checkSection);
    m_headings.push_back(checkHeading);
    m_checks = new OomChecks(style, m_checkSection);
    checkColumn->addWidget(checkHeading);
    checkColumn->addWidget(m_checks);

    for (QWidget* section : {m_pinSection, m_checkSection}) {
        QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Maximum);
        policy.setHeightForWidth(true);
        section->setSizePolicy(policy);
    }

    auto* const right = new QWidget;
    right->setAutoFillBackground(true);
    right->setBackgroundRole(QPalette::Base);
    m_rightColumn = new QVBoxLayout(right);
    m_rightColumn->setContentsMargins(0, 0, 0, 0);
    m_rightColumn->setSpacing(0);
    m_rightScroll->setWidget(right);
    m_rightScroll->setWidgetResizable(true);
    m_rightScroll->setFrameShape(QFrame::NoFrame);
    m_rightScroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_leftColumn->setContentsMargins(0, 0, 0, 0);
    m_leftColumn->setSpacing(0);
    m_leftColumn->addWidget(m_map, 1);
    m_body->addWidget(m_left);
    m_body->addWidget(m_rightScroll);
    m_body->setChildrenCollapsible(false);
    m_body->setStretchFactor(0, 58);
    m_body->setStretchFactor(1, 42);
    m_body->setSizes({5800, 4200});
    auto* const page = new QWidget;
    page->setAutoFillBackground(true);
    page->setBackgroundRole(QPalette::Base);
    auto* const column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_fixes);
    column->addWidget(m_barBox);
    column->addWidget(m_body, 1);
    column->addWidget(m_curve);
    m_scroll->setWidget(page);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->viewport()->installEventFilter(this);
    auto* const whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(m_scroll);
    connectAll();
    restyle();
    collect();
}

OomView::~OomView()
{
    // Answers to the tables' selection would reach half-destroyed members.
    m_pinTable->selectionModel()->disconnect(this);
    m_liveTable->selectionModel()->disconnect(this);
}

void OomView::connectAll()
{
    connect(&m_session, &Session::opened, this, &OomView::collect);
    connect(&m_session, &Session::deviceChanged, this, &OomView::collect);
    connect(&m_session, &Session::diagnosisChanged, this, &OomView::collect);
    connect(&m_session, &Session::cardSizeChanged, this, [this] {
        m_data.deviceTotal = m_session.cardSize() ? m_session.cardSize() : m_session.statedCardSize();
        schedule();
    });
    connect(&m_session, &Session::siteModeChanged, this, &OomView::schedule);
    connect(&m_view, &ViewState::colourByChanged, this, &OomView::schedule);
    connect(&m_view, &ViewState::selectionChanged, this, &OomView::followSelection);
    connect(&m_style, &Style::changed, this, &OomView::restyle);
    connect(m_banner, &OomBanner::goToRequested, this, &OomView::goToEvent);
    connect(m_banner, &OomBanner::eventChosen, this, &OomView::setEvent);
    connect(m_banner, &OomBanner::copyRequested, this,
        [this] { QGuiApplication::clipboard()->setText(copyText()); });
    connect(m_fixes, &OomFixes::tryRequested, this, &OomView::tryRequested);
    connect(m_fixes, &OomFixes::findingRequested, this, &OomView::findingRequested);
    connect(m_bar, &OomCapacityBar::picking, this, &OomView::toEvent);
    connect(m_map, &OomMap::picking, this, &OomView::toEvent);
    const auto pick = [this](const QModelIndex& index, bool pins) {
        if (m_following || !m_scene || !index.isValid())
            return;
        if (pins) {
            pinSentenceOf(index.row());
            selectGroup(m_pinModel->pins(index.row()).group);
        } else if (const auto figures = m_liveModel->figures(index.row())) {
            selectGroup(figures->group);
        }
    };
    for (const bool pins : {true, false}) {
        QTableView* const table = pins ? m_pinTable : m_liveTable;
        connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [pick, pins](const QModelIndex& current) { pick(current, pins); });
        connect(
            table, &QTableView::clicked, this, [pick, pins](const QModelIndex& index) { pick(index, pins); });
    }
    const auto expand = [this](const QModelIndex& index) {
        if (!m_liveModel->isFold(index.row()))
            return;
        m_expanded = true;
        updateLimit();
    };
    connect(m_liveTable, &QTableView::doubleClicked, this, expand);
}

bool OomView::eventFilter(QObject* watched, QEvent* event)
{
    // What is too wide wraps; nothing scrolls sideways.
    if (watched == m_scroll->viewport() && event->type() == QEvent::Resize)
        m_scroll->widget()->setMaximumWidth(static_cast<QResizeEvent*>(event)->size().width());
    // Not from inside the resize: the view is still working on its own geometry.
    if (watched == m_liveTable->viewport() && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &OomView::updateLimit, Qt::QueuedConnection);
    if (watched == m_pinTable && event->type() == QEvent::Resize)
        QMetaObject::invokeMethod(this, &OomView::fitPinColumns, Qt::QueuedConnection);
    // A table that gets the focus makes its first row the current one: nobody has chosen it.
    if ((watched == m_liveTable || watched == m_pinTable) && event->type() == QEvent::FocusIn) {
        auto& table = static_cast<QTableView&>(*watched);
        const QSignalBlocker quiet(table.selectionModel());
        if (!table.currentIndex().isValid() && table.model()->rowCount() > 0)
            table.selectionModel()->setCurrentIndex(
                table.model()->index(0, 0), QItemSelectionModel::NoUpdate);
    }
    if (watched == m_liveTable && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const QModelIndex current = m_liveTable->currentIndex();
        if ((key == Qt::Key_Return || key == Qt::Key_Enter) && m_liveModel->isFold(current.row())) {
            m_expanded = true;
            updateLimit();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void OomView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_barBox->layout()->setContentsMargins(
        2 * metrics.padding, metrics.padding, 2 * metrics.padding, metrics.unit);
    for (QLabel* heading : m_headings) {
        heading->setFont(m_style.font(FontRole::Strong));
        heading->setContentsMargins(metrics.padding, 2 * metrics.unit, metrics.padding, metrics.unit);
    }
    for (QLabel* small : std::initializer_list<QLabel*>{m_pinWords, m_pinSum, m_liveAt, m_liveSum}) {
        small->setFont(m_style.font(FontRole::Small));
        small->setContentsMargins(metrics.padding, metrics.unit / 2, metrics.padding, metrics.unit / 2);
    }
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_pinWords->setPalette(quiet);
    m_liveAt->setPalette(quiet);
    for (QTableView* table : {m_pinTable, m_liveTable}) {
        table->setFont(m_style.font(FontRole::Base));
        table->verticalHeader()->setMinimumSectionSize(metrics.row);
        table->verticalHeader()->setDefaultSectionSize(metrics.row);
        table->horizontalHeader()->setFixedHeight(metrics.header);
        table->horizontalHeader()->setMinimumSectionSize(metrics.px(leastColumn));
    }
    m_liveTable->horizontalHeader()->resizeSection(
        static_cast<int>(LiveColumn::Share), metrics.px(shareWidth));
    m_liveTable->setMinimumHeight(metrics.header + fewestTableRows * metrics.row);
    for (QTableView* table : {m_pinTable, m_liveTable})
        table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_body->setHandleWidth(metrics.splitter);
    m_rightScroll->setMinimumWidth(metrics.px(rightWidth));
    stack();
    if (m_scene) {
        showPins();
        limitHeights();
    }
}

void OomView::collect()
{
    OomData found;
    found.replay = m_session.replay();
    found.deviceTotal = m_session.cardSize() ? m_session.cardSize() : m_session.statedCardSize();
    const auto diagnosis = m_session.diagnosis();
    if (diagnosis && found.replay && m_session.deviceIndex() < diagnosis->devices.size())
        found.ooms = diagnosis->devices[m_session.deviceIndex()].ooms;
    if (diagnosis)
        for (const Finding& finding : diagnosis->findings)
            if (finding.rank)
                found.rank = finding.rank;
    setData(std::move(found));
}

void OomView::setData(OomData shown)
{
    m_task.cancel();
    // The same events again, with what became known since: the chosen one stays.
    const bool same = shown.replay == m_data.replay && shown.ooms.size() == m_data.ooms.size();
    m_data = std::move(shown);
    if (!same)
        m_event = static_cast<int>(m_data.ooms.size()) - 1;
    m_scene.reset();
    m_expanded = false;
    QStringList events;
    for (const OomAutopsy& oom : m_data.ooms)
        events << eventLine(*m_data.replay, oom);
    m_banner->setEvents(events, m_event);
    for (QWidget* part : {static_cast<QWidget*>(m_banner), m_barBox, static_cast<QWidget*>(m_body)})
        part->hide();
    m_fixes->setFinding(nullptr, std::nullopt);
    m_curve->hide();
    m_curve->setScene(nullptr);
    m_bar->setScene(nullptr);
    m_map->setScene(nullptr);
    m_pinModel->setScene(nullptr);
    m_liveModel->clear();
    emit contentChanged();
    schedule();
}

void OomView::setEvent(int event)
{
    if (event == m_event || event < 0 || event >= static_cast<int>(m_data.ooms.size()))
        return;
    m_event = event;
    m_expanded = false;
    schedule();
}

OomSceneRequest OomView::request() const
{
    OomSceneRequest request;
    request.replay = m_data.replay;
    request.autopsy = m_data.ooms[static_cast<std::size_t>(m_event)];
    request.grouping = m_session.grouping(GroupBy::Site);
    bool sites = false;
    for (std::uint32_t i = 0; i < request.grouping->count() && !sites; ++i)
        sites = valid(request.grouping->site(i));
    if (!sites)
        request.grouping = m_session.grouping(GroupBy::ExactSize);
    request.colouring = m_session.colouring(m_view.colourBy());
    request.phases = m_session.phases();
    request.deviceTotal = m_data.deviceTotal;
    return request;
}

void OomView::refresh(bool now)
{
    m_refresher.done();
    if (!hasContent() || !m_data.replay || m_data.replay != m_session.replay())
        return;
    const OomSceneRequest wanted = request();
    if (now) {
        m_task.cancel();
        take(buildOomScene(wanted, {}));
        return;
    }
    m_task.request([wanted](const Job& job) { return buildOomScene(wanted, job); });
}

void OomView::flush()
{
    refresh(true);
    m_map->flush();
    updateLimit();
}

void OomView::take(std::shared_ptr<const OomScene>&& scene)
{
    if (!hasContent() || scene->of.replay != m_data.replay)
        return;
    m_scene = std::move(scene);
    showScene();
}

void OomView::showScene()
{
    m_following = true;
    m_banner->setWords(verdictWords(*m_scene, m_data.rank));
    showFixes();
    m_bar->setScene(m_scene);
    m_checks->setChecks(verdictChecks(*m_scene));
    m_curve->setScene(m_scene);
    showPins();
    showLive();
    m_map->setScene(m_scene);
    arrange();
    for (QWidget* part : {static_cast<QWidget*>(m_banner), m_barBox, static_cast<QWidget*>(m_body)})
        part->show();
    limitHeights();
    m_following = false;
    followSelection();
}

void OomView::showFixes()
{
    const auto diagnosis = m_session.diagnosis();
    const bool same = diagnosis && diagnosis->rank == m_session.rank();
    m_fixes->setFinding(same ? diagnosis : nullptr,
        same ? findingOfFailure(*diagnosis, m_session.deviceIndex(), m_scene->autopsy().event)
             : std::nullopt);
}

/// By size there is nothing to see in the map: what fills the card takes its place.
void OomView::arrange()
{
    const bool bySize = m_scene->autopsy().verdict == Verdict::Capacity || !m_scene->state;
    m_map->setVisible(!bySize);
    m_pinSection->setVisible(m_pinModel->rowCount() > 0);
    for (QVBoxLayout* column : {m_leftColumn, m_rightColumn})
        while (QLayoutItem* const item = column->takeAt(0))
            delete item;
    m_leftColumn->addWidget(m_map, 1);
    if (m_pinModel->rowCount() > 0)
        m_rightColumn->addWidget(m_pinSection);
    // The table takes what it can fill; what is left lies below everything.
    (bySize ? m_leftColumn : m_rightColumn)->addWidget(m_liveSection, 1000);
    m_rightColumn->addWidget(m_checkSection);
    m_rightColumn->addStretch(1);
    if (bySize)
        m_leftColumn->addStretch(1);
    limitHeights();
    for (QWidget* section : {m_liveSection, m_checkSection})
        section->show();
}

void OomView::limitHeights()
{
    if (!m_scene)
        return;
    const Metrics& metrics = m_style.metrics();
    const auto rows = static_cast<int>(std::min<std::size_t>(m_scene->liveOrder.size(), 1000));
    const int table = metrics.header + std::max(fewestTableRows, rows) * metrics.row;
    // Labels and spaces round the table.
    const int rest = m_liveSection->sizeHint().height() - m_liveTable->sizeHint().height();
    m_liveSection->setMaximumHeight(table + std::max(0, rest));
    // Below each other the tables have all the height they can fill; the view scrolls as a whole then.
    const bool beside = m_body->orientation() == Qt::Horizontal;
    const int least = metrics.px(bodyLeast);
    const int right = m_rightColumn->totalMinimumSize().height();
    m_rightScroll->setMinimumHeight(beside ? 0 : right);
    m_left->setMinimumHeight(least);
    m_body->setMinimumHeight(beside ? least : least + right + m_body->handleWidth());
    // The curve is the last to come and the first to go.
    int others = m_barBox->sizeHint().height();
    for (const QWidget* part : {static_cast<QWidget*>(m_banner), static_cast<QWidget*>(m_fixes)})
        if (!part->isHidden())
            others += part->minimumSizeHint().height();
    m_curve->setVisible(beside && height() >= others + m_curve->sizeHint().height() + metrics.px(curveFrom));
}

void OomView::stack()
{
    const bool beside = width() >= m_style.metrics().px(besideFrom);
    const auto wanted = beside ? Qt::Horizontal : Qt::Vertical;
    if (wanted == m_body->orientation())
        return;
    m_body->setOrientation(wanted);
    m_body->setSizes(beside ? QList<int>{5800, 4200} : QList<int>{5000, 5000});
}

void OomView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    stack();
    limitHeights();
}

void OomView::followSelection()
{
    if (m_following || !m_scene)
        return;
    const Selection& selection = m_view.selection();
    std::optional<std::uint32_t> group;
    if (selection.kind == Selection::Kind::Group && selection.groupBy == m_scene->of.grouping->by())
        group = selection.group;
    else if (selection.kind == Selection::Kind::Allocation && valid(selection.allocation))
        group = m_scene->of.grouping->of(selection.allocation);
    m_following = true;
    const int pinRow = group ? m_pinModel->rowOf(*group) : -1;
    const int liveRow = group ? m_liveModel->rowOf(*group) : -1;
    if (pinRow >= 0) {
        m_pinTable->selectRow(pinRow);
        pinSentenceOf(pinRow);
    } else {
        m_pinTable->clearSelection();
    }
    if (liveRow >= 0)
        m_liveTable->selectRow(liveRow);
    else
        m_liveTable->clearSelection();
    m_following = false;
}

void OomView::toEvent()
{
    if (!m_scene || m_view.cursor() == m_scene->autopsy().state)
        return;
    m_view.pushHistory();
    m_view.setCursor(m_scene->autopsy().state);
}

void OomView::selectGroup(std::uint32_t group)
{
    Selection selection;
    selection.kind = Selection::Kind::Group;
    selection.group = group;
    selection.groupBy = m_scene->of.grouping->by();
    toEvent();
    m_view.select(selection);
}

void OomView::goToEvent()
{
    if (hasContent())
        toEvent();
}

QString OomView::copyText() const
{
    return m_scene ? oomReport(*m_scene, m_data.rank) : QString();
}

QString OomView::pinSumText() const
{
    return m_pinSum->text();
}

QString OomView::liveSumText() const
{
    return m_liveSum->text();
}

} // namespace tidemark
