// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_text_dialog.hpp"

#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace tidemark {

namespace {

QString titleOf(const OomText& answer)
{
    const QString thin = answer.thinMargin ? OomTextDialog::tr(", by a thin margin") : QString();
    switch (answer.verdict) {
    case Verdict::Capacity:
        return (answer.slack
                ? OomTextDialog::tr("By size%1: even packed, %2 short").arg(thin, bytesText(-*answer.slack))
                : OomTextDialog::tr("By size") + thin);
    case Verdict::Fragmentation:
        return OomTextDialog::tr("By fragmentation, not by size") + thin;
    case Verdict::WrongPool:
        return OomTextDialog::tr("The free memory is in another stream or pool");
    case Verdict::CaptureBlocked:
        return OomTextDialog::tr("During graph capture, when cached memory is not flushed");
    case Verdict::OutsideAllocator:
        return OomTextDialog::tr("Outside PyTorch's allocator");
    case Verdict::Unknown:
        break;
    }
    return OomTextDialog::tr("Cannot tell from this text");
}

} // namespace

OomTextDialog::OomTextDialog(Style& style, QWidget* parent)
    : QDialog(parent)
    , m_style(style)
    , m_text(new QPlainTextEdit(this))
    , m_icon(new QLabel(this))
    , m_title(new QLabel(this))
    , m_explanation(new QLabel(this))
    , m_figureBox(new QWidget(this))
    , m_figures(new QFormLayout(m_figureBox))
    , m_copy(nullptr)
{
    setWindowTitle(tr("Explain an error text – Tidemark"));
    auto* const prompt = new QLabel(tr("&Text of the error:"), this);
    prompt->setBuddy(m_text);
    m_text->setPlaceholderText(
        tr("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total "
           "capacity of …"));
    m_text->setAccessibleName(tr("Text of the error"));
    m_text->setTabChangesFocus(true);
    for (QLabel* label : {m_title, m_explanation}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_figures->setContentsMargins(0, 0, 0, 0);
    m_figures->setRowWrapPolicy(QFormLayout::WrapLongRows);
    auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_copy = buttons->addButton(tr("Copy explanation"), QDialogButtonBox::ActionRole);
    auto* const answer = new QVBoxLayout;
    answer->addWidget(m_title);
    answer->addWidget(m_explanation);
    answer->addWidget(m_figureBox);
    auto* const row = new QHBoxLayout;
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addLayout(answer, 1);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(prompt);
    column->addWidget(m_text, 1);
    column->addLayout(row);
    column->addWidget(buttons);
    connect(m_text, &QPlainTextEdit::textChanged, this, &OomTextDialog::explain);
    connect(m_copy, &QPushButton::clicked, this, &OomTextDialog::copy);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(&style, &Style::changed, this, &OomTextDialog::restyle);
    restyle();
    explain();
    resize(style.metrics().px(560), style.metrics().px(430));
}

void OomTextDialog::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_text->setFont(m_style.font(FontRole::Fixed));
    m_text->setMinimumHeight(QFontMetrics(m_text->font()).height() * 5);
    m_title->setFont(m_style.font(FontRole::Title));
    m_explanation->setFont(m_style.font(FontRole::Base));
    m_figures->setHorizontalSpacing(2 * metrics.padding);
    m_figures->setVerticalSpacing(1);
    m_icon->setPixmap(m_style.pixmap(m_known ? QStringLiteral("sev-critical") : QStringLiteral("sev-unknown"),
        m_known ? Tone::Crit : Tone::Unknown, metrics.px(24), devicePixelRatioF()));
}

void OomTextDialog::setText(const QString& text)
{
    m_text->setPlainText(text);
}

void OomTextDialog::clearFigures()
{
    while (m_figures->rowCount() > 0)
        m_figures->removeRow(0);
    m_lines.clear();
}

void OomTextDialog::addFigure(const QString& name, const QString& figure, const QString& tip)
{
    auto* const value = new QLabel(figure, m_figureBox);
    value->setToolTip(tip);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setWordWrap(true);
    m_figures->addRow(name, value);
    m_lines << name + QStringLiteral(": ") + figure;
}

void OomTextDialog::explain()
{
    const QString text = m_text->toPlainText();
    clearFigures();
    m_known = false;
    if (text.trimmed().isEmpty()) {
        m_title->setText(tr("Paste the text of an out-of-memory error"));
        m_explanation->setText(tr("Its numbers tell whether memory was short or only in pieces."));
    } else if (const Result<OomText> answer = parseOomText(text.toStdString()); answer.ok()) {
        showAnswer(answer.value());
    } else {
        m_title->setText(tr("This is no out-of-memory text that can be read"));
        m_explanation->setText(QString::fromStdString(answer.error().message));
    }
    m_copy->setEnabled(m_known);
    m_icon->setVisible(!text.trimmed().isEmpty());
    m_icon->setAccessibleName(m_known ? tr("critical") : tr("cannot decide"));
    m_figureBox->setVisible(!m_lines.isEmpty());
    restyle();
}

void OomTextDialog::showAnswer(const OomText& answer)
{
    m_known = answer.verdict != Verdict::Unknown;
    m_title->setText(titleOf(answer));
    m_explanation->setText(QString::fromStdString(answer.explanation));
    const auto add = [this](const QString& name, const std::optional<std::uint64_t>& bytes) {
        if (bytes)
            addFigure(name, bytesText(*bytes), exactBytesText(*bytes));
    };
    if (answer.tried > 0)
        add(tr("Asked for"), answer.tried);
    add(tr("Free on the device"), answer.free);
    add(tr("Reserved but unallocated"), answer.reservedUnallocated);
    if (answer.slack)
        addFigure(tr("Slack"),
            deltaText(*answer.slack) + tr("  =  free + reserved but unallocated − asked for"),
            exactBytesText(*answer.slack));
    add(tr("Allocated"), answer.allocated);
    add(tr("In private pools"), answer.privatePools);
    add(tr("Outside PyTorch"), answer.nonPyTorch);
    add(tr("Card"), answer.total);
}

QString OomTextDialog::title() const
{
    return m_title->text();
}

QString OomTextDialog::explanation() const
{
    return m_explanation->text();
}

QStringList OomTextDialog::figures() const
{
    return m_lines;
}

void OomTextDialog::copy() const
{
    QStringList lines{title(), explanation()};
    lines << m_lines;
    QGuiApplication::clipboard()->setText(
        lines.join(QLatin1Char('\n')).replace(QChar(0xa0), QLatin1Char(' ')));
}

} // namespace tidemark
