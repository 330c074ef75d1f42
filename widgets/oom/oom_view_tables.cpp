// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of the out-of-memory view: who holds the holes open, and what fills the card.
#include "widgets/common/copy_table.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/common/wrapped_label.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/oom/oom_pins.hpp"
#include "widgets/oom/oom_texts.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/style/style.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int mostPinRows = 4;
constexpr double siteLeast = 190; ///< width for the call site, for which the last column gives way

} // namespace

void OomView::makePinSection()
{
    m_pinSection = new QWidget(this);
    m_pinModel = new OomPinsModel(this);
    m_pinDelegate = new LiveTableDelegate(m_style, this);
    m_pinDelegate->setShareColumn(-1);
    m_pinTable = new CopyTable([this] { return m_pinModel->copyText(); }, m_pinSection);
    m_pinTable->setModel(m_pinModel);
    m_pinTable->setItemDelegate(m_pinDelegate);
    m_pinTable->setAccessibleName(tr("Who holds the holes open"));
    m_pinTable->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    QHeaderView* const header = m_pinTable->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(OomPinsModel::Site, QHeaderView::Stretch);
    auto* const heading = new QLabel(tr("Who holds the holes open"), m_pinSection);
    m_headings.push_back(heading);
    m_pinWords = new WrappedLabel(m_pinSection);
    m_pinSum = new WrappedLabel(m_pinSection);
    auto* const column = new QVBoxLayout(m_pinSection);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(heading);
    column->addWidget(m_pinTable);
    column->addWidget(m_pinSum);
    column->addWidget(m_pinWords);
}

void OomView::makeLiveSection()
{
    m_liveSection = new QWidget(this);
    m_liveModel = new LiveTableModel(this);
    m_liveDelegate = new LiveTableDelegate(m_style, this);
    m_liveTable = new CopyTable(
        [this] {
            constexpr int key = static_cast<int>(LiveColumn::Key);
            const std::vector<int> shown{key, static_cast<int>(LiveColumn::Count),
                static_cast<int>(LiveColumn::Live), static_cast<int>(LiveColumn::Share)};
            QStringList lines;
            if (m_scene)
                lines << LiveTableModel::copyHeader(shown, m_scene->of.grouping->by());
            for (int row = 0; row < m_liveModel->rowCount(); ++row)
                lines << m_liveModel->copyLine(row, shown);
            return lines.join(QLatin1Char('\n'));
        },
        m_liveSection);
    m_liveTable->setModel(m_liveModel);
    m_liveTable->setItemDelegate(m_liveDelegate);
    m_liveTable->setAccessibleName(tr("What fills the card"));
    m_liveTable->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    m_liveTable->installEventFilter(this);
    m_pinTable->installEventFilter(this);
    m_liveTable->viewport()->installEventFilter(this);
    QHeaderView* const header = m_liveTable->horizontalHeader();
    for (int i = 0; i < LiveTableModel::columns; ++i) {
        const auto column = static_cast<LiveColumn>(i);
        const bool shown = column == LiveColumn::Key || column == LiveColumn::Count
            || column == LiveColumn::Live || column == LiveColumn::Share;
        header->setSectionHidden(i, !shown);
    }
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(static_cast<int>(LiveColumn::Key), QHeaderView::Stretch);
    header->setSectionResizeMode(static_cast<int>(LiveColumn::Share), QHeaderView::Fixed);
    auto* const heading = new QLabel(tr("What fills the card"), m_liveSection);
    m_headings.push_back(heading);
    m_liveAt = new QLabel(m_liveSection);
    m_liveAt->setForegroundRole(QPalette::PlaceholderText);
    m_liveAt->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_liveSum = new WrappedLabel(m_liveSection);
    auto* const head = new QHBoxLayout;
    head->setContentsMargins(0, 0, 0, 0);
    head->addWidget(heading);
    head->addWidget(m_liveAt, 1);
    auto* const column = new QVBoxLayout(m_liveSection);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_liveTable, 1);
    column->addWidget(m_liveSum);
}

void OomView::showPins()
{
    const Metrics& metrics = m_style.metrics();
    m_pinDelegate->setSequential(m_scene->of.colouring->sequential);
    m_pinModel->setScene(m_scene);
    const int rows = std::clamp(m_pinModel->rowCount(), 1, mostPinRows);
    m_pinTable->setFixedHeight(metrics.header + rows * metrics.row);
    m_pinSum->showText(pinSum(*m_scene));
    m_pinSum->setVisible(m_pinModel->rowCount() > 1 || !m_scene->pinsAreAll);
    pinSentenceOf(0);
    fitPinColumns();
}

/// The leverage is said again below the table; names of call sites are nowhere else.
void OomView::fitPinColumns()
{
    QHeaderView* const header = m_pinTable->horizontalHeader();
    header->setSectionHidden(OomPinsModel::Leverage, false);
    const QAbstractItemView& view = *m_pinTable;
    int figures = 0;
    for (int column = OomPinsModel::Site + 1; column < OomPinsModel::columns; ++column)
        figures += std::max(header->sectionSizeHint(column), view.sizeHintForColumn(column));
    header->setSectionHidden(
        OomPinsModel::Leverage, m_pinSection->width() - figures < m_style.metrics().px(siteLeast));
}

void OomView::pinSentenceOf(int row)
{
    m_pinWords->showText(
        row < m_pinModel->rowCount() ? pinSentence(*m_scene, m_pinModel->pins(row)) : QString());
}

void OomView::showLive()
{
    LiveRows rows;
    rows.replay = m_scene->of.replay;
    rows.grouping = m_scene->of.grouping;
    rows.colouring = m_scene->of.colouring;
    rows.table = m_scene->live;
    rows.order = m_scene->liveOrder;
    if (m_scene->usable > 0)
        rows.usable = m_scene->usable;
    m_liveDelegate->setSequential(rows.colouring->sequential);
    m_liveModel->setRows(std::move(rows));
    m_liveAt->setText(atMomentText(*m_scene->of.replay, m_scene->live->state));
    m_liveSum->showText(liveSum(*m_scene));
    updateLimit();
}

void OomView::updateLimit()
{
    const int row = std::max(1, m_liveTable->verticalHeader()->defaultSectionSize());
    const int fitting = std::max(fewestTableRows, m_liveTable->viewport()->height() / row);
    m_following = true;
    if (m_expanded || (m_scene && m_scene->liveOrder.size() <= static_cast<std::size_t>(fitting)))
        m_liveModel->setLimit(std::nullopt);
    else
        m_liveModel->setLimit(static_cast<std::size_t>(fitting - 1));
    m_following = false;
    followSelection();
}

} // namespace tidemark
