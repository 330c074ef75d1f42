// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/ranks_model.hpp"

#include "model/job/run_rule.hpp"
#include "widgets/style/text.hpp"

#include <QFileInfo>

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

std::optional<int> coordinate(const ParallelRole& role, RankGrouping grouping)
{
    switch (grouping) {
    case RankGrouping::Data:
        return role.data;
    case RankGrouping::Tensor:
        return role.tensor;
    case RankGrouping::Expert:
        return role.expert;
    default:
        return std::nullopt;
    }
}

QString groupTitle(RankGrouping grouping, int number)
{
    switch (grouping) {
    case RankGrouping::Data:
        return RanksModel::tr("Data-parallel rank %1").arg(number);
    case RankGrouping::Tensor:
        return RanksModel::tr("Tensor-parallel rank %1").arg(number);
    default:
        return RanksModel::tr("Expert-parallel rank %1").arg(number);
    }
}

/// The rules that found something on a rank, the gravest first; the whole sentence is in the tooltip.
std::string foundShort(const RankSummary& summary, const RankStanding& standing)
{
    std::string text;
    for (const Finding& finding : summary.findings)
        if (text.find(finding.rule) == std::string::npos)
            text += (text.empty() ? "" : ", ") + finding.rule;
    return text.empty() ? standing.worstTitle : text;
}

QString firstUpper(QString text)
{
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

} // namespace

RanksModel::RanksModel(Style& style, QObject* parent)
    : QAbstractItemModel(parent)
    , m_style(style)
{ }

std::vector<RankGrouping> RanksModel::useful(const SummarisedJob& job)
{
    std::vector<RankGrouping> all{RankGrouping::None};
    if (job.diagnosis.roles.groups.size() > 1)
        all.push_back(RankGrouping::Role);
    for (const RankGrouping each : {RankGrouping::Data, RankGrouping::Tensor, RankGrouping::Expert}) {
        std::optional<int> first;
        for (const ParallelRole& role : job.diagnosis.roles.roles)
            if (const auto number = coordinate(role, each)) {
                if (first && *first != *number) {
                    all.push_back(each);
                    break;
                }
                first = number;
            }
    }
    return all;
}

void RanksModel::setJob(std::shared_ptr<const SummarisedJob> job, RankGrouping grouping)
{
    beginResetModel();
    m_job = std::move(job);
    m_groups.clear();
    m_scale = 1;
    if (m_job)
        build(grouping);
    endResetModel();
}

void RanksModel::build(RankGrouping grouping)
{
    const SummarisedJob& job = *m_job;
    const RoleMap& map = job.diagnosis.roles;
    std::map<std::pair<int, std::size_t>, Group> groups; // those without a number stand behind
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        RankRow row;
        row.summary = i;
        row.rank = job.ranks[i].rank;
        std::pair<int, std::size_t> key{0, 0};
        QString title;
        if (grouping == RankGrouping::Role && i < map.roles.size()) {
            key.second = map.roles[i].group;
            title = shownText(map.groups[key.second].label);
            if (map.groups[key.second].stage)
                title = tr("Pipeline stage %1").arg(*map.groups[key.second].stage);
        } else if (grouping != RankGrouping::None && i < map.roles.size()) {
            const auto number = coordinate(map.roles[i], grouping);
            key = number ? std::pair{0, static_cast<std::size_t>(*number)} : std::pair{1, std::size_t{0}};
            title = number ? groupTitle(grouping, *number) : tr("Others");
        }
        Group& group = groups[key];
        group.title = firstUpper(title);
        group.rows.push_back(row);
        const RankStanding& standing = job.diagnosis.ranks[i];
        m_scale = std::max(m_scale, job.ranks[i].live.bytes);
        if (job.ranks[i].reserved)
            m_scale = std::max(m_scale, job.ranks[i].reserved->bytes);
        if (standing.capacity)
            m_scale = std::max(m_scale, static_cast<std::int64_t>(*standing.capacity));
    }
    Group& rest = groups[{2, 0}];
    rest.title = grouping == RankGrouping::None ? QString() : tr("Without figures");
    for (std::size_t i = 0; i < job.job.bad.size(); ++i)
        rest.rows.push_back({RankRow::Kind::Bad, 0, job.job.bad[i].rank, i});
    for (const int rank : job.job.missing)
        if (std::none_of(
                job.job.bad.begin(), job.job.bad.end(), [&](const BadFile& bad) { return bad.rank == rank; }))
            rest.rows.push_back({RankRow::Kind::Missing, 0, rank, 0});
    if (grouping == RankGrouping::None && !rest.rows.empty()) {
        Group& first = groups[{0, 0}];
        first.rows.insert(first.rows.end(), rest.rows.begin(), rest.rows.end());
        rest.rows.clear();
    }
    for (auto& [key, group] : groups)
        if (!group.rows.empty())
            m_groups.push_back(std::move(group));
    sortRows();
}

