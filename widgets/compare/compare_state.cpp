// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/compare_state.hpp"

#include "widgets/style/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {

namespace {

using compare::AlignBy;
using compare::Alignment;
using compare::CommonGroup;
using compare::Comparison;
using compare::Which;

/// Above this many states the time axis is thinned out to where something can be seen of it.
constexpr StateIndex mostKnots = 2000000;
constexpr double thinned = 500000;
constexpr double narrowest = 4;

Which otherThan(Which side)
{
    return side == Which::A ? Which::B : Which::A;
}

} // namespace

CompareState::CompareState(QObject* parent)
    : QObject(parent)
    , m_task([this](std::shared_ptr<const Comparison>&& made) { take(std::move(made)); })
    , m_tableTask([this](MadeTable&& made) {
        if (made.table && made.of == m_comparison) {
            m_table = std::move(made.table);
            emit tableChanged();
        }
        emit busyChanged();
    })
{
    connectSide(Which::A);
    connectSide(Which::B);
}

void CompareState::connectSide(Which side)
{
    Session& session = this->session(side);
    for (const auto signal : {&Session::opened, &Session::deviceChanged, &Session::diagnosisChanged})
        connect(&session, signal, this, &CompareState::follow);
    ViewState& view = this->view(side);
    connect(&view, &ViewState::cursorChanged, this, [this, side] { link(side); });
    connect(&view, &ViewState::windowChanged, this, [this, side] { linkWindow(side); });
    connect(&view, &ViewState::selectionChanged, this, [this, side] { linkSelection(side); });
}

void CompareState::setRank(Which side, std::shared_ptr<const Rank> rank, std::optional<std::size_t> device)
{
    Session& session = this->session(side);
    m_wish.stateA.reset();
    m_wish.stateB.reset();
    if (m_at == At::Moments)
        m_at = At::Peaks;
    m_linking = true;
    session.setRank(rank);
    if (device)
        session.setDevice(*device);
    if (const auto replay = session.replay()) {
        const StateIndex peak = replay->timeline.requested().total().maxState;
        view(side).reset(replay->states(), peak);
    }
    m_linking = false;
    follow();
}

void CompareState::setLabel(Which side, const QString& label)
{
    if (std::exchange(m_sides[place(side)].label, label) != label)
        follow();
}

QString CompareState::name(Which side) const
{
    const Half& half = m_sides[place(side)];
    if (!half.label.isEmpty() || !half.session.rank())
        return half.label;
    const Half& other = m_sides[1 - place(side)];
    const Source& source = half.session.rank()->snapshot->source;
    if (!other.session.rank() || other.session.rank() == half.session.rank())
        return shownText(source.name);
    // Files of one name are told apart by their folders.
    return shownText(compare::distinctNames(source.path, other.session.rank()->snapshot->source.path).first);
}

void CompareState::swap()
{
    struct Kept {
        std::shared_ptr<const Rank> rank;
        std::size_t device;
        std::shared_ptr<const Diagnosis> diagnosis;
        QString label;
    };
    const auto keep = [this](Which side) {
        const Session& s = session(side);
        return Kept{s.rank(), s.deviceIndex(), s.diagnosis(), label(side)};
    };
    const std::array<Kept, 2> kept{keep(Which::A), keep(Which::B)};
    const auto instants = std::pair(m_wish.stateB, m_wish.stateA);
    m_offset = 0;
    for (const Which side : {Which::A, Which::B}) {
        const Kept& from = kept[1 - place(side)];
        m_sides[place(side)].label = from.label;
        setRank(side, from.rank, from.device);
        session(side).setDiagnosis(from.diagnosis);
    }
    std::tie(m_wish.stateA, m_wish.stateB) = instants;
}

void CompareState::setInstants(StateIndex a, StateIndex b)
{
    m_wish.stateA = a;
    m_wish.stateB = b;
    m_at = At::Moments;
    follow();
}

compare::Side CompareState::sideOf(Which side) const
{
    const Half& half = m_sides[place(side)];
    compare::Side made;
    made.rank = half.session.rank();
    made.device = half.session.deviceIndex();
    made.label = name(side).toStdString();
    made.diagnosis = half.session.diagnosis();
    return made;
}

// Once for everything that changes in one go.
void CompareState::follow()
{
    if (std::exchange(m_scheduled, true))
        return;
    QMetaObject::invokeMethod(this, &CompareState::compareNow, Qt::QueuedConnection);
}

