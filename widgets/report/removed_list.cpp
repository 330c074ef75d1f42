// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/removed_list.hpp"

#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

RemovedList::RemovedList(const Style& style, QWidget* parent)
    : QDialog(parent)
    , m_style(style)
    , m_sum(new QLabel(this))
    , m_list(new QTreeWidget(this))
{
    setWindowTitle(tr("What is removed – Tidemark"));
    m_sum->setWordWrap(true);
    m_list->setAccessibleName(tr("What is removed"));
    m_list->setHeaderLabels({tr("Kind"), tr("In the file"), tr("In the report")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAlternatingRowColors(true);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_sum);
    column->addWidget(m_list, 1);
    column->addWidget(buttons);
    connect(&style, &Style::changed, this, &RemovedList::restyle);
    restyle();
}

void RemovedList::restyle()
{
    setFont(m_style.font(FontRole::Base));
    const Metrics& m = m_style.metrics();
    if (!isVisible())
        resize(m.px(760), m.px(460));
    m_list->header()->setMinimumSectionSize(m.px(60));
    m_list->header()->resizeSection(1, m.px(390));
}

void RemovedList::setBusy()
{
    m_list->clear();
    m_sum->setText(tr("Looking through the file…"));
}

void RemovedList::show(const std::vector<report::Replacement>& replacements)
{
    m_list->clear();
    const std::size_t listed = std::min(replacements.size(), mostListed);
    QList<QTreeWidgetItem*> items;
    for (std::size_t i = 0; i < listed; ++i) {
        const report::Replacement& each = replacements[i];
        const QString before = shownText(each.before);
        const QString after = each.after.empty() ? tr("(left out)") : shownText(each.after);
        auto* item
            = new QTreeWidgetItem({QLatin1String(report::replacementKindName(each.kind)), before, after});
        item->setToolTip(1, before);
        item->setToolTip(2, after);
        items << item;
    }
    m_list->addTopLevelItems(items);
    const auto count = static_cast<std::uint64_t>(replacements.size());
    QString text = replacements.empty() ? tr("Nothing in this file needs to be removed.")
                                        : tr("%1 texts of this file are replaced wherever they stand. Beside "
                                             "them, whatever looks like a path or "
                                             "a home folder is shortened.")
                                              .arg(countText(count));
    if (replacements.size() > listed)
        text += QLatin1Char(' ')
            + tr("The first %1 are listed.").arg(countText(static_cast<std::uint64_t>(listed)));
    m_sum->setText(text);
}

} // namespace tidemark
