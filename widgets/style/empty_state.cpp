// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/empty_state.hpp"

#include "widgets/style/controls.hpp"
#include "widgets/style/style.hpp"

#include <QClipboard>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int textWidth = 470;
constexpr int codeWidth = 640; // the recording line and the copy button beside it

QLabel* wrappedLabel(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

} // namespace

EmptyState::EmptyState(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_icon(new QLabel(this))
    , m_heading(wrappedLabel(this))
    , m_sentence(wrappedLabel(this))
    , m_caption(wrappedLabel(this))
    , m_box(new QFrame(this))
    , m_code(new QLabel(m_box))
    , m_copy(new QToolButton(m_box))
    , m_buttons(new QHBoxLayout)
{
    setAttribute(Qt::WA_StyledBackground, false);
    m_code->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_code->setTextFormat(Qt::PlainText);
    m_copy->setText(tr("Copy"));
    m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_copy->setIcon(style.icon(QStringLiteral("copy")));
    connect(m_copy, &QToolButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_content.code); });

    m_boxLayout = new QBoxLayout(QBoxLayout::LeftToRight, m_box);
    m_boxLayout->addWidget(m_code, 1, Qt::AlignTop);
    m_boxLayout->addWidget(m_copy, 0, Qt::AlignTop | Qt::AlignRight);
    m_box->setFrameShape(QFrame::StyledPanel);
    m_box->setAutoFillBackground(true);

    auto* texts = new QVBoxLayout;
    texts->addWidget(m_heading);
    texts->addWidget(m_sentence);
    texts->addSpacing(4);
    texts->addWidget(m_caption);
    texts->addWidget(m_box);
    texts->addSpacing(4);
    texts->addLayout(m_buttons);

    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addSpacing(10);
    row->addLayout(texts, 100);
    row->addStretch(1);
    auto* whole = new QVBoxLayout(this);
    whole->addStretch(1);
    whole->addLayout(row);
    whole->addStretch(2);

    connect(&style, &Style::changed, this, &EmptyState::restyle);
    restyle();
    setContent({});
}

void EmptyState::setContent(Content content)
{
    m_content = std::move(content);
    m_heading->setText(m_content.heading);
    m_sentence->setText(m_content.sentence);
    m_caption->setText(m_content.caption);
    m_code->setText(m_content.code);
    m_sentence->setVisible(!m_content.sentence.isEmpty());
    m_caption->setVisible(!m_content.caption.isEmpty());
    m_box->setVisible(!m_content.code.isEmpty());
    while (QLayoutItem* item = m_buttons->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    for (const Action& action : m_content.actions) {
        auto* button = new QPushButton(action.text, this);
        if (action.primary)
            makePrimary(*button, m_style);
        if (!action.icon.isEmpty())
            button->setIcon(m_style.icon(action.icon, action.primary ? Tone::SelText : Tone::Text));
        connect(button, &QPushButton::clicked, this, action.run);
        m_buttons->addWidget(button);
    }
    m_buttons->addStretch(1);
    restyle();
}

void EmptyState::restyle()
{
    m_heading->setFont(m_style.font(FontRole::Title));
    m_code->setMinimumHeight(QFontMetrics(m_style.font(FontRole::Fixed)).lineSpacing()
        * static_cast<int>(m_content.code.count(QLatin1Char('\n')) + 1));
    m_sentence->setFont(m_style.font(FontRole::Base));
    m_caption->setFont(m_style.font(FontRole::Base));
    m_code->setFont(m_style.font(FontRole::Fixed));
    const int width = m_style.metrics().px(textWidth);
    for (QWidget* w : std::initializer_list<QWidget*>{m_heading, m_sentence, m_caption})
        w->setMaximumWidth(width);
    m_box->setMaximumWidth(m_style.metrics().px(codeWidth));
    QPalette quiet = palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_caption->setPalette(quiet);
    QPalette box = palette();
    box.setColor(QPalette::Window, m_style.color(Tone::Alt));
    m_box->setPalette(box);
    if (!m_content.icon.isEmpty())
        m_icon->setPixmap(
            m_style.pixmap(m_content.icon, Tone::Text2, m_style.metrics().px(36), devicePixelRatioF()));
}

int EmptyState::boxWidth() const
{
    const QMargins margins = m_boxLayout->contentsMargins();
    return m_code->sizeHint().width() + m_boxLayout->spacing() + m_copy->sizeHint().width() + margins.left()
        + margins.right() + 2 * m_box->frameWidth();
}

// Little room: first the button goes below the lines, then the icon goes.
void EmptyState::arrange()
{
    const Metrics& m = m_style.metrics();
    const int whole = boxWidth() + m.px(36 + 10 + 24);
    m_boxLayout->setDirection(width() >= whole ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    const bool icon = !m_content.icon.isEmpty() && width() >= m.px(460);
    m_icon->setVisible(icon);
    // Nested layouts forget what wrapped labels need: say it outright.
    const QMargins outer = layout()->contentsMargins();
    const int room = width() - outer.left() - outer.right()
        - (icon ? m_icon->sizeHint().width() + m.px(10) + 2 * layout()->spacing() : 0);
    // A label without text has no height to ask for: −1.
    for (QLabel* label : {m_heading, m_sentence, m_caption})
        label->setMinimumHeight(
            std::max(0, label->heightForWidth(std::max(1, std::min(room, label->maximumWidth())))));
}

void EmptyState::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

QString EmptyState::recordingLines()
{
    return QStringLiteral("torch.cuda.memory._record_memory_history(max_entries=1_000_000)\n"
                          "# … the training steps to look at …\n"
                          "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")");
}

} // namespace tidemark
