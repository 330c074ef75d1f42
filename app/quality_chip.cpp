// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/quality_chip.hpp"

#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int popupWidth = 360;

const char* iconOf(ChipButton::Look look)
{
    switch (look) {
    case ChipButton::Look::Warning:
        return "sev-warning";
    case ChipButton::Look::Remark:
        return "sev-info";
    case ChipButton::Look::Plain:
        break;
    }
    return "sev-unknown";
}

Tone toneOf(ChipButton::Look look)
{
    switch (look) {
    case ChipButton::Look::Warning:
        return Tone::WarnFill;
    case ChipButton::Look::Remark:
        return Tone::Info;
    case ChipButton::Look::Plain:
        break;
    }
    return Tone::Unknown;
}

ChipButton::Look lookOf(const QualityChip& chip)
{
    if (chip.kind == QualityChip::Kind::CardUnknown)
        return ChipButton::Look::Plain;
    return chip.warning ? ChipButton::Look::Warning : ChipButton::Look::Remark;
}

} // namespace

ChipButton::ChipButton(const Style& style, const QString& text, Look look, QWidget* parent)
    : QAbstractButton(parent)
    , m_style(style)
    , m_look(look)
{
    setText(text);
    setFont(style.font(FontRole::Small));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize ChipButton::sizeHint() const
{
    const Metrics& m = m_style.metrics();
    const QFontMetrics fm(font());
    return {fm.horizontalAdvance(text()) + m.px(6 + 12 + 5 + 9), std::max(m.px(20), fm.height() + m.px(4))};
}

void ChipButton::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tone ground = m_look == Look::Warning ? Tone::WarnBg
        : m_look == Look::Remark                ? Tone::InfoBg
                                                : Tone::Base;
    const Tone frame = m_look == Look::Plain ? Tone::Line : toneOf(m_look);
    painter.setBrush(m_style.color(underMouse() && m_look == Look::Plain ? Tone::Alt : ground));
    painter.setPen(QPen(hasFocus() ? m_style.color(Tone::Sel) : m_style.color(frame), hasFocus() ? 2 : 1));
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2);
    const int side = m.px(12);
    const QPixmap icon
        = m_style.pixmap(QLatin1String(iconOf(m_look)), toneOf(m_look), side, devicePixelRatioF());
    painter.drawPixmap(QPointF(m.px(7), (height() - side) / 2.0), icon);
    painter.setPen(m_style.color(Tone::Text));
    painter.setFont(font());
    painter.drawText(rect().adjusted(m.px(6 + 12 + 5), 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
}

ChipPopup::ChipPopup(const Style& style, const QualityChip& chip, QWidget* parent)
    : QFrame(parent, Qt::Popup)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    const Metrics& m = style.metrics();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(m.px(12), m.px(10), m.px(12), m.px(10));
    const auto add = [&](const QString& text, FontRole role) {
        auto* label = new QLabel(text, this);
        label->setTextFormat(Qt::PlainText);
        label->setFont(style.font(role));
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setFixedWidth(m.px(popupWidth));
        layout->addWidget(label);
        return label;
    };

    auto* head = new QHBoxLayout;
    auto* icon = new QLabel(this);
    const ChipButton::Look look = lookOf(chip);
    icon->setPixmap(
        style.pixmap(QLatin1String(iconOf(look)), toneOf(look), m.icon, parent->devicePixelRatioF()));
    head->addWidget(icon);
    auto* title = new QLabel(chip.title, this);
    title->setFont(style.font(FontRole::Strong));
    head->addWidget(title, 1);
    if (chip.kind == QualityChip::Kind::Note) {
        auto* id = new QLabel(QLatin1String(qualityName(chip.note.id)), this);
        id->setFont(style.font(FontRole::Fixed));
        head->addWidget(id);
    }
    layout->addLayout(head);
    add(shownText(chip.note.sentence), FontRole::Base);
    if (chip.note.count > 1)
        add(tr("Met %1 times.").arg(countText(chip.note.count)), FontRole::Small);
    if (!chip.note.examples.empty()) {
        QStringList lines;
        for (const std::string& example : chip.note.examples)
            lines << shownText(example);
        add(lines.join(QLatin1Char('\n')), FontRole::Fixed);
    }

    auto* buttons = new QHBoxLayout;
    if (chip.kind == QualityChip::Kind::CardUnknown) {
        auto* set = new QPushButton(tr("Set…"), this);
        connect(set, &QPushButton::clicked, this, [this] {
            close();
            emit setCardRequested();
        });
        buttons->addWidget(set);
    } else {
        if (chip.note.firstEvent) {
            auto* go = new QPushButton(
                tr("Go to event %1").arg(countText(std::uint64_t{*chip.note.firstEvent})), this);
            connect(go, &QPushButton::clicked, this, [this, event = *chip.note.firstEvent] {
                close();
                emit eventRequested(event);
            });
            buttons->addWidget(go);
        }
        auto* help = new QPushButton(tr("What it means"), this);
        connect(help, &QPushButton::clicked, this, [this, id = chip.note.id] {
            close();
            emit helpRequested(QStringLiteral("data-quality#%1").arg(QLatin1String(qualityName(id))));
        });
        buttons->addWidget(help);
    }
    buttons->addStretch(1);
    layout->addLayout(buttons);
}

void ChipPopup::showBelow(const QWidget& anchor)
{
    adjustSize();
    QPoint at = anchor.mapToGlobal(QPoint(0, anchor.height() + 2));
    const QRect screen = anchor.screen()->availableGeometry();
    at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
    move(at);
    show();
}

} // namespace tidemark
