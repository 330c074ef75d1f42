// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/ranks_view.hpp"

#include "widgets/common/wrapped_label.hpp"
#include "widgets/common/wrapping_row.hpp"
#include "widgets/ranks/rank_delegate.hpp"
#include "widgets/ranks/rank_painter.hpp"
#include "widgets/ranks/rank_plots.hpp"
#include "widgets/ranks/run_panel.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QMouseEvent>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr std::size_t denseFrom = 64; ///< ranks
constexpr std::size_t foldedFrom = 512;
constexpr std::size_t legendItems = 9;
constexpr int narrowPicture = 900; // pixels

QString groupingName(RankGrouping grouping)
{
    switch (grouping) {
    case RankGrouping::None:
        return RanksView::tr("none");
    case RankGrouping::Role:
        return RanksView::tr("role");
    case RankGrouping::Data:
        return RanksView::tr("data parallel");
    case RankGrouping::Tensor:
        return RanksView::tr("tensor parallel");
    case RankGrouping::Expert:
        return RanksView::tr("expert parallel");
    }
    return {};
}

/// A name and the control it is for, kept together.
QWidget* named(const QString& name, std::initializer_list<QWidget*> controls, QWidget* parent)
{
    auto* box = new QWidget(parent);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(new QLabel(name, box));
    for (QWidget* control : controls)
        row->addWidget(control);
    return box;
}

/// Letters are commands everywhere: no type-ahead.
class RankTable : public QTreeView {
public:
    using QTreeView::QTreeView;
    void keyboardSearch(const QString&) override { }
};

} // namespace

