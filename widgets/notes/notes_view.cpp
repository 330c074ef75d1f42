// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/notes/notes_view.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/footer.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"

#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr const char* rowsType = "application/x-tidemark-note";

QString viewName(const std::string& view)
{
    if (view == "segments")
        return NotesView::tr("Segment map");
    if (view == "compare")
        return NotesView::tr("Compare");
    if (view == "ranks")
        return NotesView::tr("Ranks");
    return NotesView::tr("Timeline");
}

std::string oneLine(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

QString whereText(const report::Annotation& note)
{
    const QString place = shownText(report::placeText(note));
    return place.isEmpty() ? viewName(note.view) : viewName(note.view) + QStringLiteral(" · ") + place;
}

} // namespace

// ---- model

NotesModel::NotesModel(NotesState& notes, Style& style, QObject* parent)
    : QAbstractTableModel(parent)
    , m_notes(notes)
    , m_style(style)
{
    connect(&notes, &NotesState::changed, this, [this] {
        beginResetModel();
        endResetModel();
    });
}

int NotesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_notes.items().size());
}

int NotesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant NotesModel::data(const QModelIndex& at, int role) const
{
    if (!at.isValid() || at.row() >= rowCount())
        return {};
    const report::Annotation& note = m_notes.items()[static_cast<std::size_t>(at.row())];
    const QString text = QString::fromStdString(note.text);
    switch (at.column()) {
    case Number:
        if (role == Qt::DisplayRole)
            return QString::number(at.row() + 1);
        if (role == Qt::DecorationRole)
            return m_style.icon(noteKindIcon(note.kind));
        if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole)
            return tr("%1 %2").arg(noteKindName(note.kind)).arg(at.row() + 1);
        break;
    case Remark:
        if (role == Qt::EditRole)
            return text;
        if (role == Qt::DisplayRole)
            return text.isEmpty() ? tr("(no text)") : shownText(oneLine(note.text));
        if (role == Qt::ToolTipRole && !text.isEmpty())
            return shownText(oneLine(note.text)).toHtmlEscaped();
        if (role == Qt::ForegroundRole && text.isEmpty())
            return m_style.color(Tone::Text2);
        break;
    case Where:
        if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
            return whereText(note);
        if (role == Qt::ForegroundRole)
            return m_style.color(Tone::Text2);
        break;
    default:
        break;
    }
    return {};
}

bool NotesModel::setData(const QModelIndex& at, const QVariant& value, int role)
{
    if (role != Qt::EditRole || at.column() != Remark || at.row() >= rowCount())
        return false;
    m_notes.setText(m_notes.items()[static_cast<std::size_t>(at.row())].id, value.toString().trimmed());
    return true;
}

QVariant NotesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Number:
        return tr("No.");
    case Remark:
        return tr("Note");
    case Where:
        return tr("Where");
    default:
        return {};
    }
}

Qt::ItemFlags NotesModel::flags(const QModelIndex& at) const
{
    if (!at.isValid())
        return Qt::ItemIsDropEnabled;
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled;
    if (at.column() == Remark)
        flags |= Qt::ItemIsEditable;
    return flags;
}

QStringList NotesModel::mimeTypes() const
{
    return {QString::fromLatin1(rowsType)};
}

QMimeData* NotesModel::mimeData(const QModelIndexList& rows) const
{
    auto* data = new QMimeData;
    if (!rows.isEmpty())
        data->setData(QString::fromLatin1(rowsType), QByteArray::number(rows.first().row()));
    return data;
}

bool NotesModel::dropMimeData(const QMimeData* data, Qt::DropAction, int row, int, const QModelIndex& parent)
{
    bool number = false;
    const int from = data->data(QString::fromLatin1(rowsType)).toInt(&number);
    if (!number || from < 0 || from >= rowCount())
        return false;
    int to = row >= 0 ? row : parent.isValid() ? parent.row() : rowCount();
    to = std::clamp(to > from ? to - 1 : to, 0, rowCount() - 1);
    m_notes.move(m_notes.items()[static_cast<std::size_t>(from)].id, static_cast<std::size_t>(to));
    return false; // the rows have been moved already: nothing is left for the view to remove
}

// ---- view

