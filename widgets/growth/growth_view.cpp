// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/growth/growth_view.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/footer.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr std::array groups{GroupBy::Site, GroupBy::Label, GroupBy::Role};

/// The live table's look, and a strip of one cell a step.
class StripDelegate : public LiveTableDelegate {
public:
    StripDelegate(const Style& style, QObject* parent)
        : LiveTableDelegate(style, parent)
        , m_look(style)
    {
        setShareColumn(-1);
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        LiveTableDelegate::paint(painter, option, index);
        if (index.column() != GrowthModel::Steps)
            return;
        const auto shares = index.data(GrowthModel::StripRole).value<QList<double>>();
        if (shares.isEmpty())
            return;
        const bool selected = option.state & QStyle::State_Selected;
        const QRect area = option.rect.adjusted(m_look.metrics().px(7), 3, -m_look.metrics().px(7), -3);
        const double cell = static_cast<double>(area.width()) / static_cast<double>(shares.size());
        for (qsizetype i = 0; i < shares.size(); ++i) {
            const double share = std::clamp(shares[i], 0.0, 1.0);
            const int left = area.left() + static_cast<int>(cell * static_cast<double>(i));
            const int right = area.left() + static_cast<int>(cell * static_cast<double>(i + 1));
            // Height and ink both say how much: colour never stands alone.
            const int height = share > 0 ? std::max(1, static_cast<int>(area.height() * share)) : 0;
            QColor ink = m_look.color(selected ? Tone::SelText : Tone::Sel);
            ink.setAlphaF(static_cast<float>(0.35 + 0.65 * share));
            painter->fillRect(QRect(left, area.bottom() + 1 - height,
                                  std::max(1, right - left - (cell > 3 ? 1 : 0)), height),
                ink);
        }
    }

private:
    const Style& m_look;
};

} // namespace

GrowthView::GrowthView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_model(new GrowthModel(this))
    , m_delegate(new StripDelegate(style, this))
    , m_table(new CopyTable([this] { return m_model->copyText(); }, this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_footer(new Footer(style, this))
    , m_foot(new QLabel(m_footer))
    , m_groups(new Segmented(style, {tr("Site"), tr("Module"), tr("Role")}, m_footer))
    , m_choice(session, state)
    , m_refresher(*this, [this] { refresh(); })
    , m_task([this](Made&& made) { take(std::move(made)); })
{
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSortingEnabled(true);
    m_table->horizontalHeader()->setSectionsClickable(true);
    m_table->setAccessibleName(tr("Growth"));
    m_table->horizontalHeader()->setSortIndicator(GrowthModel::Kept, Qt::DescendingOrder);
    m_groups->setAccessibleName(tr("Group by"));
    m_groups->setLogicalHeight(18);
    m_foot->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* row = new QHBoxLayout(m_footer);
    row->addWidget(m_foot, 1);
    row->addWidget(m_groups);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_footer);
    const auto schedule = [this] { m_refresher.schedule(); };
    const auto forget = [this] {
        m_preparing = false;
        m_task.cancel();
        m_model->show(nullptr, nullptr, nullptr);
        m_refresher.schedule();
    };
    connect(&session, &Session::opened, this, forget);
    connect(&session, &Session::deviceChanged, this, forget);
    connect(&session, &Session::siteModeChanged, this, schedule);
    connect(&session, &Session::diagnosisChanged, this, schedule);
    connect(&state, &ViewState::rangeChanged, this, schedule);
    connect(&state, &ViewState::matchesChanged, this, schedule);
    connect(&state, &ViewState::colourByChanged, this, schedule);
    connect(&style, &Style::changed, this, &GrowthView::restyle);
    connect(m_groups, &Segmented::chosen, this,
        [this](int part) { setGroupBy(groups[static_cast<std::size_t>(part)]); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &GrowthView::chosen);
    restyle();
}

GrowthView::~GrowthView()
{
    m_table->selectionModel()->disconnect(this);
}

void GrowthView::setGroupBy(GroupBy by)
{
    m_by = by;
    m_groups->setCurrent(static_cast<int>(std::find(groups.begin(), groups.end(), by) - groups.begin()));
    m_refresher.schedule();
}

void GrowthView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->setFont(m_style.font(FontRole::Base));
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setFixedHeight(metrics.header);
    const QFontMetrics font(m_style.font(FontRole::Base));
    const int bytes
        = font.horizontalAdvance(QStringLiteral("1,023 MiB")) + 2 * metrics.px(9) + metrics.px(14);
    for (const int section : {GrowthModel::Allocated, GrowthModel::Freed, GrowthModel::Kept})
        header->resizeSection(section, bytes);
    header->resizeSection(GrowthModel::Count, metrics.px(64));
    header->resizeSection(GrowthModel::Trend, metrics.px(68));
    header->setSectionResizeMode(GrowthModel::Key, QHeaderView::Stretch);
    m_foot->setFont(m_style.font(FontRole::Small));
    m_groups->setFont(m_style.font(FontRole::Small));
    m_footer->setFixedHeight(metrics.header);
    m_footer->layout()->setContentsMargins(metrics.padding, 1, metrics.unit, 0);
    m_table->viewport()->update();
    fitColumns();
}

/// Names need room: what can do without is left out of a narrow pane.
void GrowthView::fitColumns()
{
    const Metrics& metrics = m_style.metrics();
    const bool narrow = width() < metrics.px(720);
    m_table->setColumnHidden(GrowthModel::Freed, narrow);
    m_table->setColumnHidden(GrowthModel::Count, narrow);
    m_table->horizontalHeader()->resizeSection(GrowthModel::Steps, metrics.px(narrow ? 96 : 190));
}

void GrowthView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitColumns();
}