RanksView::RanksView(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_model(new RanksModel(style, this))
    , m_delegate(new RankDelegate(*m_model, style, this))
    , m_table(new RankTable(this))
    , m_groupBy(new QComboBox(this))
    , m_files(new QComboBox(this))
    , m_bars(new Segmented(style, {tr("Own peak"), tr("Same moment")}, this))
    , m_step(new QComboBox(this))
    , m_summary(new WrappedLabel(this))
    , m_legend(new WrappedLabel(this))
    , m_panel(new RunPanel(style, this))
    , m_dots(new RoleDots(style, this))
    , m_curves(new RankCurves(style, this))
    , m_maps(new RankMaps(style, this))
    , m_along(new Segmented(style, {tr("Events"), tr("Time"), tr("Steps")}, this))
    , m_moment(new Segmented(style, {tr("Each peak"), tr("End")}, this))
    , m_empty(new EmptyState(style, this))
    , m_content(new QWidget(this))
    , m_pages(new QStackedLayout(this))
{
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setAccessibleName(tr("Ranks"));
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setRootIsDecorated(false);
    m_table->setIndentation(0);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RanksModel::Name, Qt::AscendingOrder);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->setExpandsOnDoubleClick(false);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->header()->setStretchLastSection(true);
    m_table->setMinimumHeight(0);
    m_table->viewport()->installEventFilter(this);
    m_table->header()->setMinimumSectionSize(40);
    m_table->header()->setTextElideMode(Qt::ElideRight);
    m_groupBy->setAccessibleName(tr("Group by"));
    m_files->setAccessibleName(tr("Files of"));
    m_step->setAccessibleName(tr("Step at which bars are compared"));
    m_bars->setAccessibleName(tr("Bars"));
    for (QComboBox* each : {m_groupBy, m_files, m_step}) {
        each->setFocusPolicy(Qt::TabFocus);
        each->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    }
    m_bars->setPartToolTip(1, tr("The highest bytes of each rank inside one step that several have"));
    m_summary->setContentsMargins(8, 4, 8, 0);
    m_legend->setContentsMargins(8, 4, 8, 4);
    m_legend->setTextFormat(Qt::RichText);

    m_head = new QWidget(this);
    auto* controls = new WrappingRow(style.metrics().px(16), m_head);
    controls->setContentsMargins(8, 4, 8, 4);
    m_filesBox = named(tr("Files of"), {m_files}, m_head);
    m_barsBox = named(tr("Bars"), {m_bars, m_step}, m_head);
    for (QWidget* each : {named(tr("Group by"), {m_groupBy}, m_head), m_barsBox, m_filesBox})
        controls->addWidget(each);

    auto* below = new QTabWidget(m_content);
    below->setDocumentMode(true);
    const auto page = [&](QWidget* view, Segmented* choice, const QString& title) {
        auto* holder = new QWidget(below);
        auto* column = new QVBoxLayout(holder);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        auto* row = new QHBoxLayout;
        row->setContentsMargins(8, 3, 8, 3);
        row->addWidget(choice);
        row->addStretch(1);
        column->addLayout(row);
        column->addWidget(view, 1);
        below->addTab(holder, title);
    };
    page(m_curves, m_along, tr("Curves of chosen ranks"));
    page(m_maps, m_moment, tr("Segments side by side"));

    auto* upper = new QWidget(m_content);
    auto* upperColumn = new QVBoxLayout(upper);
    upperColumn->setContentsMargins(0, 0, 0, 0);
    upperColumn->setSpacing(0);
    upperColumn->addWidget(m_summary);
    upperColumn->addWidget(m_head);
    upperColumn->addWidget(m_table, 1);
    upperColumn->addWidget(m_legend);
    auto* rows = new QSplitter(Qt::Vertical, m_content);
    rows->addWidget(upper);
    rows->addWidget(below);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 1);
    rows->setSizes({3000, 1000});
    auto* right = new QSplitter(Qt::Vertical, m_content);
    right->addWidget(m_panel);
    right->addWidget(m_dots);
    right->setStretchFactor(0, 1);
    auto* columns = new QSplitter(Qt::Horizontal, m_content);
    columns->addWidget(rows);
    columns->addWidget(right);
    columns->setStretchFactor(0, 1);
    columns->setSizes({3000, style.metrics().rightDock});
    for (QSplitter* each : {rows, right, columns}) {
        each->setChildrenCollapsible(false);
        each->setHandleWidth(style.metrics().splitter);
    }
    auto* whole = new QVBoxLayout(m_content);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(columns);
    m_below = below;
    m_right = right;
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(m_content);

    connect(
        m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RanksView::followChosen);
    connect(m_table, &QTreeView::activated, this, [this](const QModelIndex& at) {
        const RankRow* bad = m_model->row(at);
        if (bad && bad->kind == RankRow::Kind::Bad && m_job->job.bad[bad->bad].error.partial)
            emit partialRequested(QString::fromStdString(m_job->job.bad[bad->bad].path.string()));
        else if (m_model->isHeading(at))
            m_table->setExpanded(at.siblingAtColumn(0), !m_table->isExpanded(at.siblingAtColumn(0)));
        else if (const RankRow* row = m_model->row(at); row && row->kind == RankRow::Kind::Rank)
            open(row->summary);
    });
    connect(m_table, &QTreeView::customContextMenuRequested, this, &RanksView::contextMenu);
    connect(m_groupBy, &QComboBox::activated, this, [this](int at) {
        m_groupingChosen = true;
        setGrouping(static_cast<RankGrouping>(m_groupBy->itemData(at).toInt()));
    });
    connect(m_files, &QComboBox::activated, this, [this](int at) {
        const QVariant step = m_files->itemData(at);
        emit stepWanted(step.isValid() ? std::optional<std::int64_t>(step.toLongLong()) : std::nullopt);
    });
    connect(m_bars, &Segmented::chosen, this,
        [this](int part) { compareAt(part == 0 || !m_job ? std::string() : stepToLookAt(m_job->ranks)); });
    connect(m_step, &QComboBox::activated, this,
        [this](int at) { compareAt(m_step->itemData(at).toString().toStdString()); });
    connect(m_along, &Segmented::chosen, this,
        [this](int part) { m_curves->setAlong(static_cast<RankCurves::Along>(part)); });
    connect(m_moment, &Segmented::chosen, this,
        [this](int part) { m_maps->setMoment(static_cast<RankMaps::Moment>(part)); });
    connect(m_panel, &RunPanel::openRequested, this, &RanksView::open);
    connect(m_panel, &RunPanel::compareRequested, this, &RanksView::compare);
    connect(&style, &Style::changed, this, &RanksView::restyle);
    restyle();
    refresh();
}

RanksView::~RanksView()
{
    m_table->selectionModel()->disconnect(this);
}

void RanksView::restyle()
{
    m_table->setFont(m_style.font(FontRole::Base));
    m_summary->setFont(m_style.font(FontRole::Base));
    m_legend->setFont(m_style.font(FontRole::Small));
    placeColumns();
    showLegend();
    m_table->doItemsLayout();
}