void CompareState::compareNow()
{
    m_scheduled = false;
    const bool both = session(Which::A).replay() && session(Which::B).replay();
    if (!both) {
        m_task.cancel();
        m_tableTask.cancel();
        m_comparison.reset();
        m_alignment.reset();
        m_table.reset();
        m_group.reset();
        emit changed();
        emit busyChanged();
        return;
    }
    m_task.request([a = sideOf(Which::A), b = sideOf(Which::B), wish = m_wish](
                       const Job& job) { return compareSides(a, b, wish, job); });
    emit busyChanged();
}

void CompareState::take(std::shared_ptr<const Comparison> made)
{
    const bool fits = made && made->a.rank == session(Which::A).rank()
        && made->b.rank == session(Which::B).rank() && made->a.device == session(Which::A).deviceIndex()
        && made->b.device == session(Which::B).deviceIndex();
    if (!fits) {
        emit busyChanged();
        return;
    }
    const bool first = !m_comparison || m_comparison->a.rank != made->a.rank
        || m_comparison->b.rank != made->b.rank || m_comparison->a.device != made->a.device
        || m_comparison->b.device != made->b.device;
    const bool otherAxis = first || m_comparison->alignment.by() != made->alignment.by();
    const bool otherGroups = first || m_comparison->matching->by != made->matching->by;
    m_comparison = std::move(made);
    m_alignment = std::make_shared<Alignment>(
        m_offset == 0 ? m_comparison->alignment : m_comparison->alignment.withOffset(m_offset));
    m_table = std::make_shared<compare::Table>(m_comparison->table);
    if (otherGroups)
        m_group.reset();
    share();
    if (otherAxis)
        m_window = {0, m_alignment->length()};
    setWindow(m_window);
    emit changed();
    emit alignmentChanged();
    emit windowChanged();
    makeTable();
    if (first || otherAxis || m_at == At::Moments)
        placeCursors();
    emit busyChanged();
}

// At each peak, or at two moments: both sides show what the table speaks of.
void CompareState::placeCursors()
{
    const bool moments = m_at == At::Moments;
    const StateIndex a = moments ? *m_wish.stateA : m_comparison->peakStateA;
    const StateIndex b = moments ? *m_wish.stateB : m_comparison->peakStateB;
    m_cursor = m_alignment->xOf(Which::A, a);
    m_linking = true;
    view(Which::A).setCursor(a);
    view(Which::B).setCursor(b);
    m_linking = false;
    m_apart = m_alignment->stateOf(Which::B, m_cursor) != b;
    emit cursorChanged();
}

// What both timelines draw on: axis, colours, height.
void CompareState::share()
{
    std::int64_t highest = std::max(m_comparison->peak.a, m_comparison->peak.b);
    for (const Which side : {Which::A, Which::B}) // reserved is drawn in both plots, too
        if (const auto replay = session(side).replay(); replay->segments.reservedKnown())
            highest = std::max(highest, replay->segments.reserved().total().max);
    m_linking = true;
    for (const Which side : {Which::A, Which::B}) {
        session(side).setShared(knotsOf(side), coloursOf(side), highest);
        view(side).setAxis(XAxis::Aligned);
        view(side).setColourBy(ColourBy::Site);
        view(side).setStackOrder(StackOrder::Group); // bands that can be held against each other
    }
    m_linking = false;
}

std::shared_ptr<const AxisKnots> CompareState::knotsOf(Which side) const
{
    const Alignment& alignment = *m_alignment;
    const auto replay = session(side).replay();
    auto axis = std::make_shared<AxisKnots>();
    const auto states = static_cast<double>(replay->states());
    // B may be moved against the alignment.
    const double shift = side == Which::B ? static_cast<double>(alignment.offset()) : 0.0;
    const auto add = [&](double state, double x) {
        AxisKnots::Knot knot{std::clamp(state + shift, 0.0, states), x};
        if (!axis->knots.empty()) {
            knot.state = std::max(knot.state, axis->knots.back().state);
            knot.x = std::max(knot.x, axis->knots.back().x);
        }
        axis->knots.push_back(knot);
    };
    if (alignment.by() == AlignBy::Time) {
        const double least = replay->states() > mostKnots ? alignment.length() / thinned : 0;
        double last = -1;
        for (StateIndex s = 0; s < replay->states(); ++s) {
            const double x = alignment.xOf(side, s);
            if (s > 0 && x - last <= least)
                continue;
            add(static_cast<double>(s) - shift, x);
            last = x;
        }
        axis->knots.front().x = 0;
        add(states - shift, std::max(alignment.length(), axis->knots.back().x + 1));
    } else {
        for (const compare::AlignedPart& part : alignment.parts()) {
            add(side == Which::A ? part.firstA : part.firstB, part.x0);
            add(side == Which::A ? part.endA : part.endB, part.x1);
        }
    }
    for (const compare::AlignedPart& part : alignment.parts())
        if (part.startsStep)
            axis->ticks.push_back({part.x0, part.name});
    if (axis->knots.size() < 2)
        return nullptr;
    return axis;
}

