// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tree/call_tree_view.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"
#include "widgets/tree/call_tree_model.hpp"
#include "widgets/tree/tree_controls.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace tidemark {

namespace {

/// A tree without type-ahead: letters are commands everywhere (help/window.md).
class Tree : public QTreeView {
public:
    using QTreeView::QTreeView;
    void keyboardSearch(const QString&) override { }
};

/// Rows of the height that tables have.
class RowDelegate : public LiveTableDelegate {
public:
    RowDelegate(const Style& style, QObject* parent)
        : LiveTableDelegate(style, parent)
        , m_rowStyle(style)
    { }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QSize size = LiveTableDelegate::sizeHint(option, index);
        size.setHeight(m_rowStyle.metrics().row);
        return size;
    }

private:
    const Style& m_rowStyle;
};

/// Branches that are opened by themselves hold at least this share.
constexpr double openFrom = 0.25;
constexpr std::size_t openAtMost = 200;

} // namespace

CallTreeView::CallTreeView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_source(session, state, *this)
    , m_model(new CallTreeModel(this))
    , m_delegate(new RowDelegate(style, this))
    , m_tree(new Tree(this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_controls(new TreeControls(m_source, state, style, true, this))
{
    m_delegate->setShareColumn(CallTreeModel::Share);
    m_tree->setModel(m_model);
    m_tree->setItemDelegate(m_delegate);
    m_tree->setUniformRowHeights(true);
    m_tree->setAlternatingRowColors(true);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setSelectionMode(QAbstractItemView::SingleSelection);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->setAllColumnsShowFocus(true);
    m_tree->setTabKeyNavigation(false);
    m_tree->setAccessibleName(tr("Call tree"));
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    m_tree->installEventFilter(this);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setHighlightSections(false);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_tree);
    m_stack->addWidget(m_empty);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_controls);
    connect(&m_source, &TreeSource::changed, this, &CallTreeView::present);
    connect(&session, &Session::opened, this, [this] { m_opened = false; });
    connect(&session, &Session::deviceChanged, this, [this] { m_opened = false; });
    connect(&state, &ViewState::colourByChanged, this, &CallTreeView::present);
    connect(&style, &Style::changed, this, &CallTreeView::restyle);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& now) {
            if (!m_following && now.isValid())
                m_source.select(m_model->node(now));
        });
    connect(&state, &ViewState::selectionChanged, this, [this] {
        if (m_state.selection().kind != Selection::Kind::Set) {
            m_following = true;
            m_tree->clearSelection();
            m_following = false;
        }
    });
    connect(m_tree, &QTreeView::customContextMenuRequested, this, &CallTreeView::contextMenu);
    connect(m_controls, &TreeControls::foldedWanted, this, &CallTreeView::foldedWanted);
    restyle();
    present();
}

CallTreeView::~CallTreeView()
{
    m_tree->selectionModel()->disconnect(this);
}

QWidget* CallTreeView::headerControls() const
{
    return m_controls->button();
}

void CallTreeView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_tree->setFont(m_style.font(FontRole::Base));
    m_tree->setIndentation(metrics.px(14));
    m_tree->header()->setFixedHeight(metrics.header);
    setColumnWidths();
}

void CallTreeView::setColumnWidths()
{
    const Metrics& metrics = m_style.metrics();
    const QFontMetrics font(m_style.font(FontRole::Base));
    const bool filtered = m_source.tree() && m_source.tree()->filtered;
    QHeaderView* const header = m_tree->header();
    header->setMinimumSectionSize(metrics.px(40));
    const int value = font.horizontalAdvance(filtered ? QStringLiteral("1,023 MiB of 00.00 GiB")
                                                      : tr("Bytes × time") + QStringLiteral("  "))
        + 2 * metrics.padding;
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->resizeSection(CallTreeModel::Value, value);
    header->resizeSection(CallTreeModel::Share, metrics.px(112));
    header->resizeSection(CallTreeModel::Count, metrics.px(64));
    header->setSectionResizeMode(CallTreeModel::Frame, QHeaderView::Stretch);
}

QSet<QString> CallTreeView::expanded() const
{
    QSet<QString> out;
    const CallTree* tree = m_model->tree();
    for (QModelIndex at = m_model->index(0, 0); tree && at.isValid(); at = m_tree->indexBelow(at))
        if (m_tree->isExpanded(at) && out.size() < static_cast<qsizetype>(openAtMost)) {
            QStringList parts;
            for (QModelIndex up = at; up.isValid(); up = up.parent())
                parts << up.data().toString();
            out.insert(parts.join(QLatin1Char('\n')));
        }
    return out;
}

