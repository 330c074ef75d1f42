// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tree/tree_source.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

TreeSource::TreeSource(Session& session, ViewState& state, QWidget& view)
    : m_session(session)
    , m_state(state)
    , m_choice(session, state)
    , m_refresher(view, [this] { refresh(); })
    , m_task([this](Made&& made) { take(std::move(made)); })
{
    const auto schedule = [this] { m_refresher.schedule(); };
    const auto forget = [this] {
        m_task.cancel();
        m_tree = nullptr;
        m_refresher.schedule();
        emit changed();
    };
    connect(&session, &Session::opened, this, forget);
    connect(&session, &Session::deviceChanged, this, forget);
    connect(&session, &Session::siteModeChanged, this, schedule);
    connect(&state, &ViewState::cursorChanged, this, [this] {
        const auto replay = m_session.replay();
        if (replay && m_state.scope(*replay).kind == Scope::Kind::Instant)
            m_refresher.schedule();
    });
    connect(&state, &ViewState::rangeChanged, this, schedule);
    connect(&state, &ViewState::scopeKindChanged, this, schedule);
    connect(&state, &ViewState::matchesChanged, this, schedule);
}

void TreeSource::setOptions(const CallTreeWish& options)
{
    m_options = options;
    m_refresher.schedule();
}

CallTreeWish TreeSource::wish() const
{
    CallTreeWish wish = m_options;
    wish.scope = m_state.scope(*m_session.replay());
    wish.matches = m_state.matches();
    return wish;
}

void TreeSource::refresh()
{
    m_refresher.done();
    const auto replay = m_session.replay();
    const auto sites = m_session.sites();
    if (!replay || !sites) {
        m_task.cancel();
        m_tree = nullptr;
        emit changed();
        return;
    }
    m_task.request([replay, sites, wanted = wish()](const Job& job) {
        auto tree = buildCallTree(*replay, *sites, wanted, job);
        return Made{replay, tree ? std::make_shared<const CallTree>(std::move(*tree)) : nullptr};
    });
}

void TreeSource::flush()
{
    const auto replay = m_session.replay();
    if (!replay)
        return;
    m_refresher.done();
    m_task.cancel();
    take({replay, std::make_shared<const CallTree>(*buildCallTree(*replay, *m_session.sites(), wish(), {}))});
}

void TreeSource::take(Made&& made)
{
    if (!made.tree || made.replay != m_session.replay())
        return;
    m_replay = std::move(made.replay);
    m_tree = std::move(made.tree);
    emit changed();
}

void TreeSource::select(std::uint32_t node)
{
    if (!m_tree || node == 0 || node >= m_tree->nodes.size()) {
        m_choice.cancel();
        m_state.clearSelection();
        return;
    }
    m_choice.choose(QString::fromStdString(m_tree->name(node)), tr("branch of the call tree"),
        [tree = m_tree, node] { return tree->allocations(node); });
}

QString TreeSource::scopeText() const
{
    if (!m_tree || !m_replay)
        return {};
    const Scope& scope = m_tree->scope;
    if (scope.kind == Scope::Kind::Instant)
        return tr("live ") + atMomentText(*m_replay, scope.first);
    const QString part = m_tree->part == ScopePart::Allocated ? tr("allocated")
        : m_tree->part == ScopePart::Freed                    ? tr("freed")
                                                              : tr("allocated and kept");
    if (scope.kind == Scope::Kind::Trace && m_tree->part == ScopePart::Allocated)
        return tr("all of the whole trace");
    if (scope.kind == Scope::Kind::Trace)
        return tr("%1 in the whole trace").arg(part);
    return tr("%1 in the range, %2 events")
        .arg(part, countText(static_cast<std::int64_t>(scope.last) - scope.first));
}

QString treeValueText(const CallTree& tree, std::uint32_t node)
{
    const CallTree::Node& n = tree.nodes[node];
    switch (tree.weight) {
    case TreeWeight::Bytes:
        return bytesText(n.bytes);
    case TreeWeight::Count:
        return countText(n.count);
    case TreeWeight::BytesTime:
        break;
    }
    return TreeSource::tr("%1 s").arg(bytesText(static_cast<std::uint64_t>(n.byteTime / 1e6)));
}

QString TreeSource::pathText(std::uint32_t node) const
{
    QStringList parts;
    for (std::uint32_t at = node; at != 0 && at != CallTree::none; at = m_tree->nodes[at].parent)
        parts << QString::fromStdString(m_tree->name(at));
    return parts.join(
        m_tree->direction == TreeDirection::FromRoot ? QStringLiteral(" ← ") : QStringLiteral(" → "));
}

} // namespace tidemark
