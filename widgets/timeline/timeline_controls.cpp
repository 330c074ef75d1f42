// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_controls.hpp"

#include "widgets/style/controls.hpp"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>

namespace tidemark {

TimelineControls::TimelineControls(Session& session, ViewState& state, const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_caption(new QLabel(tr("Stack by"), this))
    , m_order(new Segmented(style, {tr("Age"), tr("Group")}, this))
    , m_reserved(new QCheckBox(tr("Reserved"), this))
    , m_allocated(new QCheckBox(tr("Allocated ≈"), this))
    , m_marks(new QCheckBox(tr("Marks"), this))
    , m_finding(new QCheckBox(tr("Finding"), this))
{
    m_order->setLogicalHeight(21);
    m_order->setPartToolTip(0, tr("Oldest at the bottom (G)"));
    m_order->setPartToolTip(1, tr("Colour groups, the largest at the bottom (G)"));
    m_order->setAccessibleName(tr("Stack by"));
    m_marks->setToolTip(tr("Peak and local peaks"));
    m_reserved->setChecked(true);
    m_marks->setChecked(true);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 6, 2);
    row->setSpacing(8);
    row->addStretch(1);
    row->addWidget(m_caption);
    row->addWidget(m_order);
    for (QCheckBox* box : {m_reserved, m_allocated, m_marks}) {
        row->addWidget(box);
        connect(box, &QCheckBox::toggled, this, &TimelineControls::optionsChanged);
    }
    row->addWidget(m_finding);
    connect(m_finding, &QCheckBox::clicked, this, &TimelineControls::showFinding);
    connect(&m_state, &ViewState::shownFindingChanged, this, &TimelineControls::followShown);
    connect(m_order, &Segmented::chosen, this,
        [this](int part) { m_state.setStackOrder(part == 0 ? StackOrder::Age : StackOrder::Group); });
    connect(&m_state, &ViewState::stackOrderChanged, this, &TimelineControls::followOrder);
    connect(&style, &Style::changed, this, &TimelineControls::restyle);
    followOrder();
    restyle();
}

void TimelineControls::follow(const TimelineScene& scene)
{
    setVisible(!scene.empty());
    const bool reserved = scene.source && scene.source->reserved();
    const bool allocated = scene.source && scene.source->allocated();
    m_reserved->setVisible(!scene.categories());
    m_allocated->setVisible(!scene.categories());
    m_reserved->setEnabled(reserved);
    m_allocated->setEnabled(allocated);
    const QString unknown = tr("Unknown: this file lists no segments");
    m_reserved->setToolTip(reserved ? tr("What the allocator holds from the driver: dashed line") : unknown);
    m_allocated->setToolTip(allocated
            ? tr("Block sizes after rounding: dotted line. Exact at the end of the trace, inferred elsewhere")
            : unknown);
    // Before anything is known of the file there is nothing to show.
    m_finding->setVisible(scene.replay && m_session.diagnosis());
    m_finding->setEnabled(scene.finding.finding != nullptr);
    m_finding->setToolTip(scene.finding.finding ? tr("Show the selected finding: the rest fades (O)")
                                                : tr("No finding with allocations is selected"));
    followShown();
}

void TimelineControls::followShown()
{
    m_finding->setChecked(m_state.shownFinding() != nullptr);
}

void TimelineControls::showFinding(bool shown)
{
    const auto diagnosis = m_session.diagnosis();
    const auto chosen = m_state.finding();
    const bool known = diagnosis && chosen && *chosen < diagnosis->findings.size();
    m_state.setShownFinding(shown && known ? m_session.flagsOf(diagnosis->findings[*chosen]) : nullptr);
    followShown();
}

CurveOptions TimelineControls::options(CurveOptions current) const
{
    current.reserved = m_reserved->isChecked();
    current.allocated = m_allocated->isChecked();
    current.marks = m_marks->isChecked();
    return current;
}

void TimelineControls::restyle()
{
    const QFont font = m_style.font(FontRole::Small);
    for (QWidget* widget :
        std::initializer_list<QWidget*>{m_caption, m_order, m_reserved, m_allocated, m_marks, m_finding})
        widget->setFont(font);
}

void TimelineControls::followOrder()
{
    m_order->setCurrent(m_state.stackOrder() == StackOrder::Age ? 0 : 1);
}

} // namespace tidemark
