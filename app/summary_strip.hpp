// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/strip_figures.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QStackedWidget;

namespace tidemark {

class ChipButton;

/// What a cell shows: everything, what is not optional, its first figure alone.
enum class CellText { Whole, Terse, Least };

/// One cell: a caption above figures with small words behind them.
class StripCell : public QWidget {
    Q_OBJECT
public:
    StripCell(const Style& style, QWidget* parent);

    void setText(const StripText& text);
    const StripText& text() const { return m_text; }
    /// The figures as one line, for tests and screen readers.
    QString valueText() const;
    void setShown(CellText shown);
    void setAccent(bool accent);
    /// A link behind the figures ("Set…"); empty for none.
    void setLink(const QString& text);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    int widthFor(CellText shown) const;

signals:
    void clicked(tidemark::StateIndex target);
    void linkClicked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Run {
        QString text;
        QFont font;
        Tone tone;
        int gap; ///< before it
    };
    std::vector<Run> runs(CellText shown) const;
    int linkLeft() const;

    const Style& m_style;
    StripText m_text;
    QString m_link;
    CellText m_shown = CellText::Whole;
    bool m_accent = false;
};

/// The strip that is always visible: peak, reserved, gap, what is older, card, the cursor and what this file
/// cannot tell. Cells drop out in a fixed order when it gets narrow.
class SummaryStrip : public QWidget {
    Q_OBJECT
public:
    SummaryStrip(Session& session, ViewState& state, const Navigator& navigator, const Style& style,
        QWidget* parent = nullptr);

    /// Opens the editor of the card size in its cell.
    void editCardSize();

    StripCell* peakCell() const { return m_peak; }
    StripCell* reservedCell() const { return m_reserved; }
    StripCell* gapCell() const { return m_gap; }
    StripCell* beforeCell() const { return m_before; }
    StripCell* cardCell() const { return m_card; }
    StripCell* cursorCell() const { return m_cursor; }
    QLineEdit* cardEditor() const { return m_cardEditor; }
    QLabel* cardProblem() const { return m_cardProblem; }
    /// All chips of the file; some may be behind the "+n" one.
    const std::vector<QualityChip>& chips() const { return m_chips; }
    std::vector<ChipButton*> chipButtons() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void stateRequested(tidemark::StateIndex state);
    void eventRequested(std::uint32_t event);
    void helpRequested(const QString& page);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    StripFigures figures() const { return {m_session, m_state, m_navigator, m_categories}; }
    void refresh();
    void refreshCursor();
    void arrange();
    struct Fit;
    Fit fit() const;
    int widthOf(const Fit& fit) const;
    void rebuildChips(int width);
    void refuseCardSize(const QString& why);
    void openChip(const QualityChip& chip, const QWidget& anchor);
    void openMoreChips(std::size_t first, const QWidget& anchor);
    void commitCardSize();
    void closeCardEditor();

    Session& m_session;
    ViewState& m_state;
    const Navigator& m_navigator;
    const Style& m_style;
    StripCell* m_peak;
    StripCell* m_reserved;
    StripCell* m_gap;
    StripCell* m_before;
    StripCell* m_card;
    StripCell* m_cursor;
    QLineEdit* m_cardEditor;
    QLabel* m_cardProblem; ///< why the size typed is refused, beside the field
    QWidget* m_quality;
    QLabel* m_qualityCaption;
    QHBoxLayout* m_chipRow;
    std::vector<QualityChip> m_chips;
    std::shared_ptr<const TimelineSource> m_categories;
    /// The cursor cell only grows while a file is open, so that its neighbours stand still.
    int m_cursorWidth = 0;
    int m_chipWidth = -1;
};

} // namespace tidemark
