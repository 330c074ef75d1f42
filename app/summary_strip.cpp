// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/summary_strip.hpp"

#include "app/quality_chip.hpp"
#include "model/core/parse.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>

namespace tidemark {

namespace {

constexpr int leftPad = 12;
constexpr int rightPad = 14;
constexpr int noteGap = 5;
constexpr int valueGap = 14;
constexpr int chipsAtLeast = 190;
constexpr int chipsFolded = 100; ///< their caption, and a button with their number

} // namespace

// ---------------------------------------------------------------- StripCell

StripCell::StripCell(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
}

void StripCell::setText(const StripText& text)
{
    m_text = text;
    setToolTip(text.toolTip);
    setAccessibleName(text.caption);
    setAccessibleDescription(valueText());
    setFocusPolicy(text.target || !m_link.isEmpty() ? Qt::TabFocus : Qt::NoFocus);
    updateGeometry();
    update();
}

QString StripCell::valueText() const
{
    QStringList parts;
    for (const StripValue& v : m_text.values) {
        if (!v.value.isEmpty())
            parts << v.value;
        if (!v.note.isEmpty())
            parts << v.note;
    }
    return parts.join(QLatin1Char(' '));
}

void StripCell::setShown(CellText shown)
{
    m_shown = shown;
    updateGeometry();
    update();
}

void StripCell::setAccent(bool accent)
{
    m_accent = accent;
}

void StripCell::setLink(const QString& text)
{
    m_link = text;
    updateGeometry();
    update();
}

std::vector<StripCell::Run> StripCell::runs(CellText shown) const
{
    std::vector<Run> out;
    const bool several = m_text.values.size() > 1;
    const bool terse = shown != CellText::Whole;
    for (const StripValue& v : m_text.values) {
        // With several figures an optional one goes whole; a lone one loses only its word.
        if (terse && v.optional && several)
            continue;
        if (shown == CellText::Least && !out.empty())
            break;
        const int gap = out.empty() ? 0 : m_style.metrics().px(valueGap);
        const bool words = v.value == QCoreApplication::translate("SummaryStrip", "unknown");
        if (!v.value.isEmpty())
            out.push_back({v.value, m_style.font(words ? FontRole::Base : FontRole::Value),
                words ? Tone::Text2 : Tone::Text, gap});
        if (!v.note.isEmpty() && !(terse && v.optional))
            out.push_back(
                {v.note, m_style.font(words || v.value.isEmpty() ? FontRole::Base : FontRole::Small),
                    Tone::Text2, v.value.isEmpty() ? gap : m_style.metrics().px(noteGap)});
    }
    return out;
}

int StripCell::widthFor(CellText shown) const
{
    const Metrics& m = m_style.metrics();
    int line = 0;
    for (const Run& run : runs(shown))
        line += run.gap + QFontMetrics(run.font).horizontalAdvance(run.text);
    if (!m_link.isEmpty())
        line += m.px(noteGap) + QFontMetrics(m_style.font(FontRole::Base)).horizontalAdvance(m_link);
    const int caption = QFontMetrics(m_style.font(FontRole::Small)).horizontalAdvance(m_text.caption);
    const int pads = m.px(leftPad) + m.px(rightPad);
    // With the least the caption ends in dots where it is longer than the figure.
    return (shown == CellText::Least ? line : std::max(line, caption)) + pads;
}

QSize StripCell::sizeHint() const
{
    return {widthFor(m_shown), m_style.metrics().strip};
}

QSize StripCell::minimumSizeHint() const
{
    return {0, m_style.metrics().strip};
}

int StripCell::linkLeft() const
{
    const Metrics& m = m_style.metrics();
    int x = m.px(leftPad);
    for (const Run& run : runs(m_shown))
        x += run.gap + QFontMetrics(run.font).horizontalAdvance(run.text);
    return x + m.px(noteGap);
}

void StripCell::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    if (m_accent)
        painter.fillRect(rect(), m_style.color(Tone::SelSoft));
    painter.setPen(m_style.color(Tone::Line2));
    painter.drawLine(width() - 1, 0, width() - 1, height());