void CallTreeView::expandAgain(const QSet<QString>& before)
{
    const CallTree& tree = *m_model->tree();
    std::size_t opened = 0;
    for (std::uint32_t i = 1; i < tree.nodes.size() && opened < openAtMost;) {
        const CallTree::Node& node = tree.nodes[i];
        bool open = false;
        if (node.children > 0 && !m_opened) {
            open = tree.value(i) >= openFrom * tree.value(0);
        } else if (node.children > 0) {
            QStringList parts;
            for (std::uint32_t at = i; at != 0; at = tree.nodes[at].parent)
                parts << QString::fromStdString(tree.name(at));
            open = before.contains(parts.join(QLatin1Char('\n')));
        }
        if (open) {
            m_tree->setExpanded(m_model->indexOf(i), true);
            ++opened;
        }
        i = open ? i + 1 : node.end;
    }
    m_opened = true;
}

void CallTreeView::present()
{
    const auto tree = m_source.tree();
    const auto replay = m_session.replay();
    const QSet<QString> before = expanded();
    m_following = true;
    m_model->show(tree, replay ? m_session.colouring(m_state.colourBy()) : nullptr);
    m_following = false;
    if (!tree || !replay || tree->nodes[0].count == 0) {
        showEmpty();
        return;
    }
    expandAgain(before);
    m_stack->setCurrentWidget(m_tree);
    setColumnWidths();
    const CallTree::Node& all = tree->nodes[0];
    QString sum = tr("Σ %1 allocations, %2").arg(countText(all.count), bytesText(all.bytes));
    if (tree->weight == TreeWeight::BytesTime)
        sum += QStringLiteral(", ") + m_source.valueText(0);
    if (tree->filtered)
        sum += tr(" · %1 of them match, %2").arg(countText(all.matchedCount), bytesText(all.matchedBytes));
    else if (tree->scope.kind == Scope::Kind::Instant
        && static_cast<std::int64_t>(all.bytes) == replay->timeline.requested().at(tree->scope.first))
        sum += tr(" = curve ") + atMomentText(*replay, tree->scope.first);
    m_controls->setSum(sum);
    const QString remarks = m_controls->remarks();
    setWindowTitle(m_source.scopeText() + (remarks.isEmpty() ? QString() : QStringLiteral(" · ") + remarks));
}

void CallTreeView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("tree");
    const auto replay = m_session.replay();
    if (!replay) {
        content.heading = m_session.rank() ? tr("This file has no call stacks") : tr("Nothing is open");
        content.sentence = m_session.rank() ? tr("It holds no allocations of a device.")
                                            : tr("Open a memory snapshot to see who asked for memory.");
    } else if (!m_source.tree()) {
        content.heading = tr("Working…");
    } else {
        content.heading = tr("Nothing in this scope");
        content.sentence = tr("No allocation is %1.").arg(m_source.scopeText());
        content.actions = {{tr("Go to the peak"), QStringLiteral("peak"),
            [this, replay] {
                m_state.pushHistory();
                m_state.setScopeKind(Scope::Kind::Instant);
                m_state.setCursor(replay->timeline.requested().total().maxState);
            },
            true}};
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    m_controls->setSum({});
    setWindowTitle(m_source.tree() ? m_source.scopeText() : QString());
}

QString CallTreeView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

bool CallTreeView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_tree && event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        event->accept();
        return true;
    }
    if (watched == m_tree && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy) && m_source.tree()) {
        const QModelIndex at = m_tree->currentIndex();
        QGuiApplication::clipboard()->setText(
            QString::fromStdString(m_source.tree()->text(at.isValid() ? m_model->node(at) : 0)));
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void CallTreeView::contextMenu(QPoint position)
{
    const QModelIndex at = m_tree->indexAt(position);
    if (!at.isValid() || !m_source.tree())
        return;
    const std::uint32_t node = m_model->node(at);
    const QString name = at.siblingAtColumn(0).data().toString();
    QMenu menu(this);
    menu.addAction(m_style.icon(QStringLiteral("filter")), tr("Filter by this frame"), this,
        [this, name] { emit m_state.searchRequested(QLatin1Char('"') + name + QLatin1Char('"')); });
    menu.addAction(tr("Expand all below"), this, [this, at] { m_tree->expandRecursively(at, 40); });
    menu.addAction(tr("Collapse all"), m_tree, &QTreeView::collapseAll);
    menu.addSeparator();
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy path"), this,
        [this, node] { QGuiApplication::clipboard()->setText(m_source.pathText(node)); });
    menu.addAction(tr("Copy branch as text"), this, [this, node] {
        QGuiApplication::clipboard()->setText(QString::fromStdString(m_source.tree()->text(node)));
    });
    menu.exec(m_tree->viewport()->mapToGlobal(position));
}

} // namespace tidemark