// Figures have the width they need; bar, curve and findings share the rest.
void RanksView::placeColumns()
{
    const QFontMetrics font(m_style.font(FontRole::Base));
    const Metrics& metrics = m_style.metrics();
    // Nobody can scroll a picture: on a sheet of paper there is no room for all figures.
    const bool narrow = m_forPicture && m_table->viewport()->width() < metrics.px(narrowPicture);
    m_table->setColumnHidden(RanksModel::Held, narrow);
    const int figure = font.horizontalAdvance(QStringLiteral("1,023.99 GiB")) + metrics.px(18);
    int role = 0;
    if (m_job && !m_table->isColumnHidden(RanksModel::Place)) {
        for (const ParallelRole& each : m_job->diagnosis.roles.roles)
            role = std::max(
                role, font.horizontalAdvance(shownText(each.detail.empty() ? each.label : each.detail)));
        role = std::clamp(role + metrics.px(20), metrics.px(60), metrics.px(190));
    }
    const int rest = m_table->viewport()->width() - metrics.px(78) - role - (narrow ? 2 : 3) * figure;
    QHeaderView& header = *m_table->header();
    header.resizeSection(RanksModel::Name, metrics.px(78));
    header.resizeSection(RanksModel::Place, std::max(role, 10));
    for (const int column : {RanksModel::Live, RanksModel::Held, RanksModel::Room})
        header.resizeSection(column, figure);
    header.resizeSection(RanksModel::Bar, std::max(metrics.px(120), rest * 42 / 100));
    header.resizeSection(RanksModel::Curve, std::max(metrics.px(90), rest * 33 / 100));
}