// A group has one colour on both sides; the legend's groups are those of the side.
std::shared_ptr<const Colouring> CompareState::coloursOf(Which side) const
{
    const compare::Matching& sites = *m_comparison->sites;
    const auto common = commonColouring(sites, side == Which::A ? m_comparison->a : m_comparison->b, side);
    auto colours = std::make_shared<Colouring>(*common);
    for (LegendItem& item : colours->legend)
        if (item.group < sites.groups.size())
            item.group = side == Which::A ? sites.groups[item.group].groupA : sites.groups[item.group].groupB;
    return colours;
}

void CompareState::setAlign(std::optional<AlignBy> by)
{
    if (by == m_wish.align)
        return;
    m_wish.align = by;
    m_offset = 0;
    follow();
}

void CompareState::setGroupBy(GroupBy by)
{
    if (by == m_wish.by)
        return;
    m_wish.by = by;
    follow();
}

void CompareState::setAt(At at)
{
    if (at == m_at || (at == At::Moments && !hasMoments()))
        return;
    m_at = at;
    if (m_comparison && (at == At::Peaks || at == At::Moments))
        placeCursors();
    else if (m_comparison)
        setCursor(m_cursor); // both at one place again
    makeTable();
}

void CompareState::setOffset(std::int64_t states)
{
    if (!m_comparison || states == m_offset)
        return;
    m_offset = states;
    m_alignment = std::make_shared<Alignment>(m_comparison->alignment.withOffset(states));
    share();
    m_linking = true;
    view(Which::B).setCursor(m_alignment->stateOf(Which::B, m_cursor));
    m_linking = false;
    emit alignmentChanged();
    if (m_at == At::Cursor || m_at == At::Step)
        makeTable();
}

void CompareState::setCursor(double x)
{
    if (!m_alignment)
        return;
    m_cursor = std::clamp(x, 0.0, m_alignment->length());
    m_apart = false;
    m_linking = true;
    for (const Which side : {Which::A, Which::B})
        view(side).setCursor(m_alignment->stateOf(side, m_cursor));
    m_linking = false;
    emit cursorChanged();
    if (m_at == At::Cursor || m_at == At::Step)
        makeTable();
}

void CompareState::setWindow(const XWindow& wanted)
{
    if (!m_alignment)
        return;
    const double length = m_alignment->length();
    const double width = std::clamp(wanted.right - wanted.left, std::min(narrowest, length), length);
    const double left = std::clamp(wanted.left, 0.0, length - width);
    const XWindow window{left, left + width};
    m_linking = true;
    for (const Which side : {Which::A, Which::B})
        view(side).setWindow(window);
    m_linking = false;
    if (window == m_window)
        return;
    m_window = window;
    emit windowChanged();
}

void CompareState::link(Which from)
{
    if (m_linking || !m_alignment)
        return;
    m_cursor = m_alignment->xOf(from, view(from).cursor());
    m_apart = false;
    m_linking = true;
    view(otherThan(from)).setCursor(m_alignment->stateOf(otherThan(from), m_cursor));
    m_linking = false;
    emit cursorChanged();
    if (m_at == At::Cursor || m_at == At::Step)
        makeTable();
}

void CompareState::linkWindow(Which from)
{
    if (m_linking || !m_alignment || view(from).axis() != XAxis::Aligned)
        return;
    setWindow(view(from).window());
}

