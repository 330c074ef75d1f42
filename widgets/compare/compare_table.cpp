// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/compare_table.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/footer.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr std::array groupings{GroupBy::Site, GroupBy::Label, GroupBy::Role, GroupBy::Size, GroupBy::Stack};

/// Differences as bars to both sides of a line, and in their colours.
class DeltaDelegate : public LiveTableDelegate {
public:
    DeltaDelegate(const Style& style, QObject* parent)
        : LiveTableDelegate(style, parent)
        , m_style(style)
    {
        setShareColumn(-1);
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const double share = index.data(CompareTableModel::BarRole).toDouble();
        const bool selected = option.state & QStyle::State_Selected;
        if (index.column() == CompareTableModel::Bar) {
            painter->save();
            if (selected)
                painter->fillRect(option.rect, m_style.color(Tone::Sel));
            else if (option.features & QStyleOptionViewItem::Alternate)
                painter->fillRect(option.rect, m_style.color(Tone::Alt));
            const QRect cell = option.rect.adjusted(4, 0, -4, 0);
            const int middle = cell.center().x();
            const int half = cell.width() / 2 - 2;
            const int length
                = share == 0 ? 0 : std::max(1, static_cast<int>(std::lround(std::abs(share) * half)));
            const int high = m_style.metrics().px(9);
            const QRect bar(
                share < 0 ? middle - length : middle + 1, cell.center().y() - high / 2, length, high);
            painter->fillRect(QRect(middle, cell.top() + 2, 1, cell.height() - 4),
                m_style.color(selected ? Tone::SelText : Tone::Line));
            painter->fillRect(bar,
                m_style.color(selected ? Tone::SelText
                        : share < 0    ? Tone::Shrank
                                       : Tone::Grew));
            painter->restore();
            return;
        }
        const bool coloured
            = index.column() == CompareTableModel::Delta || index.column() == CompareTableModel::Status;
        if (!coloured || share == 0 || selected) {
            LiveTableDelegate::paint(painter, option, index);
            return;
        }
        QStyleOptionViewItem tinted = option;
        const QColor colour = m_style.color(share < 0 ? Tone::Shrank : Tone::Grew);
        for (const auto group : {QPalette::Active, QPalette::Inactive})
            tinted.palette.setColor(group, QPalette::Text, colour);
        tinted.font.setWeight(index.column() == CompareTableModel::Delta ? QFont::DemiBold : QFont::Normal);
        painter->save();
        if (option.features & QStyleOptionViewItem::Alternate)
            painter->fillRect(option.rect, m_style.color(Tone::Alt));
        painter->setFont(tinted.font);
        painter->setPen(colour);
        painter->drawText(option.rect.adjusted(m_style.metrics().px(7), 0, -m_style.metrics().px(7), 0),
            static_cast<int>(index.data(Qt::TextAlignmentRole).value<Qt::Alignment>()),
            index.data(Qt::DisplayRole).toString());
        painter->restore();
    }

private:
    const Style& m_style;
};

} // namespace

CompareTable::CompareTable(CompareState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_style(style)
    , m_model(new CompareTableModel(this))
    , m_view(new CopyTable([this] { return m_model->copyText(); }, this))
    , m_title(new QLabel(this))
    , m_groups(new Segmented(style, {tr("Site"), tr("Module"), tr("Role"), tr("Size"), tr("Stack")}, this))
    , m_search(new QLineEdit(this))
    , m_footer(new Footer(style, this))
    , m_sum(new QLabel(m_footer))
    , m_hideSame(new QCheckBox(tr("hide what is the same"), m_footer))
{
    m_view->setModel(m_model);
    m_view->setItemDelegate(new DeltaDelegate(style, this));
    m_view->setAccessibleName(tr("What differs"));
    QHeaderView* const header = m_view->horizontalHeader();
    header->setSectionsClickable(true);
    header->setSortIndicatorShown(true);
    header->setSortIndicator(CompareTableModel::Delta, Qt::DescendingOrder);
    connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int section, Qt::SortOrder order) {
        m_model->sort(section, order);
        followGroup();
    });
    m_search->setPlaceholderText(tr("Find in the table"));
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Find in the table"));
    m_groups->setLogicalHeight(20);
    m_groups->setAccessibleName(tr("Grouping"));
    auto* head = new QHBoxLayout;
    head->setContentsMargins(style.metrics().padding, 3, style.metrics().padding, 3);
    head->addWidget(m_title, 1);
    head->addWidget(m_groups);
    head->addWidget(m_search);
    auto* foot = new QHBoxLayout(m_footer);
    foot->setContentsMargins(style.metrics().padding, 1, style.metrics().padding, 0);
    foot->addWidget(m_sum, 1);
    foot->addWidget(m_hideSame);
    m_sum->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_view, 1);
    column->addWidget(m_footer);

    connect(m_groups, &Segmented::chosen, this,
        [this](int at) { m_state.setGroupBy(groupings[static_cast<std::size_t>(at)]); });
    connect(m_search, &QLineEdit::textChanged, this, &CompareTable::filter);
    connect(m_hideSame, &QCheckBox::toggled, this, &CompareTable::filter);
    connect(&state, &CompareState::changed, this, &CompareTable::refresh);
    connect(&state, &CompareState::tableChanged, this, &CompareTable::refresh);
    connect(&state, &CompareState::groupChanged, this, &CompareTable::followGroup);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& at) {
            if (!m_following && at.isValid())
                m_state.setGroup(m_model->row(at.row()).group);
        });
    connect(&style, &Style::changed, this, &CompareTable::restyle);
    restyle();
}

