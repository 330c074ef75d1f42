// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tree/tree_controls.hpp"

#include "widgets/style/controls.hpp"
#include "widgets/style/style.hpp"

#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

namespace tidemark {

namespace {

/// Exclusive choices under a heading, the current one ticked.
template <typename Value, typename Choose>
void addChoices(QMenu& menu, const QString& title, std::initializer_list<std::pair<QString, Value>> choices,
    Value current, Choose choose)
{
    menu.addSection(title);
    auto* group = new QActionGroup(&menu);
    for (const auto& [text, value] : choices) {
        QAction* const action = menu.addAction(text);
        action->setCheckable(true);
        action->setChecked(value == current);
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, action, [choose, value = value] { choose(value); });
    }
}

} // namespace

TreeControls::TreeControls(
    TreeSource& source, ViewState& state, Style& style, bool directions, QWidget* parent)
    : Footer(style, parent)
    , m_source(source)
    , m_state(state)
    , m_style(style)
    , m_row(new QHBoxLayout(this))
    , m_sum(new QLabel(this))
    , m_direction(directions ? new Segmented(style, {tr("From root"), tr("From leaf")}, this) : nullptr)
    , m_weight(new Segmented(style, {tr("Bytes"), tr("Bytes × time"), tr("Count")}, this))
    , m_button(new QToolButton(this))
    , m_menu(new QMenu(m_button))
{
    m_sum->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_sum->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_row->addWidget(m_sum, 1);
    if (m_direction) {
        m_direction->setAccessibleName(tr("Direction"));
        m_direction->setLogicalHeight(18);
        m_row->addWidget(m_direction);
        connect(m_direction, &Segmented::chosen, this, [this](int part) {
            change([&](CallTreeWish& wish) {
                wish.direction = part == 0 ? TreeDirection::FromRoot : TreeDirection::FromLeaf;
            });
        });
    }
    m_weight->setAccessibleName(tr("Weight"));
    m_weight->setLogicalHeight(18);
    m_row->addWidget(m_weight);
    m_row->addWidget(m_button);
    connect(m_weight, &Segmented::chosen, this, [this](int part) {
        change([&](CallTreeWish& wish) { wish.weight = static_cast<TreeWeight>(part); });
    });
    m_button->setAutoRaise(true);
    m_button->setToolTip(tr("Scope, frames and export"));
    m_button->setAccessibleName(tr("Menu of the call tree"));
    connect(m_button, &QToolButton::clicked, this, [this] {
        fillMenu();
        m_menu->popup(m_button->mapToGlobal(QPoint(0, m_button->height())));
    });
    connect(&style, &Style::changed, this, &TreeControls::restyle);
    restyle();
}

void TreeControls::restyle()
{
    const Metrics& metrics = m_style.metrics();
    for (QWidget* each : std::initializer_list<QWidget*>{m_sum, m_direction, m_weight})
        if (each)
            each->setFont(m_style.font(FontRole::Small));
    setFixedHeight(metrics.header);
    m_row->setContentsMargins(metrics.padding, 1, metrics.unit, 0);
    m_row->setSpacing(metrics.unit);
    m_button->setIcon(m_style.icon(QStringLiteral("more")));
    m_button->setIconSize(QSize(metrics.smallIcon, metrics.smallIcon));
    m_button->setFixedSize(metrics.px(20), metrics.px(20));
}

void TreeControls::setSum(const QString& text)
{
    m_full = text;
    m_sum->setToolTip(text);
    fitSum();
}

void TreeControls::resizeEvent(QResizeEvent* event)
{
    Footer::resizeEvent(event);
    fitSum();
}

void TreeControls::fitSum()
{
    layout()->activate();
    m_sum->setText(m_sum->fontMetrics().elidedText(m_full, Qt::ElideRight, m_sum->width()));
}

void TreeControls::change(const std::function<void(CallTreeWish&)>& edit)
{
    CallTreeWish wish = m_source.options();
    edit(wish);
    m_source.setOptions(wish);
}

QString TreeControls::remarks() const
{
    QStringList parts;
    if (m_source.options().ownFramesOnly)
        parts << tr("framework frames hidden");
    if (m_source.options().key == FrameKey::Function)
        parts << tr("by function");
    if (m_source.options().key == FrameKey::File)
        parts << tr("by file");
    if (m_source.options().key == FrameKey::Module)
        parts << tr("by module");
    return parts.join(QStringLiteral(" · "));
}

void TreeControls::copyText()
{
    if (const auto tree = m_source.tree())
        QGuiApplication::clipboard()->setText(QString::fromStdString(tree->text(0)));
}

void TreeControls::fillMenu()
{
    m_menu->clear();
    const CallTreeWish& wish = m_source.options();
    addChoices<Scope::Kind>(*m_menu, tr("Scope of all tables"),
        {{tr("Moment of the cursor"), Scope::Kind::Instant}, {tr("Range"), Scope::Kind::Range},
            {tr("Whole trace"), Scope::Kind::Trace}},
        m_state.scopeKind(), [this](Scope::Kind kind) { m_state.setScopeKind(kind); });
    if (m_state.scopeKind() != Scope::Kind::Instant)
        addChoices<ScopePart>(*m_menu, tr("Allocations of the scope"),
            {{tr("Allocated in it"), ScopePart::Allocated}, {tr("Freed in it"), ScopePart::Freed},
                {tr("Allocated in it and kept"), ScopePart::Surviving}},
            wish.part, [this](ScopePart part) { change([&](CallTreeWish& wanted) { wanted.part = part; }); });
    addChoices<FrameKey>(*m_menu, tr("Frames are one by"),
        {{tr("Function and line"), FrameKey::Line}, {tr("Function"), FrameKey::Function},
            {tr("File"), FrameKey::File}, {tr("Module"), FrameKey::Module}},
        wish.key, [this](FrameKey key) { change([&](CallTreeWish& wanted) { wanted.key = key; }); });
    m_menu->addSeparator();
    QAction* const hide = m_menu->addAction(tr("Hide framework frames"));
    hide->setCheckable(true);
    hide->setChecked(wish.ownFramesOnly);
    connect(hide, &QAction::triggered, this,
        [this](bool on) { change([&](CallTreeWish& wanted) { wanted.ownFramesOnly = on; }); });
    m_menu->addSeparator();
    m_menu->addAction(tr("Copy as text"), this, &TreeControls::copyText);
    m_menu->addAction(tr("Save folded stacks…"), this, &TreeControls::foldedWanted);
}

} // namespace tidemark
