// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/finding_card.hpp"

#include "widgets/common/severity_look.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

/// Numbers shown in the card; the rest is in what Copy gives.
constexpr std::size_t shownEvidence = 12;

void colour(QLabel& label, const QColor& colour)
{
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, colour);
    label.setPalette(palette);
}

QLabel* plainLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(breakable(text), parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

} // namespace

GradeBox::GradeBox(Grade grade, const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_grade(grade)
    , m_style(style)
{
    setToolTip(gradeMeaning(grade));
    setAccessibleName(gradeMeaning(grade));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize GradeBox::sizeHint() const
{
    const int side = QFontMetrics(m_style.font(FontRole::Small)).height();
    return {side, side};
}

void GradeBox::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_style.color(Tone::Line));
    painter.setBrush(m_style.color(Tone::Alt));
    painter.drawRoundedRect(
        QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), m_style.metrics().radius, m_style.metrics().radius);
    painter.setPen(m_style.color(Tone::Text2));
    painter.setFont(m_style.font(FontRole::Small));
    painter.drawText(rect(), Qt::AlignCenter, QString(QLatin1Char(static_cast<char>(m_grade))));
}

FindingCard::FindingCard(
    const Finding& finding, const Diagnosis& diagnosis, const Style& style, QWidget* parent)
    : QFrame(parent)
    , m_finding(finding)
    , m_style(style)
    , m_icon(new QLabel(this))
    , m_title(plainLabel(shownText(finding.title), this))
    , m_subtitle(plainLabel(findingSubtitle(finding), this))
    , m_column(new QVBoxLayout)
{
    const QString place = findingPlace(finding, diagnosis);
    if (!place.isEmpty())
        m_subtitle->setText(m_subtitle->text() + QStringLiteral(" · ") + place);
    const Metrics& m = style.metrics();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(m.px(10), m.px(7), m.px(10), m.px(7));
    row->setSpacing(m.px(9));
    row->addWidget(m_icon, 0, Qt::AlignTop);
    m_column->setSpacing(m.px(2));
    m_column->addWidget(m_title);
    m_column->addWidget(m_subtitle);
    row->addLayout(m_column, 1);
    setAccessibleName(QStringLiteral("%1: %2").arg(severityWord(finding.severity), shownText(finding.title)));
    setCursor(Qt::PointingHandCursor);
    restyle();
}

void FindingCard::restyle()
{
    m_icon->setPixmap(m_style.pixmap(severityIcon(m_finding.severity), severityShapeTone(m_finding.severity),
        m_style.metrics().icon, devicePixelRatioF()));
    m_title->setFont(m_style.font(FontRole::Strong));
    m_subtitle->setFont(m_style.font(FontRole::Small));
    colour(*m_subtitle, m_style.color(Tone::Text2));
}

void FindingCard::setOpen(bool open)
{
    if (open == m_open)
        return;
    m_open = open;
    if (open && !m_body)
        makeBody();
    if (m_body)
        m_body->setVisible(open);
    update();
}

void FindingCard::setShown(bool shown)
{
    m_shown = shown;
    if (!m_show)
        return;
    m_show->setChecked(shown);
    m_show->setText(shown ? tr("Shown") : tr("Show"));
}

QString FindingCard::text() const
{
    return findingText(m_finding);
}

QLabel* FindingCard::addText(QVBoxLayout& column, const QString& text, FontRole role, Tone tone)
{
    QLabel* label = plainLabel(text, m_body);
    label->setFont(m_style.font(role));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setCursor(Qt::IBeamCursor);
    colour(*label, m_style.color(tone));
    column.addWidget(label);
    return label;
}

void FindingCard::makeBody()
{
    m_body = new QWidget(this);
    m_body->setCursor(Qt::ArrowCursor);
    auto* column = new QVBoxLayout(m_body);
    const Metrics& m = m_style.metrics();
    column->setContentsMargins(0, m.px(5), 0, 0);
    column->setSpacing(m.px(5));
    if (!m_finding.explanation.empty())
        addText(*column, shownText(m_finding.explanation), FontRole::Base, Tone::Text);
    // What to do comes before the numbers that prove it.
    addFixes(*column);
    addButtons(*column);
    addEvidence(*column);
    m_column->addWidget(m_body);
}

