// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/empty_state.hpp"

#include "widgets/style/style.hpp"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace tidemark {

QString recordingLines()
{
    return QStringLiteral("torch.cuda.memory._record_memory_history(max_entries=1_000_000)\n"
                          "…\n"
                          "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")");
}

bool EmptyState::Content::sameTexts(const Content& other) const
{
    const auto sameCure = [](const Cure& a, const Cure& b) { return a.text == b.text && a.icon == b.icon; };
    return icon == other.icon && heading == other.heading && why == other.why && lines == other.lines
        && linesCaption == other.linesCaption
        && std::equal(cures.begin(), cures.end(), other.cures.begin(), other.cures.end(), sameCure);
}

EmptyState::EmptyState(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    connect(&style, &Style::changed, this, &EmptyState::rebuild);
}

void EmptyState::setContent(const Content& content)
{
    const bool same = m_body && m_content.sameTexts(content);
    m_content = content;
    if (!same)
        rebuild();
}

void EmptyState::rebuild()
{
    delete m_body;
    m_body = new QWidget(this);
    const Metrics& metrics = m_style.metrics();
    auto* const outer = new QHBoxLayout(m_body);
    outer->setContentsMargins(metrics.padding * 2, metrics.padding, metrics.padding * 2, metrics.padding);
    outer->setSpacing(metrics.padding * 2);
    auto* const icon = new QLabel;
    icon->setPixmap(m_style.pixmap(m_content.icon, Tone::Text2, metrics.px(28), devicePixelRatioF()));
    outer->addStretch();
    outer->addWidget(icon, 0, Qt::AlignTop);
    auto* const column = new QVBoxLayout;
    column->setSpacing(metrics.unit);
    const auto addText = [&](const QString& text, FontRole role, Tone tone) {
        auto* const label = new QLabel(text);
        label->setFont(m_style.font(role));
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, m_style.color(tone));
        label->setPalette(palette);
        column->addWidget(label);
    };
    addText(m_content.heading, FontRole::Title, Tone::Text);
    addText(m_content.why, FontRole::Base, Tone::Text);
    if (!m_content.linesCaption.isEmpty())
        addText(m_content.linesCaption, FontRole::Base, Tone::Text2);
    if (!m_content.lines.isEmpty())
        column->addWidget(linesBox());
    if (!m_content.cures.empty()) {
        column->addSpacing(metrics.unit);
        column->addWidget(buttonRow());
    }
    outer->addLayout(column, 1);
    outer->addStretch();
    m_body->setMaximumWidth(metrics.px(620));
    m_layout->addStretch(1);
    m_layout->addWidget(m_body, 0, Qt::AlignHCenter);
    m_layout->addStretch(2);
    while (m_layout->count() > 3)
        delete m_layout->takeAt(0);
    setAccessibleName(m_content.heading);
    setAccessibleDescription(m_content.why);
}

QWidget* EmptyState::linesBox()
{
    const Metrics& metrics = m_style.metrics();
    auto* const box = new QFrame;
    box->setFrameShape(QFrame::StyledPanel);
    auto* const row = new QHBoxLayout(box);
    row->setContentsMargins(metrics.padding, metrics.unit, metrics.unit, metrics.unit);
    auto* const lines = new QLabel(m_content.lines);
    lines->setFont(m_style.font(FontRole::Fixed));
    lines->setTextFormat(Qt::PlainText);
    lines->setTextInteractionFlags(Qt::TextSelectableByMouse);
    lines->setMinimumWidth(1);
    auto* const copy = new QPushButton(m_style.icon(QStringLiteral("copy")), QStringLiteral("Copy"));
    connect(
        copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_content.lines); });
    row->addWidget(lines, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    return box;
}

QWidget* EmptyState::buttonRow()
{
    auto* const buttons = new QWidget;
    auto* const row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(m_style.metrics().unit + 2);
    for (const Cure& cure : m_content.cures) {
        auto* const button = new QPushButton(cure.text);
        if (!cure.icon.isEmpty())
            button->setIcon(m_style.icon(cure.icon));
        button->setDefault(&cure == &m_content.cures.front());
        connect(button, &QPushButton::clicked, this, cure.act);
        row->addWidget(button);
    }
    row->addStretch();
    return buttons;
}

} // namespace tidemark