    const QFont small = m_style.font(FontRole::Small);
    const QFontMetrics smallMetrics(small);
    const QFontMetrics valueMetrics(m_style.font(FontRole::Value));
    const int block = smallMetrics.height() + valueMetrics.height() + 1;
    const int top = std::max(0, (height() - block) / 2);
    int x = m.px(leftPad);
    painter.setFont(small);
    painter.setPen(m_style.color(Tone::Text2));
    const int room = width() - x - 2;
    painter.drawText(
        x, top + smallMetrics.ascent(), smallMetrics.elidedText(m_text.caption, Qt::ElideRight, room));

    const int baseline = top + smallMetrics.height() + 1 + valueMetrics.ascent();
    for (const Run& run : runs(m_shown)) {
        x += run.gap;
        painter.setFont(run.font);
        painter.setPen(m_style.color(run.tone));
        painter.drawText(x, baseline, run.text);
        x += QFontMetrics(run.font).horizontalAdvance(run.text);
    }
    if (!m_link.isEmpty()) {
        painter.setFont(m_style.font(FontRole::Base));
        painter.setPen(m_style.color(Tone::Link));
        painter.drawText(linkLeft(), baseline, m_link);
    }
    if (hasFocus()) {
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.drawRect(rect().adjusted(1, 1, -2, -2));
    }
}

void StripCell::mouseMoveEvent(QMouseEvent* event)
{
    const bool onLink = !m_link.isEmpty() && event->position().x() >= linkLeft();
    setCursor(onLink || m_text.target ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void StripCell::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !rect().contains(event->position().toPoint()))
        return;
    if (!m_link.isEmpty())
        emit linkClicked();
    else if (m_text.target)
        emit clicked(*m_text.target);
}

void StripCell::keyPressEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter && event->key() != Qt::Key_Space)
        return QWidget::keyPressEvent(event);
    if (!m_link.isEmpty())
        emit linkClicked();
    else if (m_text.target)
        emit clicked(*m_text.target);
}

// ------------------------------------------------------------- SummaryStrip

SummaryStrip::SummaryStrip(
    Session& session, ViewState& state, const Navigator& navigator, const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_navigator(navigator)
    , m_style(style)
    , m_peak(new StripCell(style, this))
    , m_reserved(new StripCell(style, this))
    , m_gap(new StripCell(style, this))
    , m_before(new StripCell(style, this))
    , m_card(new StripCell(style, this))
    , m_cursor(new StripCell(style, this))
    , m_cardEditor(new QLineEdit(m_card))
    , m_cardProblem(new QLabel(this))
    , m_quality(new QWidget(this))
    , m_qualityCaption(new QLabel(tr("Data quality"), m_quality))
    , m_chipRow(new QHBoxLayout)
{
    // Inside a toolbar labels would else take the colour of buttons.
    setBackgroundRole(QPalette::Window);
    m_cursor->setAccent(true);
    m_cardEditor->hide();
    m_cardEditor->setPlaceholderText(tr("80 GiB"));
    m_cardEditor->setAccessibleName(tr("Card size"));
    m_cardEditor->installEventFilter(this);
    m_cardProblem->hide();
    m_cardProblem->setTextFormat(Qt::PlainText);
    m_cardProblem->setAutoFillBackground(true);
    connect(m_cardEditor, &QLineEdit::textEdited, this, [this] { refuseCardSize({}); });
    connect(m_card, &StripCell::linkClicked, this, &SummaryStrip::editCardSize);
    for (StripCell* cell : {m_peak, m_reserved, m_gap, m_before})
        connect(cell, &StripCell::clicked, this, &SummaryStrip::stateRequested);

    auto* quality = new QVBoxLayout(m_quality);
    quality->setSpacing(2);
    quality->addStretch(1);
    quality->addWidget(m_qualityCaption);
    quality->addLayout(m_chipRow);
    quality->addStretch(1);
    m_quality->setMinimumWidth(0);
    m_quality->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Expanding);

    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    for (StripCell* cell : {m_peak, m_reserved, m_gap, m_before, m_card, m_cursor})
        row->addWidget(cell);
    row->addWidget(m_quality, 1);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);

    connect(&session, &Session::opened, this, [this] {
        m_cursorWidth = 0;
        const auto rank = m_session.rank();
        m_categories = rank && rank->devices.empty() ? categorySource(rank->snapshot) : nullptr;
    });
    connect(&session, &Session::deviceChanged, this, &SummaryStrip::refresh);
    connect(&session, &Session::cardSizeChanged, this, &SummaryStrip::refresh);
    connect(&session, &Session::diagnosisChanged, this, &SummaryStrip::refresh);
    connect(&state, &ViewState::cursorChanged, this, &SummaryStrip::refreshCursor);
    connect(&state, &ViewState::rangeChanged, this, &SummaryStrip::refreshCursor);
    connect(&style, &Style::changed, this, [this] {
        m_cursorWidth = 0;
        refresh();
    });
    refresh();
}