NotesView::NotesView(NotesState& notes, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_notes(notes)
    , m_style(style)
    , m_model(new NotesModel(notes, style, this))
    , m_table(new CopyTable([this] { return plainText(); }, this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_up(new QToolButton(this))
    , m_down(new QToolButton(this))
    , m_delete(new QToolButton(this))
{
    m_table->setModel(m_model);
    m_table->setAccessibleName(tr("Notes"));
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_table->setDragDropMode(QAbstractItemView::InternalMove);
    m_table->setDragDropOverwriteMode(false);
    m_table->setDropIndicatorShown(true);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->installEventFilter(this);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    EmptyState::Content content;
    content.icon = QStringLiteral("note");
    content.heading = tr("No notes yet");
    content.sentence
        = tr("Notes, boxes, arrows and rulers say what is to be seen; they go into sessions and reports.");
    content.actions
        = {{tr("Take the note tool (B)"), QStringLiteral("note"), [this] { emit toolRequested(); }, true}};
    m_empty->setContent(std::move(content));
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);

    auto* footer = new Footer(style, this);
    auto* row = new QHBoxLayout(footer);
    row->setContentsMargins(0, 1, 0, 0);
    row->setSpacing(0);
    const auto button = [&](QToolButton* each, const QString& name, const QString& text) {
        each->setParent(footer);
        each->setAutoRaise(true);
        each->setText(text);
        each->setAccessibleName(name);
        each->setToolTip(name);
        row->addWidget(each);
    };
    button(m_up, tr("Move up (Alt+Up)"), QStringLiteral("▴"));
    button(m_down, tr("Move down (Alt+Down)"), QStringLiteral("▾"));
    button(m_delete, tr("Delete (Del)"), QStringLiteral("✕"));
    row->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(footer);

    connect(m_up, &QToolButton::clicked, this, [this] { move(-1); });
    connect(m_down, &QToolButton::clicked, this, [this] { move(1); });
    connect(m_delete, &QToolButton::clicked, this, [this] { m_notes.remove(currentId()); });
    connect(&notes, &NotesState::changed, this, &NotesView::refresh);
    connect(&notes, &NotesState::chosenChanged, this, &NotesView::followChosen);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        if (!m_following && currentId() != 0)
            m_notes.choose(currentId());
        refresh();
    });
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& at) {
        if (at.isValid() && currentId() != 0)
            emit jumpRequested(currentId());
    });
    connect(m_table, &QTableView::customContextMenuRequested, this, &NotesView::contextMenu);
    connect(&style, &Style::changed, this, &NotesView::restyle);
    restyle();
    refresh();
}

QString NotesView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString NotesView::plainText() const
{
    QStringList lines;
    for (int i = 0; i < m_model->rowCount(); ++i) {
        const report::Annotation& note = m_notes.items()[static_cast<std::size_t>(i)];
        lines << QString::number(i + 1) + QLatin1Char('\t') + shownText(oneLine(note.text))
                + QLatin1Char('\t') + whereText(note);
    }
    return lines.join(QLatin1Char('\n'));
}

std::uint64_t NotesView::currentId() const
{
    const int row = m_table->currentIndex().row();
    return row >= 0 && row < m_model->rowCount() ? m_notes.items()[static_cast<std::size_t>(row)].id : 0;
}

void NotesView::refresh()
{
    const int count = m_model->rowCount();
    m_stack->setCurrentWidget(count == 0 ? static_cast<QWidget*>(m_empty) : m_table);
    setWindowTitle(count == 0 ? QString() : countText(static_cast<std::int64_t>(count)));
    followChosen();
    const int row = m_table->currentIndex().row();
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < count);
    m_delete->setEnabled(row >= 0);
}

void NotesView::followChosen()
{
    const auto chosen = m_notes.chosen();
    const auto place = chosen ? m_notes.placeOf(*chosen) : std::nullopt;
    const int row = place ? static_cast<int>(*place) : -1;
    if (row == m_table->currentIndex().row())
        return;
    m_following = true;
    m_table->setCurrentIndex(row < 0 ? QModelIndex() : m_model->index(row, NotesModel::Remark));
    if (row < 0)
        m_table->clearSelection();
    m_following = false;
}

void NotesView::move(int direction)
{
    const std::uint64_t id = currentId();
    const auto place = m_notes.placeOf(id);
    if (!place)
        return;
    const auto to = static_cast<std::int64_t>(*place) + direction;
    if (to >= 0 && to < m_model->rowCount())
        m_notes.move(id, static_cast<std::size_t>(to));
}

bool NotesView::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const auto* press = static_cast<QKeyEvent*>(event);
        const bool arrow = press->key() == Qt::Key_Up || press->key() == Qt::Key_Down;
        if (arrow && press->modifiers() == Qt::AltModifier) {
            move(press->key() == Qt::Key_Up ? -1 : 1);
            return true;
        }
        if (press->key() == Qt::Key_Delete || press->key() == Qt::Key_Backspace) {
            m_notes.remove(currentId());
            return true;
        }
        if ((press->key() == Qt::Key_Return || press->key() == Qt::Key_Enter) && currentId() != 0) {
            emit jumpRequested(currentId());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void NotesView::contextMenu(QPoint position)
{
    const std::uint64_t id = currentId();
    if (id == 0)
        return;
    QMenu menu(this);
    menu.addAction(
        m_style.icon(QStringLiteral("arrow")), tr("Go there"), this, [this, id] { emit jumpRequested(id); });
    menu.addAction(m_style.icon(QStringLiteral("editor")), tr("Edit the text (F2)"), this,
        [this] { m_table->edit(m_model->index(m_table->currentIndex().row(), NotesModel::Remark)); });
    menu.addAction(
        m_style.icon(QStringLiteral("clear")), tr("Delete (Del)"), this, [this, id] { m_notes.remove(id); });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

void NotesView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->setFont(m_style.font(FontRole::Base));
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    m_table->horizontalHeader()->setFixedHeight(metrics.header);
    m_table->horizontalHeader()->resizeSection(NotesModel::Number, metrics.px(52));
    m_table->horizontalHeader()->resizeSection(NotesModel::Remark, metrics.px(190));
    m_table->viewport()->update();
}

} // namespace tidemark
