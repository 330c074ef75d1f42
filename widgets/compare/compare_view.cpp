// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/compare_view.hpp"

#include "widgets/compare/compare_curves.hpp"
#include "widgets/compare/compare_table.hpp"
#include "widgets/compare/what_changed.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QComboBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>

#include <algorithm>

namespace tidemark {

using compare::AlignBy;
using compare::Which;

namespace {

/// Names of lists do not widen the window.
QComboBox* makeChooser(QWidget* parent, const QString& name)
{
    auto* box = new QComboBox(parent);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(12);
    box->setAccessibleName(name);
    return box;
}

} // namespace

CompareView::CompareView(CompareState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_style(style)
    , m_labelA(new QLineEdit(this))
    , m_labelB(new QLineEdit(this))
    , m_fileA(makeChooser(this, tr("File of A")))
    , m_fileB(makeChooser(this, tr("File of B")))
    , m_deviceA(makeChooser(this, tr("Device of A")))
    , m_deviceB(makeChooser(this, tr("Device of B")))
    , m_swap(new QToolButton(this))
    , m_figures(new QLabel(this))
    , m_busy(new QLabel(this))
    , m_align(new Segmented(style, {tr("Step"), tr("Mark"), tr("Peak"), tr("Event"), tr("Time")}, this))
    , m_at(new Segmented(style, {tr("Each peak"), tr("Cursor"), tr("Step"), tr("Two moments")}, this))
    , m_curve(new Segmented(style, {tr("Live"), tr("Reserved")}, this))
    , m_lowerChoice(new Segmented(style, {tr("Stacks"), tr("Segment maps")}, this))
    , m_arrangement(new Segmented(style, {tr("Side by side"), tr("One above the other")}, this))
    , m_resetOffset(new QToolButton(this))
    , m_curves(new CompareCurves(state, style, this))
    , m_timelineA(new TimelineView(state.session(Which::A), state.view(Which::A), style, this))
    , m_timelineB(new TimelineView(state.session(Which::B), state.view(Which::B), style, this))
    , m_mapA(new SegmentMapView(state.session(Which::A), state.view(Which::A), style, this))
    , m_mapB(new SegmentMapView(state.session(Which::B), state.view(Which::B), style, this))
    , m_captionA(new QLabel(this))
    , m_captionB(new QLabel(this))
    , m_sides(new QSplitter(Qt::Horizontal, this))
    , m_rows(new QSplitter(Qt::Vertical, this))
    , m_columns(new QSplitter(Qt::Horizontal, this))
    , m_table(new CompareTable(state, style, this))
    , m_what(new WhatChanged(state, style, this))
    , m_empty(new EmptyState(style, this))
    , m_content(new QWidget(this))
    , m_pages(new QStackedLayout)
{
    // Stacking and curves are chosen for both in the header: the views' own buttons stay out of sight.
    auto* unseen = new QWidget(this);
    unseen->hide();
    for (TimelineView* timeline : {m_timelineA, m_timelineB}) {
        timeline->setLanesVisible(false);
        timeline->controls()->setParent(unseen);
    }
    const auto half = [](QLabel* caption, TimelineView* timeline, SegmentMapView* map) {
        auto* box = new QWidget;
        auto* column = new QVBoxLayout(box);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addWidget(caption);
        column->addWidget(timeline, 1);
        column->addWidget(map, 1);
        caption->setTextFormat(Qt::RichText);
        caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        box->setAutoFillBackground(true);
        box->setBackgroundRole(QPalette::Base);
        return box;
    };
    m_sides->addWidget(half(m_captionA, m_timelineA, m_mapA));
    m_sides->addWidget(half(m_captionB, m_timelineB, m_mapB));
    m_rows->addWidget(m_curves);
    m_rows->addWidget(m_sides);
    m_rows->addWidget(m_table);
    m_rows->setStretchFactor(0, 30);
    m_rows->setStretchFactor(1, 32);
    m_rows->setStretchFactor(2, 32);
    m_columns->addWidget(m_rows);
    m_columns->addWidget(m_what);
    m_columns->setStretchFactor(0, 1);
    m_columns->setStretchFactor(1, 0);
    for (QSplitter* splitter : {m_sides, m_rows, m_columns})
        splitter->setChildrenCollapsible(false);

    auto* content = new QVBoxLayout(m_content);
    content->setContentsMargins(0, 0, 0, 0);
    content->setSpacing(0);
    content->addWidget(m_columns, 1);
    m_pages->addWidget(m_content);
    m_pages->addWidget(m_empty);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addLayout(m_pages, 1);

    connect(&state, &CompareState::changed, this, &CompareView::refresh);
    connect(&state, &CompareState::alignmentChanged, this, &CompareView::refreshFigures);
    connect(&state, &CompareState::cursorChanged, this, &CompareView::refreshFigures);
    connect(&state, &CompareState::busyChanged, this, &CompareView::refreshFigures);
    for (const Which side : {Which::A, Which::B}) {
        connect(&state.session(side), &Session::opened, this, [this, side] {
            fillChooser(Which::A); // names depend on both
            fillChooser(Which::B);
            fillDevices(side);
            refresh();
        });
        connect(&state.session(side), &Session::deviceChanged, this, [this, side] { fillDevices(side); });
    }
    connect(m_rows, &QSplitter::splitterMoved, this, [this] { m_rowsMoved = true; });
    connect(&style, &Style::changed, this, &CompareView::restyle);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    setLower(Lower::Stacks);
    restyle();
    refresh();
}

CompareView::~CompareView() = default;

void CompareView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    for (QLineEdit* label : {m_labelA, m_labelB})
        label->setFixedWidth(metrics.px(70));
    for (QComboBox* device : {m_deviceA, m_deviceB})
        device->setFixedWidth(metrics.px(84));
    for (QLabel* caption : {m_captionA, m_captionB}) {
        caption->setFont(m_style.font(FontRole::Small));
        caption->setContentsMargins(metrics.padding, metrics.px(3), metrics.padding, 0);
    }
    m_figures->setFont(m_style.font(FontRole::Small));
    m_busy->setFont(m_style.font(FontRole::Small));
    m_swap->setIcon(m_style.icon(QStringLiteral("compare")));
    m_swap->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_columns->setSizes({width() - metrics.rightDock, metrics.rightDock});
    refreshFigures();
}

void CompareView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const Metrics& metrics = m_style.metrics();
    const bool narrow = width() < metrics.px(1250);
    const int side = std::min(narrow ? metrics.rightDockNarrow : metrics.rightDock, width() / 3);
    if (event->oldSize().width() != width())
        m_columns->setSizes({width() - side, side});
    placeChoices();
    placeRows();
}

