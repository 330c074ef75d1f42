// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/notes/notes_state.hpp"
#include "widgets/style/style.hpp"

#include <QAbstractTableModel>
#include <QWidget>

#include <functional>

class QLabel;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace tidemark {

class EmptyState;

/// The remarks as rows: number with kind, text (editable), where. Rows can be dragged to another place. GUI
/// thread.
class NotesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Number, Remark, Where, ColumnCount };

    NotesModel(NotesState& notes, Style& style, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& at, int role) const override;
    bool setData(const QModelIndex& at, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& at) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
        const QModelIndex& parent) override;
    QMimeData* mimeData(const QModelIndexList& rows) const override;
    QStringList mimeTypes() const override;

private:
    NotesState& m_notes;
    Style& m_style;
};

/// The list of remarks (help/notes.md): click or Enter goes to one, F2 or a double click edits its text,
/// Alt+Up/Down or dragging reorders, Delete takes it away. windowTitle() is the dock's subtitle. GUI thread.
class NotesView : public QWidget {
    Q_OBJECT
public:
    NotesView(NotesState& notes, Style& style, QWidget* parent = nullptr);

    QTableView& table() { return *m_table; }
    const NotesModel& model() const { return *m_model; }
    QString emptyHeading() const;
    /// The list as text, a remark a line: "1  text (where)".
    QString plainText() const;

signals:
    /// The views should show where this one is.
    void jumpRequested(std::uint64_t id);
    /// The empty state offers the note tool.
    void toolRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void followChosen();
    void move(int direction);
    void contextMenu(QPoint position);
    std::uint64_t currentId() const;
    void restyle();

    NotesState& m_notes;
    Style& m_style;
    NotesModel* m_model;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QToolButton* m_up;
    QToolButton* m_down;
    QToolButton* m_delete;
    bool m_following = false;
};

} // namespace tidemark