CompareTable::~CompareTable()
{
    m_view->selectionModel()->disconnect(this);
}

void CompareTable::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_view->setFont(m_style.font(FontRole::Base));
    m_view->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_view->verticalHeader()->setDefaultSectionSize(metrics.row);
    m_view->horizontalHeader()->setFont(m_style.font(FontRole::Base));
    m_view->horizontalHeader()->setFixedHeight(metrics.header);
    for (QWidget* each : {static_cast<QWidget*>(m_sum), static_cast<QWidget*>(m_title),
             static_cast<QWidget*>(m_hideSame), static_cast<QWidget*>(m_search)})
        each->setFont(m_style.font(FontRole::Small));
    m_search->setFixedWidth(metrics.px(170));
    m_footer->setFixedHeight(metrics.header + 2);
    fitColumns();
    m_view->viewport()->update();
}

// Names take what the figures leave.
void CompareTable::fitColumns()
{
    const QFontMetrics font(m_style.font(FontRole::Base));
    const int air = 2 * m_style.metrics().px(7) + m_style.metrics().unit;
    QHeaderView* const header = m_view->horizontalHeader();
    const std::pair<int, int> widths[]
        = {{CompareTableModel::A, font.horizontalAdvance(QStringLiteral("1,023 MiB")) + air},
            {CompareTableModel::B, font.horizontalAdvance(QStringLiteral("1,023 MiB")) + air},
            {CompareTableModel::Delta, font.horizontalAdvance(QStringLiteral("+1,023 MiB ▾")) + air},
            {CompareTableModel::Bar, m_style.metrics().px(width() > 800 ? 200 : 110)},
            {CompareTableModel::Count, font.horizontalAdvance(QStringLiteral("0,000 → 0,000")) + air},
            {CompareTableModel::Status, font.horizontalAdvance(QStringLiteral("▼ shrank")) + air}};
    int used = 0;
    for (const auto& [section, wide] : widths) {
        header->resizeSection(section, wide);
        used += wide;
    }
    header->resizeSection(
        CompareTableModel::Key, std::max(m_style.metrics().px(160), m_view->viewport()->width() - used));
}

void CompareTable::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitColumns();
}

void CompareTable::refresh()
{
    const auto comparison = m_state.comparison();
    const auto table = m_state.table();
    m_groups->setCurrent(static_cast<int>(
        std::ranges::find(groupings, comparison ? comparison->matching->by : m_state.groupBy())
        - groupings.begin()));
    m_following = true;
    const auto colours = [&](compare::Which side) {
        return comparison ? m_state.session(side).colouring(ColourBy::Site) : nullptr;
    };
    m_model->show(comparison, table, colours(compare::Which::A), colours(compare::Which::B));
    m_following = false;
    fitColumns();
    followGroup();
    if (!comparison || !table) {
        m_sum->clear();
        m_title->clear();
        return;
    }
    const bool range = table->scopeA.kind == Scope::Kind::Range;
    QString sum = tr("Σ %1 → %2, %3")
                      .arg(bytesText(table->bytesA), bytesText(table->bytesB),
                          table->delta == 0 ? QStringLiteral("no difference") : deltaText(table->delta));
    sum += range ? tr(" %1").arg(m_state.atText())
                 : tr(" = difference of the curves %1").arg(m_state.atText());
    m_sum->setText(sum);
    m_sum->setToolTip(tr("%1\n%2 → %3, %4")
                          .arg(sum, exactBytesText(table->bytesA), exactBytesText(table->bytesB),
                              exactBytesText(table->delta)));
    m_title->setText(tr("What differs %1").arg(m_state.atText()));
    m_title->setToolTip(shownText(table->matchedText()));
}

void CompareTable::filter()
{
    m_following = true;
    m_model->setFilter(m_search->text().trimmed(), m_hideSame->isChecked());
    m_following = false;
    followGroup();
}

void CompareTable::followGroup()
{
    const auto group = m_state.group();
    const int row = group && m_model->rowCount() > 0 ? m_model->rowOf(*group) : -1;
    m_following = true;
    if (row >= 0) {
        m_view->setCurrentIndex(m_model->index(row, 0));
        m_view->scrollTo(m_model->index(row, 0), QAbstractItemView::EnsureVisible);
    } else {
        m_view->setCurrentIndex({});
        m_view->clearSelection();
    }
    m_following = false;
}

QString CompareTable::sumText() const
{
    return m_sum->text();
}

} // namespace tidemark
