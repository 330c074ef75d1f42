// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QTableView>

#include <functional>

namespace tidemark {

/// A plain table without type-ahead (letters are commands everywhere); Ctrl+C copies what `copy` gives. GUI
/// thread.
class CopyTable : public QTableView {
public:
    CopyTable(std::function<QString()> copy, QWidget* parent)
        : QTableView(parent)
        , m_copy(std::move(copy))
    {
        setSelectionBehavior(QAbstractItemView::SelectRows);
        setSelectionMode(QAbstractItemView::SingleSelection);
        setEditTriggers(QAbstractItemView::NoEditTriggers);
        setShowGrid(false);
        setAlternatingRowColors(true);
        setFrameShape(QFrame::NoFrame);
        setWordWrap(false);
        setTabKeyNavigation(false);
        setCornerButtonEnabled(false);
        setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
        verticalHeader()->hide();
        verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
        horizontalHeader()->setHighlightSections(false);
        horizontalHeader()->setSectionsClickable(false);
        horizontalHeader()->setMinimumSectionSize(30);
    }
    void keyboardSearch(const QString&) override { }
    /// Rows take what room there is; they do not ask for it.
    QSize sizeHint() const override { return {QTableView::sizeHint().width(), minimumHeight()}; }

protected:
    bool event(QEvent* event) override
    {
        if (event->type() == QEvent::ShortcutOverride
            && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
            event->accept();
            return true;
        }
        return QTableView::event(event);
    }
    void keyPressEvent(QKeyEvent* event) override
    {
        if (event->matches(QKeySequence::Copy))
            QGuiApplication::clipboard()->setText(m_copy());
        else
            QTableView::keyPressEvent(event);
    }

private:
    std::function<QString()> m_copy;
};

} // namespace tidemark
