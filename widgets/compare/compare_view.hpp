// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/compare/compare_state.hpp"
#include "widgets/style/style.hpp"

#include <QStringList>
#include <QWidget>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSplitter;
class QStackedLayout;
class QToolButton;

namespace tidemark {

class CompareCurves;
class CompareTable;
class EmptyState;
class SegmentMapView;
class Segmented;
class TimelineView;
class WhatChanged;

/// Two runs in one view: what each side is, how they are aligned, both curves with their difference, both
/// stacks or segment maps, the table of differences and what it means (help/compare.md). GUI thread.
class CompareView : public QWidget {
    Q_OBJECT
public:
    /// What a side can be: files by name.
    struct Choice {
        QString name;
        QString path;
    };

    CompareView(CompareState& state, Style& style, QWidget* parent = nullptr);
    ~CompareView() override;

    /// Files offered for both sides, besides "Choose…".
    void setChoices(const QList<Choice>& choices);
    /// Paths offered in the empty state.
    void setRecent(const QStringList& paths);
    /// B is being read: its name, or empty; a problem of it: one sentence, or empty.
    void setLoading(const QString& name);
    void setProblem(const QString& sentence);

    enum class Lower { Stacks, Maps };
    void setLower(Lower lower);
    /// The two timelines one above the other instead of side by side.
    void setStacked(bool stacked);
    bool isStacked() const;

    CompareCurves& curves() { return *m_curves; }
    CompareTable& table() { return *m_table; }
    WhatChanged& what() { return *m_what; }
    TimelineView& timeline(compare::Which side);
    SegmentMapView& map(compare::Which side);
    QComboBox& chooser(compare::Which side) { return *(side == compare::Which::A ? m_fileA : m_fileB); }
    QLineEdit& labelOf(compare::Which side) { return *(side == compare::Which::A ? m_labelA : m_labelB); }
    QString emptyHeading() const;
    /// The figures above the curves, as one line.
    QString figuresText() const;

    /// A page in the background asks for no room.
    QSize minimumSizeHint() const override { return {0, 0}; }

signals:
    void fileRequested(tidemark::compare::Which side, const QString& path);
    /// A file is to be chosen by a dialog.
    void chooseRequested(tidemark::compare::Which side);
    void swapRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeHeader();
    void fillChooser(compare::Which side);
    void fillDevices(compare::Which side);
    void refresh();
    void refreshFigures();
    void showEmpty();
    void followLower();
    void placeRows();
    void placeChoices();
    void restyle();

    CompareState& m_state;
    Style& m_style;
    QList<Choice> m_choices;
    QStringList m_recent;
    QString m_loading;
    QString m_problem;
    QLineEdit* m_labelA;
    QLineEdit* m_labelB;
    QComboBox* m_fileA;
    QComboBox* m_fileB;
    QComboBox* m_deviceA;
    QComboBox* m_deviceB;
    QToolButton* m_swap;
    QLabel* m_figures;
    QLabel* m_busy;
    Segmented* m_align;
    Segmented* m_at;
    Segmented* m_curve;
    Segmented* m_lowerChoice;
    Segmented* m_arrangement;
    QToolButton* m_resetOffset;
    QWidget* m_leftChoices = nullptr;
    QWidget* m_rightChoices = nullptr;
    QGridLayout* m_choiceGrid = nullptr;
    CompareCurves* m_curves;
    TimelineView* m_timelineA;
    TimelineView* m_timelineB;
    SegmentMapView* m_mapA;
    SegmentMapView* m_mapB;
    QLabel* m_captionA;
    QLabel* m_captionB;
    QSplitter* m_sides;
    QSplitter* m_rows;
    QSplitter* m_columns;
    CompareTable* m_table;
    WhatChanged* m_what;
    EmptyState* m_empty;
    QWidget* m_content;
    QStackedLayout* m_pages;
    Lower m_lower = Lower::Stacks;
    bool m_rowsMoved = false; ///< by the user
};

} // namespace tidemark
