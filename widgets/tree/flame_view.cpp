// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tree/flame_view.hpp"

#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"
#include "widgets/tree/tree_controls.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace tidemark {

FlameView::FlameView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_source(session, state, *this)
    , m_canvas(new FlameCanvas(*this, style))
    , m_head(new QLabel(this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_controls(new TreeControls(m_source, state, style, false, this))
{
    m_head->setTextFormat(Qt::PlainText);
    m_head->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_canvas);
    m_stack->addWidget(m_empty);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addLayout(m_stack, 1);
    column->addWidget(m_controls);
    connect(&m_source, &TreeSource::changed, this, &FlameView::present);
    connect(&state, &ViewState::colourByChanged, m_canvas, [this] { m_canvas->viewport()->update(); });
    connect(&state, &ViewState::selectionChanged, this, [this] {
        if (m_source.chose(m_state.selection()))
            return;
        m_selected = 0;
        m_selectedPath.clear();
        showHead();
        m_canvas->viewport()->update();
    });
    connect(&style, &Style::changed, this, &FlameView::restyle);
    connect(m_controls, &TreeControls::foldedWanted, this, &FlameView::foldedWanted);
    restyle();
    present();
}

FlameView::~FlameView() = default;

QWidget* FlameView::headerControls() const
{
    return m_controls->button();
}

void FlameView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_head->setFont(m_style.font(FontRole::Small));
    m_head->setContentsMargins(metrics.padding, metrics.unit, metrics.padding, 0);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_head->setPalette(quiet);
    m_head->setAutoFillBackground(true);
    m_head->setBackgroundRole(QPalette::Base);
    m_canvas->layOut();
}

QStringList FlameView::pathOf(std::uint32_t node) const
{
    QStringList path;
    const auto tree = m_source.tree();
    for (std::uint32_t at = node; tree && at != 0 && at != CallTree::none; at = tree->nodes[at].parent)
        path.prepend(QString::fromStdString(tree->name(at)));
    return path;
}

/// The node with that path, or the last one on the way to it.
std::uint32_t FlameView::sameNode(const QStringList& path) const
{
    const auto tree = m_source.tree();
    std::uint32_t at = 0;
    for (const QString& name : path) {
        std::uint32_t next = 0;
        for (std::uint32_t row = 0; row < tree->nodes[at].children && next == 0; ++row)
            if (QString::fromStdString(tree->name(tree->child(at, row))) == name)
                next = tree->child(at, row);
        if (next == 0)
            break;
        at = next;
    }
    return at;
}

void FlameView::present()
{
    const auto tree = m_source.tree();
    if (!tree || tree->nodes[0].count == 0) {
        m_zoomed = m_selected = 0;
        m_canvas->layOut();
        showEmpty();
        return;
    }
    m_zoomed = sameNode(m_zoomedPath);
    m_selected = sameNode(m_selectedPath);
    if (pathOf(m_selected) != m_selectedPath)
        m_selected = 0;
    m_stack->setCurrentWidget(m_canvas);
    m_canvas->layOut();
    showHead();
    const QString weight = tree->weight == TreeWeight::Bytes ? tr("width = bytes")
        : tree->weight == TreeWeight::Count                  ? tr("width = allocations")
                                                             : tr("width = bytes × time");
    QStringList parts{m_source.scopeText(), weight};
    if (const QString remarks = m_controls->remarks(); !remarks.isEmpty())
        parts << remarks;
    setWindowTitle(parts.join(QStringLiteral(" · ")));
    const CallTree::Node& all = tree->nodes[0];
    QString sum = tr("Σ %1 allocations, %2").arg(countText(all.count), bytesText(all.bytes));
    if (tree->filtered)
        sum += tr(" · %1 of them match, %2").arg(countText(all.matchedCount), bytesText(all.matchedBytes));
    m_controls->setSum(sum);
}

void FlameView::showHead()
{
    const auto tree = m_source.tree();
    if (!tree)
        return;
    QString text = tr("Zoomed to %1 %2")
                       .arg(QString::fromStdString(tree->name(m_zoomed)), m_source.valueText(m_zoomed));
    if (m_selected != 0) {
        const double all = tree->value(0);
        text += tr("   ·   selected %1, %2 of all")
                    .arg(m_source.valueText(m_selected),
                        percentText(all > 0 ? tree->value(m_selected) / all : 0));
    }
    m_head->setText(text);
    m_head->show();
}

QString FlameView::headText() const
{
    return m_head->text();
}

void FlameView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("flame");
    if (!m_session.replay()) {
        content.heading = m_session.rank() ? tr("This file has no call stacks") : tr("Nothing is open");
        content.sentence = m_session.rank() ? tr("It holds no allocations of a device.")
                                            : tr("Open a memory snapshot to see who asked for memory.");
    } else if (!m_source.tree()) {
        content.heading = tr("Working…");
    } else {
        content.heading = tr("Nothing in this scope");
        content.sentence = tr("No allocation is %1.").arg(m_source.scopeText());
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    m_head->hide();
    m_controls->setSum({});
    setWindowTitle(m_source.tree() ? m_source.scopeText() : QString());
}

QString FlameView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

void FlameView::zoomTo(std::uint32_t node)
{
    const auto tree = m_source.tree();
    if (!tree || node >= tree->nodes.size())
        return;
    m_zoomed = node;
    m_zoomedPath = pathOf(node);
    m_canvas->layOut();
    showHead();
}

void FlameView::selectNode(std::uint32_t node)
{
    const auto tree = m_source.tree();
    if (!tree || node >= tree->nodes.size())
        return;
    m_selected = node;
    m_selectedPath = pathOf(node);
    m_source.select(node);
    showHead();
    m_canvas->viewport()->update();
}

void FlameView::flush()
{
    m_source.flush();
}

void FlameView::renderTo(QPainter& painter, double ratio)
{
    painter.fillRect(rect(), m_style.color(Tone::Base));
    if (m_stack->currentWidget() == m_empty) {
        m_empty->render(&painter, m_empty->geometry().topLeft(), {}, DrawChildren);
        return;
    }
    m_head->render(&painter, m_head->geometry().topLeft());
    painter.save();
    painter.translate(m_canvas->geometry().topLeft());
    m_canvas->paintInto(painter, ratio);
    painter.restore();
}

void FlameView::contextMenu(std::uint32_t node, QPoint position)
{
    QMenu menu(this);
    const QString name = QString::fromStdString(m_source.tree()->name(node));
    menu.addAction(
        m_style.icon(QStringLiteral("zoom-in")), tr("Zoom here"), this, [this, node] { zoomTo(node); });
    if (m_zoomed != 0)
        menu.addAction(
            m_style.icon(QStringLiteral("zoom-fit")), tr("Show everything"), this, [this] { zoomTo(0); });
    if (node != 0)
        menu.addAction(m_style.icon(QStringLiteral("filter")), tr("Filter by this frame"), this,
            [this, name] { emit m_state.searchRequested(QLatin1Char('"') + name + QLatin1Char('"')); });
    menu.addSeparator();
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy path"), this,
        [this, node] { QGuiApplication::clipboard()->setText(m_source.pathText(node)); });
    menu.addAction(tr("Copy branch as text"), this, [this, node] {
        QGuiApplication::clipboard()->setText(QString::fromStdString(m_source.tree()->text(node)));
    });
    menu.exec(position);
}

} // namespace tidemark