QSize SummaryStrip::sizeHint() const
{
    return {m_style.metrics().px(900), m_style.metrics().strip};
}

QSize SummaryStrip::minimumSizeHint() const
{
    return {0, m_style.metrics().strip};
}

void SummaryStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
    painter.drawLine(0, 0, width(), 0);
}

void SummaryStrip::refresh()
{
    const StripFigures texts = figures();
    m_peak->setText(texts.peakLive());
    m_reserved->setText(texts.peakReserved());
    m_gap->setText(texts.gap());
    m_before->setText(texts.before());
    m_card->setLink(m_session.cardSize() ? tr("Change…") : tr("Set…"));
    m_card->setText(texts.card());
    m_chips = texts.chips();
    m_chipWidth = -1;
    m_qualityCaption->setFont(m_style.font(FontRole::Small));
    QPalette quiet = palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_qualityCaption->setPalette(quiet);
    m_quality->layout()->setContentsMargins(m_style.metrics().px(leftPad), 0, 0, 0);
    m_chipRow->setSpacing(m_style.metrics().px(6));
    refreshCursor();
    arrange();
}

void SummaryStrip::refreshCursor()
{
    m_cursor->setText(figures().cursor());
    if (m_cursor->widthFor(CellText::Whole) > m_cursorWidth)
        arrange();
}

void SummaryStrip::resizeEvent(QResizeEvent*)
{
    arrange();
}

/// What has room in the strip.
struct SummaryStrip::Fit {
    bool gap = true;
    bool before = true;
    bool reserved = true;
    bool card = true;
    CellText cells = CellText::Whole;
    CellText cursor = CellText::Whole;
    int chips = chipsAtLeast;
};

int SummaryStrip::widthOf(const Fit& fit) const
{
    const auto cell = [&](const StripCell* each, bool shown) {
        return shown && !each->text().empty() ? each->widthFor(fit.cells) : 0;
    };
    return m_style.metrics().px(fit.chips) + cell(m_peak, true) + cell(m_reserved, fit.reserved)
        + cell(m_gap, fit.gap) + cell(m_before, fit.before) + cell(m_card, fit.card)
        + (fit.cursor == CellText::Whole ? m_cursorWidth : m_cursor->widthFor(fit.cursor));
}

/// Parts give way in a fixed order until the rest has room.
SummaryStrip::Fit SummaryStrip::fit() const
{
    Fit out;
    const std::initializer_list<std::function<void()>> steps{
        [&] { out.cursor = CellText::Terse; },
        [&] { out.before = false; },
        [&] { out.gap = false; },
        [&] { out.cells = CellText::Terse; },
        [&] { out.chips = chipsFolded; },
        [&] { out.reserved = false; },
        [&] { out.cursor = CellText::Least; },
        [&] { out.card = false; },
    };
    for (const auto& step : steps) {
        if (widthOf(out) <= width())
            break;
        step();
    }
    return out;
}