void GrowthView::refresh()
{
    m_refresher.done();
    const auto replay = m_session.replay();
    if (!replay || replay->states() < 2) {
        m_task.cancel();
        m_model->show(nullptr, nullptr, nullptr);
        showEmpty();
        return;
    }
    const bool labelled = m_session.labels() != nullptr;
    m_groups->setPartEnabled(1, labelled);
    m_groups->setPartEnabled(2, labelled);
    const LookupWish lookups{{labelled ? m_by : GroupBy::Site}, {m_state.colourBy()}};
    m_preparing = !m_session.isPrepared(lookups);
    if (m_preparing) {
        m_session.prepare(*this, lookups, [this] { m_refresher.schedule(); });
        return;
    }
    const auto grouping = m_session.grouping(lookups.groupings.front());
    const Scope scope = m_state.range() ? Scope::range(std::min(m_state.range()->first, replay->states() - 1),
                            std::min(m_state.range()->second, replay->states() - 1))
                                        : Scope::trace(*replay);
    m_task.request(
        [replay, grouping, scope, phases = m_session.phases(), matches = m_state.matches()](const Job& job) {
            auto table = buildGrowth(*replay, *grouping, scope, phases.get(), matches.get(), job);
            return Made{
                replay, grouping, table ? std::make_shared<const GrowthTable>(std::move(*table)) : nullptr};
        });
}

void GrowthView::take(Made&& made)
{
    if (!made.table || made.replay != m_session.replay())
        return;
    m_following = true;
    m_model->show(made.table, made.grouping, m_session.colouring(m_state.colourBy()));
    const QHeaderView* const header = m_table->horizontalHeader();
    m_model->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
    m_following = false;
    const GrowthTable& table = *made.table;
    if (table.rows.empty()) {
        showEmpty();
        return;
    }
    m_table->setColumnHidden(GrowthModel::Steps, table.steps.size() < 2);
    m_table->setColumnHidden(GrowthModel::Trend, table.steps.size() < 3);
    m_stack->setCurrentWidget(m_table);
    const GrowthRow& sum = table.sum;
    const std::uint64_t older = sum.freedBytes + sum.keptBytes - sum.allocatedBytes;
    QString freed = tr("%1 freed").arg(bytesText(sum.freedBytes));
    if (older > 0)
        freed += tr(", of it %1 older").arg(bytesText(older));
    const QString allocated = table.filtered
        ? tr("%1 of %2").arg(bytesText(sum.matchedBytes), bytesText(sum.allocatedBytes))
        : bytesText(sum.allocatedBytes);
    const QString text = tr("Σ %1 allocated in %2 allocations, %3, %4 kept: live %5")
                             .arg(allocated, countText(sum.allocated), freed, bytesText(sum.keptBytes),
                                 deltaText(static_cast<std::int64_t>(sum.allocatedBytes - sum.freedBytes)));
    m_foot->setText(text);
    m_foot->setToolTip(text);
    setWindowTitle(table.scope.kind == Scope::Kind::Range
            ? tr("in the range, %1 events")
                  .arg(countText(static_cast<std::int64_t>(table.scope.last) - table.scope.first))
            : tr("in the whole trace"));
}

void GrowthView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("table");
    const auto replay = m_session.replay();
    if (!m_session.rank()) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to see what grows in it.");
    } else if (!replay || replay->states() < 2) {
        content.heading = tr("This file has no history");
        content.sentence = tr("What came and went is told by events. Record them:");
        content.code = EmptyState::recordingLines();
    } else {
        content.heading = tr("Nothing came or went in the range");
        content.actions = {{tr("Show the whole trace"), QStringLiteral("clear"),
            [this] { m_state.setRange(std::nullopt); }, true}};
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    m_foot->clear();
    setWindowTitle({});
}

QString GrowthView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString GrowthView::footText() const
{
    return m_foot->text();
}

/// The survivors of the row, which are what grew; all of the group when there are none.
void GrowthView::chosen(const QModelIndex& at)
{
    const auto replay = m_session.replay();
    if (m_following || !at.isValid() || !replay)
        return;
    const GrowthRow& row = m_model->row(at.row());
    const auto grouping = m_session.grouping(m_model->table()->by);
    if (row.kept == 0) {
        Selection selection;
        selection.kind = Selection::Kind::Group;
        selection.group = row.group;
        selection.groupBy = m_model->table()->by;
        m_state.select(selection);
        return;
    }
    m_choice.choose(tr("%1, kept").arg(m_model->name(at.row())), tr("allocated in the range and kept"),
        [=, group = row.group, scope = m_model->table()->scope] {
            return keptIn(*replay, *grouping, group, scope);
        });
}

} // namespace tidemark