bool RanksView::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        placeColumns();
    if (m_placing && watched == m_table->viewport() && event->type() == QEvent::MouseButtonPress) {
        const auto* press = static_cast<QMouseEvent*>(event);
        const QModelIndex at = m_table->indexAt(press->position().toPoint());
        const RankRow* row = m_model->row(at);
        if (press->button() == Qt::LeftButton && row && row->kind == RankRow::Kind::Rank) {
            noteOn(row->summary);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void RanksView::setJob(std::shared_ptr<const SummarisedJob> job)
{
    std::vector<std::optional<int>> kept;
    for (const std::size_t i : chosen())
        kept.push_back(m_job->ranks[i].rank);
    const bool another = !m_job || !job;
    m_job = std::move(job);
    m_problem.clear();
    if (!m_job || another)
        m_groupingChosen = false;
    fillGroupings();
    refresh();
    if (!m_job)
        return;
    bool any = false;
    for (std::size_t i = 0; i < m_job->ranks.size(); ++i)
        if (m_job->ranks[i].rank && std::find(kept.begin(), kept.end(), m_job->ranks[i].rank) != kept.end()) {
            m_table->selectionModel()->select(
                m_model->indexOf(i), QItemSelectionModel::Select | QItemSelectionModel::Rows);
            any = true;
        }
    // What stands out is chosen first; the eye would go there anyway.
    for (std::size_t i = 0; !any && i < m_job->ranks.size(); ++i)
        if (m_job->diagnosis.ranks[i].outlier) {
            choose(i);
            any = true;
        }
    followChosen();
}

void RanksView::fillGroupings()
{
    m_groupBy->clear();
    if (!m_job)
        return;
    const auto useful = RanksModel::useful(*m_job);
    for (const RankGrouping each : useful)
        m_groupBy->addItem(groupingName(each), static_cast<int>(each));
    if (!m_groupingChosen || std::find(useful.begin(), useful.end(), m_grouping) == useful.end())
        m_grouping
            = useful.size() > 1 && useful[1] == RankGrouping::Role ? RankGrouping::Role : RankGrouping::None;
    m_groupBy->setCurrentIndex(m_groupBy->findData(static_cast<int>(m_grouping)));
}

// Which step's files are shown, where ranks have several, and at which step bars can be compared.
void RanksView::fillSteps()
{
    m_files->clear();
    m_step->clear();
    if (m_job) {
        m_files->addItem(tr("the newest of each rank"));
        for (const std::int64_t step : m_job->job.steps) {
            m_files->addItem(tr("step %1").arg(countText(static_cast<std::uint64_t>(step))),
                QVariant::fromValue<qlonglong>(step));
            if (step == m_job->job.chosenStep)
                m_files->setCurrentIndex(m_files->count() - 1);
        }
        for (const std::string& step : stepsInCommon(m_job->ranks))
            m_step->addItem(shownText(step), QString::fromStdString(step));
    }
    m_filesBox->setVisible(m_job && m_job->job.steps.size() > 1);
    m_barsBox->setVisible(m_step->count() > 0);
    const bool kept = m_step->findData(QString::fromStdString(m_model->step())) >= 0;
    compareAt(kept ? m_model->step() : std::string());
}

void RanksView::compareAt(const std::string& step)
{
    m_model->setStep(step);
    m_bars->setCurrent(step.empty() ? 0 : 1);
    m_step->setVisible(!step.empty());
    m_step->setCurrentIndex(m_step->findData(QString::fromStdString(step)));
    showLegend();
}

void RanksView::setForPicture()
{
    m_forPicture = true;
    m_head->hide();
    m_below->hide();
    m_right->hide();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->clearSelection();
    m_table->setCurrentIndex({});
}

int RanksView::wholeHeight(int width)
{
    resize(width, height());
    QStyleOptionViewItem option;
    int tall = m_table->header()->sizeHint().height();
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QModelIndex group = m_model->index(row, 0);
        tall += m_delegate->sizeHint(option, group).height();
        if (m_table->isExpanded(group))
            tall += m_model->rowCount(group) * m_delegate->rowHeight();
    }
    return tall + m_summary->height() + m_legend->height() + m_style.metrics().px(4);
}

void RanksView::setGrouping(RankGrouping grouping)
{
    if (grouping == m_grouping)
        return;
    const auto kept = chosen();
    m_grouping = grouping;
    m_groupBy->setCurrentIndex(m_groupBy->findData(static_cast<int>(grouping)));
    refresh();
    for (const std::size_t each : kept)
        m_table->selectionModel()->select(
            m_model->indexOf(each), QItemSelectionModel::Select | QItemSelectionModel::Rows);
}

void RanksView::refresh()
{
    m_model->setJob(m_job, m_grouping);
    m_panel->setJob(m_job);
    m_dots->setJob(m_job);
    if (!m_job) {
        EmptyState::Content content;
        content.icon = QStringLiteral("ranks");
        content.heading
            = m_problem.isEmpty() ? tr("One rank only") : tr("This run cannot be shown as a whole");
        content.sentence = m_problem.isEmpty()
            ? tr("Open the folder that holds the snapshots of all ranks to see which one matters, and why.")
            : m_problem;
        content.actions
            = {{tr("Open folder…"), QStringLiteral("open"), [this] { emit openFolderRequested(); }, true}};
        m_empty->setContent(std::move(content));
        m_pages->setCurrentWidget(m_empty);
        followChosen();
        return;
    }
    m_pages->setCurrentWidget(m_content);
    m_delegate->setDense(m_job->ranks.size() >= denseFrom);
    for (int row = 0; row < m_model->rowCount(); ++row) {
        m_table->setFirstColumnSpanned(row, {}, true);
        m_table->setExpanded(
            m_model->index(row, 0), m_job->ranks.size() < foldedFrom || m_model->rowCount() == 1);
    }
    m_table->setColumnHidden(RanksModel::Place, m_job->diagnosis.roles.source == RoleSource::None);
    placeColumns();
    m_summary->showText(summaryText());
    fillSteps();
    showLegend();
    followChosen();
}

QString RanksView::summaryText() const
{
    if (!m_job)
        return {};
    const std::size_t expected = m_job->ranks.size() + m_job->job.missing.size();
    QStringList parts{expected == m_job->ranks.size()
            ? tr("%1 ranks").arg(countText(static_cast<std::uint64_t>(expected)))
            : tr("%1 of %2 ranks")
                  .arg(countText(static_cast<std::uint64_t>(m_job->ranks.size())),
                      countText(static_cast<std::uint64_t>(expected)))};
    const RankSummary* fullest = nullptr;
    std::optional<std::size_t> tightest;
    QStringList failed;
    for (std::size_t i = 0; i < m_job->ranks.size(); ++i) {
        if (!fullest || m_job->ranks[i].live.bytes > fullest->live.bytes)
            fullest = &m_job->ranks[i];
        if (m_job->ranks[i].oom)
            failed << shownText(m_job->ranks[i].name());
        const auto& room = m_job->diagnosis.ranks[i].headroom;
        if (room && (!tightest || *room < *m_job->diagnosis.ranks[*tightest].headroom))
            tightest = i;
    }
    constexpr qsizetype mostNames = 4;
    if (!failed.isEmpty())
        parts << tr("out of memory: %1")
                     .arg(failed.size() <= mostNames
                             ? failed.join(QStringLiteral(", "))
                             : tr("%1 ranks").arg(countText(static_cast<std::int64_t>(failed.size()))));
    if (fullest)
        parts << tr("fullest %1 (%2)").arg(bytesText(fullest->live.bytes), shownText(fullest->name()));
    // Of ranks that failed, what they lacked says more than what they had to spare.
    if (tightest && failed.isEmpty())
        parts << tr("least headroom %1 (%2)")
                     .arg(bytesText(*m_job->diagnosis.ranks[*tightest].headroom),
                         shownText(m_job->ranks[*tightest].name()));
    if (!m_job->job.bad.empty())
        parts << (m_job->job.bad.size() == 1
                ? tr("1 file cannot be read")
                : tr("%1 files cannot be read")
                      .arg(countText(static_cast<std::uint64_t>(m_job->job.bad.size()))));
    return parts.join(QStringLiteral(" · "));
}

void RanksView::showLegend()
{
    if (!m_job) {
        m_legend->clear();
        return;
    }
    QString text;
    const auto add = [&](const QColor& colour, const QString& name) {
        text += QStringLiteral("<span style=\"color:%1\">■</span>&nbsp;%2&nbsp;&nbsp; ")
                    .arg(colour.name(), name.toHtmlEscaped());
    };
    const auto parts = partsOfBars(m_job->ranks);
    std::size_t shown = 0;
    for (const auto& [part, bytes] : parts) {
        if (!m_model->step().empty())
            break; // parts are known at each rank's own peak only
        const QColor colour = partColour(m_style.theme(), part);
        if (colour == m_style.color(Tone::Other) || shown >= legendItems)
            continue;
        add(colour, shownText(part));
        ++shown;
    }
    add(m_style.color(Tone::Other), m_model->step().empty() ? tr("other") : tr("live, of all kinds"));
    text += tr("▨ reserved beyond the live peak&nbsp;&nbsp; ");
    const auto& standings = m_job->diagnosis.ranks;
    if (std::any_of(standings.begin(), standings.end(), [](const auto& each) { return each.capacity; }))
        text += QStringLiteral("<span style=\"color:%1\">┃</span>&nbsp;%2")
                    .arg(m_style.color(Tone::Capacity).name(), tr("usable by PyTorch"));
    m_legend->showText(text);
}

void RanksView::setProgress(std::size_t done, std::size_t total)
{
    m_panel->setProgress(done, total);
    if (m_job)
        return;
    EmptyState::Content content;
    content.icon = QStringLiteral("ranks");
    content.heading = tr("Reading the ranks of this run");
    content.sentence
        = tr("%1 of %2 are summed up; the rules over all ranks run when the last one is there.")
              .arg(countText(static_cast<std::uint64_t>(done)), countText(static_cast<std::uint64_t>(total)));
    m_empty->setContent(std::move(content));
}

void RanksView::setProblem(const QString& sentence)
{
    m_problem = sentence;
    if (!m_job)
        refresh();
}

QString RanksView::emptyHeading() const
{
    return m_pages->currentWidget() == m_empty ? m_empty->heading() : QString();
}

std::vector<std::size_t> RanksView::chosen() const
{
    std::vector<std::size_t> ranks;
    if (!m_job)
        return ranks;
    const auto add = [&](const QModelIndex& at) {
        const RankRow* row = m_model->row(at);
        if (row && row->kind == RankRow::Kind::Rank
            && std::find(ranks.begin(), ranks.end(), row->summary) == ranks.end())
            ranks.push_back(row->summary);
    };
    const QModelIndex current = m_table->currentIndex();
    if (m_table->selectionModel()->isSelected(current))
        add(current);
    for (const QModelIndex& at : m_table->selectionModel()->selectedRows())
        add(at);
    return ranks;
}

void RanksView::choose(std::size_t rank)
{
    const QModelIndex at = m_model->indexOf(rank);
    if (!at.isValid())
        return;
    m_table->setExpanded(at.parent(), true);
    m_table->setCurrentIndex(at);
    m_table->scrollTo(at);
}

void RanksView::followChosen()
{
    const auto ranks = chosen();
    m_curves->setRanks(m_job, ranks);
    m_maps->setRanks(m_job, ranks);
    m_dots->setSelected(ranks);
    for (int part = 0; part < 3; ++part)
        m_along->setPartEnabled(part, m_curves->canAlong(static_cast<RankCurves::Along>(part)));
    m_along->setCurrent(static_cast<int>(m_curves->along()));
    emit chosenChanged();
}

void RanksView::open(std::size_t rank)
{
    if (m_job && rank < m_job->ranks.size()) {
        choose(rank);
        emit openRequested(QString::fromStdString(m_job->ranks[rank].file.string()));
    }
}

void RanksView::compare(std::size_t rank, std::size_t other)
{
    emit compareRequested(QString::fromStdString(m_job->ranks[rank].file.string()),
        QString::fromStdString(m_job->ranks[other].file.string()));
}

} // namespace tidemark