void SummaryStrip::arrange()
{
    m_cursorWidth = std::max(m_cursorWidth, m_cursor->widthFor(CellText::Whole));
    const bool open = m_session.rank() != nullptr;
    const Fit fits = fit();
    const auto put = [&](StripCell* cell, bool wanted, CellText shown) {
        cell->setVisible(open && wanted && !cell->text().empty());
        cell->setShown(shown);
    };
    put(m_peak, true, fits.cells);
    put(m_reserved, fits.reserved, fits.cells);
    put(m_gap, fits.gap, fits.cells);
    put(m_before, fits.before, fits.cells);
    put(m_card, fits.card || !m_cardEditor->isHidden(), fits.cells);
    put(m_cursor, true, fits.cursor);
    m_cursor->setFixedWidth(fits.cursor == CellText::Whole ? m_cursorWidth
                                                           : m_cursor->widthFor(fits.cursor)
                + (fits.cursor == CellText::Terse ? m_style.metrics().px(8) : 0));
    m_quality->setVisible(open);

    int left = 0;
    for (const StripCell* cell : {m_peak, m_reserved, m_gap, m_before, m_card})
        left += cell->isHidden() ? 0 : cell->sizeHint().width();
    left += m_cursor->isHidden() ? 0 : m_cursor->width();
    rebuildChips(std::max(0, width() - left - m_style.metrics().px(leftPad) - m_style.metrics().px(4)));
}

std::vector<ChipButton*> SummaryStrip::chipButtons() const
{
    std::vector<ChipButton*> out;
    for (int i = 0; i < m_chipRow->count(); ++i)
        if (auto* chip = qobject_cast<ChipButton*>(m_chipRow->itemAt(i)->widget()))
            out.push_back(chip);
    return out;
}

void SummaryStrip::rebuildChips(int room)
{
    if (room == m_chipWidth)
        return;
    m_chipWidth = room;
    while (QLayoutItem* item = m_chipRow->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const int spacing = m_chipRow->spacing();
    int used = 0;
    const auto more = [this](std::size_t count) {
        return new ChipButton(m_style, tr("+%1").arg(count), ChipButton::Look::Plain, m_quality);
    };
    for (std::size_t i = 0; i < m_chips.size(); ++i) {
        const QualityChip& chip = m_chips[i];
        const auto look = chip.kind == QualityChip::Kind::CardUnknown ? ChipButton::Look::Plain
            : chip.warning                                            ? ChipButton::Look::Warning
                                                                      : ChipButton::Look::Remark;
        auto* button = new ChipButton(m_style, chip.title, look, m_quality);
        const bool last = i + 1 == m_chips.size();
        const int tail = last ? 0 : m_style.metrics().px(48) + spacing;
        if (used + button->sizeHint().width() + tail > room) {
            delete button;
            auto* rest = more(m_chips.size() - i);
            rest->setToolTip(tr("More about this file"));
            connect(rest, &ChipButton::clicked, this, [this, i, rest] { openMoreChips(i, *rest); });
            m_chipRow->addWidget(rest);
            break;
        }
        used += button->sizeHint().width() + spacing;
        button->setToolTip(shownText(chip.note.sentence));
        connect(button, &ChipButton::clicked, this, [this, i, button] { openChip(m_chips[i], *button); });
        m_chipRow->addWidget(button);
    }
    if (m_chips.empty()) {
        auto* none = new QLabel(tr("nothing is missing"), m_quality);
        none->setFont(m_style.font(FontRole::Base));
        m_chipRow->addWidget(none);
    }
    m_chipRow->addStretch(1);
}

void SummaryStrip::openChip(const QualityChip& chip, const QWidget& anchor)
{
    auto* popup = new ChipPopup(m_style, chip, this);
    connect(popup, &ChipPopup::setCardRequested, this, &SummaryStrip::editCardSize);
    connect(popup, &ChipPopup::eventRequested, this, &SummaryStrip::eventRequested);
    connect(popup, &ChipPopup::helpRequested, this, &SummaryStrip::helpRequested);
    popup->showBelow(anchor);
}

void SummaryStrip::openMoreChips(std::size_t first, const QWidget& anchor)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (std::size_t i = first; i < m_chips.size(); ++i)
        menu->addAction(m_chips[i].title, this, [this, i, &anchor] { openChip(m_chips[i], anchor); });
    menu->popup(anchor.mapToGlobal(QPoint(0, anchor.height() + 2)));
}