void RanksModel::setStep(const std::string& step)
{
    if (step == m_step)
        return;
    m_step = step;
    if (m_sortColumn == Bar || m_sortColumn == Live || m_sortColumn == Held)
        sort(m_sortColumn, m_order);
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        if (const int rows = static_cast<int>(m_groups[g].rows.size()); rows > 0)
            emit dataChanged(createIndex(0, 0, static_cast<quintptr>(g)),
                createIndex(rows - 1, ColumnCount - 1, static_cast<quintptr>(g)));
    emit headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

const StepPeak* RanksModel::stepOf(const RankSummary& summary) const
{
    return m_step.empty() ? nullptr : stepPeak(summary, m_step);
}

QStringList RanksModel::others(const QModelIndex& at) const
{
    QStringList out;
    const RankSummary* shown = summary(at);
    if (!shown || !shown->rank)
        return out;
    if (const RankFiles* files = m_job->job.find(*shown->rank))
        for (const RankFile& file : files->files)
            if (!file.superseded.empty())
                out << tr("%1: %2").arg(shownText(file.path.filename().string()), shownText(file.superseded));
    return out;
}

std::optional<std::int64_t> RanksModel::sortKey(const RankRow& row, int column) const
{
    if (row.kind != RankRow::Kind::Rank)
        return column == Name && row.rank ? std::optional<std::int64_t>(*row.rank) : std::nullopt;
    const RankSummary& summary = m_job->ranks[row.summary];
    const RankStanding& standing = m_job->diagnosis.ranks[row.summary];
    const StepPeak* at = stepOf(summary);
    switch (column) {
    case Bar:
    case Live:
        if (!m_step.empty())
            return at ? std::optional(at->live) : std::nullopt;
        return summary.live.bytes;
    case Curve:
        return summary.live.bytes;
    case Held:
        if (!m_step.empty())
            return at ? at->reserved : std::nullopt;
        return summary.reserved ? std::optional(summary.reserved->bytes) : std::nullopt;
    case Room:
        return standing.headroom;
    case Place:
        return static_cast<std::int64_t>(m_job->diagnosis.roles.roles[row.summary].group);
    case Found:
        return standing.worst ? 1 + static_cast<std::int64_t>(*standing.worst) : 0;
    default:
        return row.rank ? *row.rank : INT32_MAX + static_cast<std::int64_t>(row.summary);
    }
}

void RanksModel::sortRows()
{
    for (Group& group : m_groups)
        std::stable_sort(group.rows.begin(), group.rows.end(), [&](const RankRow& a, const RankRow& b) {
            const auto x = sortKey(a, m_sortColumn);
            const auto y = sortKey(b, m_sortColumn);
            if (!x || !y)
                return x.has_value() && !y; // what is not known stands last either way
            return m_order == Qt::AscendingOrder ? *x < *y : *y < *x;
        });
}

void RanksModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0)
        return;
    emit layoutAboutToBeChanged();
    const QModelIndexList old = persistentIndexList();
    std::vector<std::optional<std::size_t>> which;
    for (const QModelIndex& each : old) {
        const RankRow* kept = row(each);
        which.push_back(
            kept && kept->kind == RankRow::Kind::Rank ? std::optional(kept->summary) : std::nullopt);
    }
    m_sortColumn = column;
    m_order = order;
    sortRows();
    QModelIndexList now;
    for (qsizetype i = 0; i < old.size(); ++i) {
        const auto summary = which[static_cast<std::size_t>(i)];
        const QModelIndex place = summary ? indexOf(*summary) : old[i];
        now << (summary ? place.siblingAtColumn(old[i].column()) : place);
    }
    changePersistentIndexList(old, now);
    emit layoutChanged();
}