// What is chosen on one side is the group of the table, and chosen on the other side too.
void CompareState::linkSelection(Which from)
{
    if (m_linking || !m_comparison)
        return;
    const compare::Matching& matching = *m_comparison->matching;
    const Grouping& grouping = from == Which::A ? *matching.groupingA : *matching.groupingB;
    const auto& common = from == Which::A ? matching.commonOfA : matching.commonOfB;
    const Selection& selection = view(from).selection();
    std::optional<std::uint32_t> group;
    if (selection.kind == Selection::Kind::Allocation)
        group = common[grouping.of(selection.allocation)];
    else if (selection.kind == Selection::Kind::Group && selection.groupBy == matching.by
        && selection.group < common.size())
        group = common[selection.group];
    m_group = group;
    m_linking = true;
    if (selection.kind == Selection::Kind::None || !group)
        view(otherThan(from)).clearSelection();
    else
        showGroup(otherThan(from));
    m_linking = false;
    emit groupChanged();
}

void CompareState::showGroup(Which side)
{
    const CommonGroup& common = m_comparison->matching->groups[*m_group];
    const std::uint32_t group = side == Which::A ? common.groupA : common.groupB;
    Selection selection;
    if (group == CommonGroup::none) { // nothing of this side: all of it fades, as what is not chosen does
        auto nothing = std::make_shared<ChosenSet>();
        nothing->name = tr("%1: not on this side").arg(shownText(common.name));
        nothing->kind = tr("call site of the other run");
        nothing->flags.assign(session(side).replay()->timeline.allocations().count(), 0);
        selection.kind = Selection::Kind::Set;
        selection.set = std::move(nothing);
        view(side).select(selection);
        return;
    }

    selection.kind = Selection::Kind::Group;
    selection.group = group;
    selection.groupBy = m_comparison->matching->by;
    view(side).select(selection);
}

void CompareState::setGroup(std::optional<std::uint32_t> group)
{
    if (!m_comparison || group == m_group)
        return;
    m_group = group;
    m_linking = true;
    for (const Which side : {Which::A, Which::B}) {
        if (group)
            showGroup(side);
        else
            view(side).clearSelection();
    }
    m_linking = false;
    emit groupChanged();
}

void CompareState::makeTable()
{
    if (!m_comparison)
        return;
    const auto comparison = m_comparison;
    // The comparison itself has one of these two; the other one is quick.
    const bool own = (m_at == At::Moments) == hasMoments();
    if ((m_at == At::Peaks || m_at == At::Moments) && own) {
        m_tableTask.cancel();
        m_table = std::make_shared<compare::Table>(comparison->table);
        emit tableChanged();
        return;
    }
    const StateIndex a = m_at == At::Peaks ? comparison->peakStateA : view(Which::A).cursor();
    const StateIndex b = m_at == At::Peaks ? comparison->peakStateB : view(Which::B).cursor();
    const Step* const stepA
        = m_at == At::Step && comparison->a.phases ? comparison->a.phases->stepAt(a) : nullptr;
    const Step* const stepB
        = m_at == At::Step && comparison->b.phases ? comparison->b.phases->stepAt(b) : nullptr;
    // A step's first state is the one after its first event.
    const auto range
        = [](const Step& step) { return Scope::range(step.first > 0 ? step.first - 1 : 0, step.last); };
    if (stepA && stepB)
        m_tableTask.request([comparison, scopeA = range(*stepA), scopeB = range(*stepB)](const Job& job) {
            return MadeTable{comparison,
                std::make_shared<compare::Table>(tableOver(comparison->a, comparison->b,
                    *comparison->matching, scopeA, scopeB, ScopePart::Allocated, job))};
        });
    else
        m_tableTask.request([comparison, a, b](const Job&) {
            return MadeTable{comparison,
                std::make_shared<compare::Table>(
                    tableAt(comparison->a, comparison->b, *comparison->matching, a, b))};
        });
    emit busyChanged();
}

QString CompareState::atText() const
{
    if (!m_comparison || !m_table)
        return {};
    if (m_table->scopeA.kind == Scope::Kind::Range) {
        const Step* const step = m_comparison->a.phases->stepAt(m_table->scopeA.last);
        return step ? tr("allocated in %1").arg(shownText(step->name)) : tr("allocated in a step");
    }
    if (m_at == At::Moments)
        return tr("at the two moments");
    if (m_at == At::Peaks)
        return tr("at the peak of each");
    return m_at == At::Cursor ? tr("at the cursor") : tr("at the cursor, which is in no step of both");
}

} // namespace tidemark
