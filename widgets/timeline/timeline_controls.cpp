// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_controls.hpp"

#include "widgets/style/controls.hpp"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>

namespace tidemark {

TimelineControls::TimelineControls(ViewState& state, const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_style(style)
    , m_caption(new QLabel(tr("Stack by"), this))
    , m_order(new Segmented(style, {tr("Age"), tr("Group")}, this))
    , m_reserved(new QCheckBox(tr("Reserved"), this))
    , m_allocated(new QCheckBox(tr("Allocated ≈"), this))
    , m_marks(new QCheckBox(tr("Marks"), this))
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
        std::initializer_list<QWidget*>{m_caption, m_order, m_reserved, m_allocated, m_marks})
        widget->setFont(font);
}

void TimelineControls::followOrder()
{
    m_order->setCurrent(m_state.stackOrder() == StackOrder::Age ? 0 : 1);
}

} // namespace tidemark