const RankRow* RanksModel::row(const QModelIndex& at) const
{
    if (!at.isValid() || isHeading(at))
        return nullptr;
    const Group& group = m_groups[at.internalId()];
    return static_cast<std::size_t>(at.row()) < group.rows.size()
        ? &group.rows[static_cast<std::size_t>(at.row())]
        : nullptr;
}

const RankSummary* RanksModel::summary(const QModelIndex& at) const
{
    const RankRow* each = row(at);
    return each && each->kind == RankRow::Kind::Rank ? &m_job->ranks[each->summary] : nullptr;
}

const RankStanding* RanksModel::standing(const QModelIndex& at) const
{
    const RankRow* each = row(at);
    return each && each->kind == RankRow::Kind::Rank ? &m_job->diagnosis.ranks[each->summary] : nullptr;
}

QModelIndex RanksModel::indexOf(std::size_t summary) const
{
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        for (std::size_t i = 0; i < m_groups[g].rows.size(); ++i)
            if (m_groups[g].rows[i].kind == RankRow::Kind::Rank && m_groups[g].rows[i].summary == summary)
                return createIndex(static_cast<int>(i), 0, static_cast<quintptr>(g));
    return {};
}

QString RanksModel::headingNote(const QModelIndex& at) const
{
    if (!isHeading(at))
        return {};
    std::vector<std::int64_t> peaks;
    for (const RankRow& each : m_groups[static_cast<std::size_t>(at.row())].rows)
        if (each.kind == RankRow::Kind::Rank)
            peaks.push_back(m_job->ranks[each.summary].live.bytes);
    const std::size_t count = peaks.size();
    if (count == 0)
        return {};
    const auto [low, high] = std::minmax_element(peaks.begin(), peaks.end());
    const QString ends = *low == *high ? QString() : tr(" · %1 to %2").arg(bytesText(*low), bytesText(*high));
    const QString median = bytesText(medianOf(peaks));
    return (count == 1 ? tr("1 rank · peak live %1").arg(median)
                       : tr("%1 ranks · median peak live %2")
                             .arg(countText(static_cast<std::uint64_t>(count)), median))
        + ends;
}

QModelIndex RanksModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : heading);
}

QModelIndex RanksModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || isHeading(child))
        return {};
    return createIndex(static_cast<int>(child.internalId()), 0, heading);
}

int RanksModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_groups.size());
    return isHeading(parent) && parent.column() == 0
        ? static_cast<int>(m_groups[static_cast<std::size_t>(parent.row())].rows.size())
        : 0;
}

int RanksModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant RanksModel::text(const RankRow& each, int column) const
{
    if (each.kind != RankRow::Kind::Rank) {
        if (column == Name)
            return each.rank ? QString::number(*each.rank) : QStringLiteral("–");
        if (column == Bar)
            return each.kind == RankRow::Kind::Missing
                ? tr("No file for this rank. A failing rank leaves one only when it records.")
                : shownText(m_job->job.bad[each.bad].error.message);
        return {};
    }
    const RankSummary& summary = m_job->ranks[each.summary];
    const RankStanding& standing = m_job->diagnosis.ranks[each.summary];
    const StepPeak* at = stepOf(summary);
    switch (column) {
    case Name:
        return summary.rank ? QString::number(*summary.rank) : shownText(summary.file.filename().string());
    case Place: {
        const ParallelRole& role = m_job->diagnosis.roles.roles[each.summary];
        return shownText(role.detail.empty() ? role.label : role.detail);
    }
    case Bar:
    case Live:
        if (!m_step.empty())
            return at ? bytesText(at->live) : QStringLiteral("–");
        return bytesText(summary.live.bytes);
    case Held:
        if (!m_step.empty())
            return at && at->reserved ? bytesText(*at->reserved) : QStringLiteral("–");
        return summary.reserved ? bytesText(summary.reserved->bytes) : QStringLiteral("–");
    case Room:
        return standing.headroom ? bytesText(*standing.headroom) : QStringLiteral("–");
    case Curve:
        return summary.oom ? tr("out of memory") : QString();
    case Found:
        return standing.worst ? shownText(foundShort(summary, standing)) : QStringLiteral("–");
    default:
        return {};
    }
}