void FindingCard::addEvidence(QVBoxLayout& column)
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(m_style.metrics().px(10));
    grid->setVerticalSpacing(1);
    grid->setColumnStretch(0, 2);
    grid->setColumnStretch(1, 3);
    int row = 0;
    const auto add = [&](const QString& name, const QString& value, const QString& toolTip) {
        QLabel* left = plainLabel(name, m_body);
        left->setFont(m_style.font(FontRole::Small));
        colour(*left, m_style.color(Tone::Text2));
        QLabel* right = plainLabel(value, m_body);
        right->setFont(m_style.font(FontRole::Small));
        right->setAlignment(Qt::AlignRight | Qt::AlignTop);
        right->setToolTip(toolTip);
        grid->addWidget(left, row, 0, Qt::AlignTop);
        grid->addWidget(right, row++, 1, Qt::AlignTop);
    };
    if (!m_finding.site.empty())
        add(tr("site"), shownText(m_finding.site), shownText(m_finding.site));
    if (m_finding.count > 0)
        add(m_finding.allocations.empty() && !m_finding.segments.empty() ? tr("segments") : tr("allocations"),
            countText(m_finding.count), {});
    for (std::size_t i = 0; i < std::min(shownEvidence, m_finding.evidence.size()); ++i) {
        const EvidenceText text = evidenceText(m_finding.evidence[i]);
        if (m_finding.evidence[i].key != "label")
            add(text.name, text.value, text.exact);
    }
    column.addLayout(grid);
}

void FindingCard::addFixes(QVBoxLayout& column)
{
    const Metrics& m = m_style.metrics();
    int number = 0;
    for (const Fix& fix : m_finding.fixes) {
        auto* line = new QFrame(m_body);
        line->setFrameShape(QFrame::HLine);
        line->setForegroundRole(QPalette::Mid);
        column.addWidget(line);
        auto* row = new QHBoxLayout;
        row->setSpacing(m.px(8));
        auto* index = new QLabel(QString::number(++number), m_body);
        colour(*index, m_style.color(Tone::Text2));
        row->addWidget(index, 0, Qt::AlignTop);
        auto* texts = new QVBoxLayout;
        texts->setSpacing(1);
        const bool blocked = !fix.blockedBy.empty();
        addText(*texts, shownText(fix.text), FontRole::Base, blocked ? Tone::Dim : Tone::Text);
        if (blocked)
            addText(*texts, tr("Not here: %1").arg(shownText(fix.blockedBy)), FontRole::Small, Tone::Warn);
        if (const QString effect = fixEffect(fix); !effect.isEmpty())
            addText(*texts, effect, FontRole::Small, Tone::Text);
        if (!fix.cost.empty())
            addText(*texts, tr("Cost: %1").arg(shownText(fix.cost)), FontRole::Small, Tone::Text2)
                ->setToolTip(shownText(fix.source));
        row->addLayout(texts, 1);
        row->addWidget(new GradeBox(fix.grade, m_style, m_body), 0, Qt::AlignTop);
        column.addLayout(row);
    }
}

void FindingCard::addButtons(QVBoxLayout& column)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(m_style.metrics().px(4));
    const auto add = [&](const char* icon, const QString& text, const QString& tip) {
        auto* button = new QToolButton(m_body);
        button->setIcon(m_style.icon(QLatin1String(icon)));
        button->setText(text);
        button->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
        button->setToolTip(tip);
        button->setAccessibleName(text.isEmpty() ? tip : text);
        button->setFocusPolicy(Qt::StrongFocus);
        row->addWidget(button);
        return button;
    };
    m_show = add("eye", tr("Show"), tr("Fade everything else in all views (O)"));
    m_show->setCheckable(true);
    m_show->setEnabled(!m_finding.allocations.empty());
    if (!m_show->isEnabled())
        m_show->setToolTip(tr("There is no allocation to point at"));
    connect(m_show, &QToolButton::clicked, this, &FindingCard::showToggled);
    connect(add("arrow", tr("Go"), tr("Cursor and range to where it shows (Enter)")), &QToolButton::clicked,
        this, &FindingCard::goRequested);
    const bool any = std::any_of(
        m_finding.fixes.begin(), m_finding.fixes.end(), [](const Fix& fix) { return fix.predictable(); });
    if (any)
        connect(add("sandbox", tr("Try"), tr("Redraw the timeline as if its fixes were in place")),
            &QToolButton::clicked, this, &FindingCard::sandboxRequested);
    row->addStretch(1);
    connect(add("copy", {}, tr("Copy the finding with its numbers and fixes")), &QToolButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(findingText(m_finding)); });
    column.addLayout(row);
    setShown(m_shown);
}

void FindingCard::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
    if (m_open) {
        const QRect head(0, 0, width(), m_subtitle->geometry().bottom() + m_style.metrics().px(6));
        painter.fillRect(head, m_style.color(Tone::SelSoft));
        painter.fillRect(0, 0, m_style.metrics().px(3), height(), m_style.color(Tone::Sel));
    }
    painter.setPen(m_style.color(Tone::Line2));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

void FindingCard::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        emit chosen();
    else
        QFrame::mousePressEvent(event);
}

void FindingCard::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        emit goRequested();
}

} // namespace tidemark
