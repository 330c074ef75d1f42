// SPDX-License-Identifier: GPL-3.0-or-later
// Context menus of the overview.
#include "widgets/ranks/ranks_view.hpp"

#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QTreeView>

namespace tidemark {

void RanksView::badMenu(const BadFile& bad, QPoint position)
{
    QMenu menu(this);
    const QString path = QString::fromStdString(bad.path.string());
    if (bad.error.partial)
        menu.addAction(m_style.icon(QStringLiteral("open")), tr("Open what can be read"), this,
            [this, path] { emit partialRequested(path); });
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy what is wrong"), this,
        [text = path + QStringLiteral(": ") + shownText(bad.error.message)] {
            QGuiApplication::clipboard()->setText(text);
        });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

void RanksView::contextMenu(QPoint position)
{
    if (const RankRow* row = m_model->row(m_table->indexAt(position));
        row && row->kind == RankRow::Kind::Bad) {
        badMenu(m_job->job.bad[row->bad], position);
        return;
    }
    const auto ranks = chosen();
    if (ranks.empty())
        return;
    QMenu menu(this);
    menu.addAction(m_style.icon(QStringLiteral("timeline")),
        tr("Open %1").arg(shownText(m_job->ranks[ranks.front()].name())), this,
        [this, rank = ranks.front()] { open(rank); });
    if (ranks.size() == 2)
        menu.addAction(m_style.icon(QStringLiteral("compare")), tr("Compare these two"), this,
            [this, ranks] { compare(ranks[1], ranks[0]); });
    menu.addSeparator();
    addNoteActions(menu, ranks.front());
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy rows"), this, [this, ranks] {
        QStringList lines;
        for (const std::size_t i : ranks) {
            const QModelIndex at = m_model->indexOf(i);
            QStringList cells;
            for (int column = 0; column < RanksModel::ColumnCount; ++column)
                if (column != RanksModel::Bar && column != RanksModel::Curve)
                    cells << at.siblingAtColumn(column).data().toString();
            lines << cells.join(QLatin1Char('\t'));
        }
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

} // namespace tidemark