QVariant RanksModel::data(const QModelIndex& at, int role) const
{
    if (!at.isValid() || !m_job)
        return {};
    if (isHeading(at)) {
        const Group& group = m_groups[static_cast<std::size_t>(at.row())];
        if (role == Qt::DisplayRole && at.column() == 0)
            return group.title.isEmpty() ? tr("All ranks") : group.title;
        if (role == Qt::AccessibleTextRole)
            return group.title + QStringLiteral(": ") + headingNote(at.siblingAtColumn(0));
        return {};
    }
    const RankRow* each = row(at);
    if (!each)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return text(*each, at.column());
    case Qt::TextAlignmentRole:
        return at.column() == Live || at.column() == Held || at.column() == Room
            ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
            : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::ToolTipRole: {
        if (each->kind == RankRow::Kind::Bad)
            return QString::fromStdString(m_job->job.bad[each->bad].path.string());
        const RankSummary* full = summary(at);
        const RankStanding* stand = standing(at);
        if (!full)
            return text(*each, Bar);
        if (at.column() == Name && !others(at).isEmpty())
            return others(at)
                .join(QLatin1Char('\n'))
                .toHtmlEscaped()
                .replace(QLatin1Char('\n'), QStringLiteral("<br>"));
        if (at.column() == Found || at.column() == Name)
            return stand->outlier ? shownText(stand->reason).toHtmlEscaped()
                                  : shownText(stand->worstTitle).toHtmlEscaped();
        const StepPeak* step = stepOf(*full);
        if (!m_step.empty() && !step && (at.column() == Live || at.column() == Held || at.column() == Bar))
            return tr("This rank recorded no %1 that can be compared.").arg(shownText(m_step));
        if (step && at.column() == Live)
            return exactBytesText(step->live);
        if (step && at.column() == Held)
            return step->reserved ? exactBytesText(*step->reserved) : tr("This file lists no segments.");
        if (at.column() == Room && stand->capacity)
            return tr("of %1, known from %2")
                .arg(bytesText(*stand->capacity), shownText(stand->capacityFrom));
        if (at.column() == Live)
            return exactBytesText(full->live.bytes);
        if (at.column() == Held && full->reserved)
            return exactBytesText(full->reserved->bytes);
        return QString::fromStdString(full->file.string());
    }
    case ErrorRole:
        return each->kind == RankRow::Kind::Rank ? QVariant() : text(*each, Bar);
    case SortRole:
        if (const auto key = sortKey(*each, at.column()))
            return QVariant::fromValue<qlonglong>(*key);
        return {};
    case Qt::ForegroundRole:
        if (const RankSummary* full = summary(at); full && full->oom && at.column() == Room)
            return m_style.color(Tone::Crit);
        return {};
    default:
        return {};
    }
}

QVariant RanksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole && section >= Live && section <= Room)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == Bar && m_step.empty())
        return tr("What is live at the rank's own peak, by label; hatched: what is reserved beyond it");
    if (role == Qt::ToolTipRole && section == Curve)
        return tr("Live and reserved over the recording");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("Rank");
    case Place:
        return tr("Role");
    case Bar:
        return m_step.empty() ? tr("Peak by label") : tr("Highest in %1").arg(shownText(m_step));
    case Live:
        return tr("Live");
    case Held:
        return tr("Reserved");
    case Room:
        return tr("Headroom");
    case Curve:
        return tr("Over the recording");
    case Found:
        return tr("Findings");
    default:
        return {};
    }
}

} // namespace tidemark