// Until somebody drags them, each row has its share.
void CompareView::placeRows()
{
    if (m_rowsMoved)
        return;
    const int high = std::max(100, m_rows->height());
    // Two plots in a column want the room of the curves.
    m_rows->setSizes(m_sides->isHidden() ? QList<int>{high * 50 / 100, 0, high * 50 / 100}
            : isStacked()                ? QList<int>{high * 22 / 100, high * 52 / 100, high * 26 / 100}
                                         : QList<int>{high * 34 / 100, high * 33 / 100, high * 33 / 100});
}

void CompareView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    QMetaObject::invokeMethod(this, &CompareView::placeRows, Qt::QueuedConnection);
}

TimelineView& CompareView::timeline(Which side)
{
    return side == Which::A ? *m_timelineA : *m_timelineB;
}

SegmentMapView& CompareView::map(Which side)
{
    return side == Which::A ? *m_mapA : *m_mapB;
}

void CompareView::setLower(Lower lower)
{
    m_lower = lower;
    m_lowerChoice->setCurrent(static_cast<int>(lower));
    followLower();
}

void CompareView::followLower()
{
    for (TimelineView* timeline : {m_timelineA, m_timelineB})
        timeline->setVisible(m_lower == Lower::Stacks);
    for (SegmentMapView* map : {m_mapA, m_mapB})
        map->setVisible(m_lower == Lower::Maps);
}

void CompareView::setStacked(bool stacked)
{
    m_arrangement->setCurrent(stacked ? 1 : 0);
    m_sides->setOrientation(stacked ? Qt::Vertical : Qt::Horizontal);
    m_rowsMoved = false;
    placeRows();
}

bool CompareView::isStacked() const
{
    return m_sides->orientation() == Qt::Vertical;
}

void CompareView::setChoices(const QList<Choice>& choices)
{
    m_choices = choices;
    fillChooser(Which::A);
    fillChooser(Which::B);
}

void CompareView::setRecent(const QStringList& paths)
{
    m_recent = paths;
    showEmpty();
}

void CompareView::setLoading(const QString& name)
{
    m_loading = name;
    if (!name.isEmpty())
        m_problem.clear();
    refreshFigures();
    showEmpty();
}

void CompareView::setProblem(const QString& sentence)
{
    m_problem = sentence;
    refreshFigures();
    showEmpty();
}

void CompareView::refresh()
{
    showEmpty();
    refreshFigures();
    for (const Which side : {Which::A, Which::B}) {
        QLineEdit& label = labelOf(side);
        if (!label.hasFocus())
            label.setText(m_state.label(side));
    }
}

void CompareView::showEmpty()
{
    const bool ready = m_state.comparison() != nullptr;
    m_pages->setCurrentWidget(ready ? m_content : static_cast<QWidget*>(m_empty));
    if (ready) {
        QMetaObject::invokeMethod(this, &CompareView::placeRows, Qt::QueuedConnection);
        return;
    }
    EmptyState::Content content;
    content.icon = QStringLiteral("compare");
    if (m_state.session(Which::A).replay() && m_state.session(Which::B).replay()) {
        content.heading = tr("Comparing…");
    } else if (!m_loading.isEmpty()) {
        content.heading = tr("Reading %1…").arg(m_loading);
    } else {
        content.heading = tr("Choose a second run");
        content.sentence = m_problem.isEmpty()
            ? tr("It is laid over the open one: which sites need more, which less, and why the peaks differ.")
            : m_problem;
        content.actions.push_back(
            {tr("Open B…"), QStringLiteral("open"), [this] { emit chooseRequested(Which::B); }, true});
        for (const QString& path : m_recent)
            content.actions.push_back({QFileInfo(path).fileName(), QString(),
                [this, path] { emit fileRequested(Which::B, path); }, false});
    }
    m_empty->setContent(std::move(content));
}

QString CompareView::emptyHeading() const
{
    return m_pages->currentWidget() == m_empty ? m_empty->heading() : QString();
}

} // namespace tidemark
