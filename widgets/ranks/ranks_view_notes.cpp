// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks on ranks.
#include "widgets/ranks/ranks_view.hpp"

#include "widgets/notes/note_editor.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/ranks/rank_delegate.hpp"
#include "widgets/style/text.hpp"

#include <QMenu>
#include <QTreeView>

namespace tidemark {

namespace {

constexpr const char* viewName = "ranks";
constexpr int longestLine = 40; // characters of a remark in a menu

} // namespace

void RanksView::setNotes(NotesState& notes, InputOf inputOf)
{
    m_notes = &notes;
    m_inputOf = std::move(inputOf);
    const auto repaint = [this] { m_table->viewport()->update(); };
    connect(m_notes, &NotesState::changed, this, repaint);
    connect(m_notes, &NotesState::chosenChanged, this, repaint);
    m_delegate->setRemarks([this](const RankSummary& rank) {
        RankDelegate::Remarks remarks;
        const auto& items = m_notes->items();
        for (std::size_t i = 0; i < items.size(); ++i)
            if (isOn(items[i], rank)) {
                remarks.numbers.push_back(static_cast<int>(i) + 1);
                if (m_notes->chosen() == items[i].id)
                    remarks.chosen = static_cast<int>(i) + 1;
            }
        return remarks;
    });
    repaint();
}

void RanksView::setPlacing(bool placing)
{
    m_placing = placing && m_notes;
    m_table->viewport()->setCursor(m_placing ? Qt::CrossCursor : Qt::ArrowCursor);
}

bool RanksView::isOn(const report::Annotation& note, const RankSummary& rank) const
{
    return note.view == viewName && m_inputOf && m_inputOf(rank.file) == note.input;
}

std::vector<int> RanksView::notesOn(std::size_t rank) const
{
    std::vector<int> numbers;
    if (m_notes && m_job && rank < m_job->ranks.size())
        for (std::size_t i = 0; i < m_notes->items().size(); ++i)
            if (isOn(m_notes->items()[i], m_job->ranks[rank]))
                numbers.push_back(static_cast<int>(i) + 1);
    return numbers;
}

void RanksView::noteOn(std::size_t rank)
{
    const RankSummary& summary = m_job->ranks[rank];
    const auto input = m_inputOf ? m_inputOf(summary.file) : std::nullopt;
    if (!m_notes || !input || !summary.device)
        return;
    const std::uint64_t id
        = m_notes->add(NotesScope{viewName, *input}.blank(report::AnnotationKind::Note, *summary.device));
    emit notePlaced();
    editNote(id, rank, true);
}

void RanksView::editNote(std::uint64_t id, std::size_t rank, bool fresh)
{
    const QModelIndex at = m_model->indexOf(rank).siblingAtColumn(RanksModel::Found);
    m_table->scrollTo(at);
    NoteEditor::open(
        *m_table->viewport(), m_style, *m_notes, id, m_delegate->discAt(m_table->visualRect(at)), fresh);
}

void RanksView::goToNote(std::uint64_t id)
{
    const report::Annotation* note = m_notes ? m_notes->find(id) : nullptr;
    for (std::size_t i = 0; note && m_job && i < m_job->ranks.size(); ++i)
        if (isOn(*note, m_job->ranks[i])) {
            choose(i);
            m_table->scrollTo(m_model->indexOf(i));
            return;
        }
}

void RanksView::addNoteActions(QMenu& menu, std::size_t rank)
{
    const RankSummary& summary = m_job->ranks[rank];
    if (!m_notes)
        return;
    QAction* make = menu.addAction(m_style.icon(QStringLiteral("note")),
        tr("Note on %1").arg(shownText(summary.name())), this, [this, rank] { noteOn(rank); });
    make->setEnabled(m_inputOf && m_inputOf(summary.file) && summary.device);
    for (const int number : notesOn(rank)) {
        const report::Annotation& note = m_notes->items()[static_cast<std::size_t>(number) - 1];
        const QString text = shownText(firstLine(note.text)).left(longestLine);
        menu.addAction(tr("Edit note %1: %2").arg(number).arg(text), this,
            [this, id = note.id, rank] { editNote(id, rank, false); });
        menu.addAction(tr("Delete note %1").arg(number), this, [this, id = note.id] { m_notes->remove(id); });
    }
    menu.addSeparator();
}

} // namespace tidemark