void SummaryStrip::editCardSize()
{
    if (!m_session.rank())
        return;
    m_card->setVisible(true);
    const Metrics& m = m_style.metrics();
    const int width = std::max(m.px(96), m_card->width() - m.px(leftPad));
    const int height = m.px(24);
    m_cardEditor->setGeometry(
        m.px(6), m_card->height() - height - m.px(6), std::min(width, m_card->width() - m.px(8)), height);
    const auto size = m_session.cardSize();
    m_cardEditor->setText(size ? bytesText(*size).replace(QChar(0xa0), QLatin1Char(' ')) : QString());
    m_cardEditor->setToolTip(
        tr("Memory of the device, as in 80 GiB; empty: not known. Enter sets it, Esc leaves it."));
    refuseCardSize({});
    m_cardEditor->show();
    m_cardEditor->selectAll();
    m_cardEditor->setFocus();
}

void SummaryStrip::commitCardSize()
{
    const QString text = m_cardEditor->text().trimmed();
    if (text.isEmpty()) {
        m_session.setCardSize(std::nullopt);
        closeCardEditor();
        return;
    }
    const auto bytes = parseBytes(text.toStdString());
    // "80" is meant in GiB: no card has 80 bytes.
    const bool bare = parseCount(text.toStdString()).has_value();
    const auto meant = bare && *bytes > 0 && *bytes < 4096 ? std::optional(*bytes << 30) : bytes;
    const QString problem = meant ? figures().cardProblem(*meant) : tr("A size with its unit, as in 80 GiB");
    if (!problem.isEmpty()) {
        refuseCardSize(problem);
        return;
    }
    m_session.setCardSize(meant);
    closeCardEditor();
}

/// Says beside the field what is wrong with its text; empty takes it back.
void SummaryStrip::refuseCardSize(const QString& why)
{
    QPalette look = palette();
    if (!why.isEmpty())
        look.setColor(QPalette::Base, m_style.color(Tone::CritBg));
    m_cardEditor->setPalette(look);
    m_cardProblem->setVisible(!why.isEmpty());
    if (why.isEmpty())
        return;
    QPalette words = m_style.theme().palette();
    words.setColor(QPalette::Window, m_style.color(Tone::CritBg));
    words.setColor(QPalette::WindowText, m_style.color(Tone::Crit));
    m_cardProblem->setPalette(words);
    m_cardProblem->setFont(m_style.font(FontRole::Base));
    m_cardProblem->setText(why);
    m_cardProblem->setContentsMargins(m_style.metrics().padding, 0, m_style.metrics().padding, 0);
    // Over the cells to its right, or to its left where there is more room.
    const QRect field(m_cardEditor->mapTo(this, QPoint(0, 0)), m_cardEditor->size());
    const int wide = m_cardProblem->sizeHint().width();
    const int after = field.right() + m_style.metrics().unit;
    const bool right = after + wide <= width() || width() - after >= field.left();
    const int most = right ? width() - after : field.left() - m_style.metrics().unit;
    const int shown = std::min(wide, most);
    m_cardProblem->setGeometry(right ? after : most - shown, field.top(), shown, field.height());
    m_cardProblem->setToolTip(why);
    m_cardProblem->raise();
}

void SummaryStrip::closeCardEditor()
{
    if (m_cardEditor->isHidden())
        return;
    m_cardProblem->hide();
    m_cardEditor->hide();
    arrange();
}

bool SummaryStrip::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_cardEditor) {
        if (event->type() == QEvent::ShortcutOverride
            && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
            event->accept();
            return true;
        }
        if (event->type() == QEvent::KeyPress) {
            const int key = static_cast<QKeyEvent*>(event)->key();
            if (key == Qt::Key_Escape) {
                closeCardEditor();
                return true;
            }
            // Not by returnPressed: the line edit would let the key through to its cell, which opens it
            // again.
            if (key == Qt::Key_Return || key == Qt::Key_Enter) {
                commitCardSize();
                return true;
            }
        }
        if (event->type() == QEvent::FocusOut)
            closeCardEditor();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tidemark
