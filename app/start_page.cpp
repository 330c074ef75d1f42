// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start_page.hpp"

#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QFileInfo>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int columnWidth = 640;
constexpr std::size_t recentShown = 8;

/// A recent file as a flat row: name, folder and date; painted, so that long folders can be shortened.
class RecentRow : public QPushButton {
public:
    RecentRow(const RecentFiles::Entry& entry, const Style& style, QWidget* parent)
        : QPushButton(parent)
        , m_style(style)
        , m_info(entry.path)
        , m_date(QLocale::c().toString(entry.opened.toLocalTime(), QStringLiteral("d MMM yyyy, hh:mm")))
    {
        setFlat(true);
        setCursor(Qt::PointingHandCursor);
        setToolTip(entry.path);
        setAccessibleName(tr("Open %1").arg(entry.path));
        setEnabled(m_info.exists());
        setText(m_info.fileName());
    }

    QSize sizeHint() const override { return {m_style.metrics().px(300), m_style.metrics().px(26)}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const Metrics& m = m_style.metrics();
        QPainter painter(this);
        if (underMouse() && isEnabled())
            painter.fillRect(rect(), m_style.color(Tone::SelSoft));
        if (hasFocus()) {
            painter.setPen(QPen(m_style.color(Tone::Sel), 2));
            painter.drawRect(rect().adjusted(1, 1, -1, -1));
        }
        const QFontMetrics base(font());
        const QFont small = m_style.font(FontRole::Small);
        const QFontMetrics tiny(small);
        const int baseline = (height() + base.ascent() - base.descent()) / 2;
        painter.setPen(m_style.color(isEnabled() ? Tone::Link : Tone::Dim));
        const QString name = base.elidedText(shownText(text().toStdString()), Qt::ElideMiddle, width() / 2);
        painter.drawText(m.px(8), baseline, name);
        painter.setFont(small);
        painter.setPen(m_style.color(Tone::Text2));
        const QString date = isEnabled() ? m_date : tr("not there any more");
        const int dateLeft = width() - m.px(8) - tiny.horizontalAdvance(date);
        painter.drawText(dateLeft, baseline, date);
        const int left = m.px(8) + base.horizontalAdvance(name) + m.px(10);
        const QString folder = shownText(m_info.absolutePath().toStdString());
        painter.drawText(
            left, baseline, tiny.elidedText(folder, Qt::ElideMiddle, dateLeft - left - m.px(10)));
    }

private:
    const Style& m_style;
    QFileInfo m_info;
    QString m_date;
};

} // namespace

StartPage::StartPage(RecentFiles& recent, const Style& style, bool hasSample, QWidget* parent)
    : QWidget(parent)
    , m_recent(recent)
    , m_style(style)
    , m_logo(new QLabel(this))
    , m_title(new QLabel(QStringLiteral("Tidemark"), this))
    , m_lead(new QLabel(tr("Where every byte of GPU memory went, at every moment of a PyTorch run."), this))
    , m_open(new QPushButton(tr("Open a file or folder…"), this))
    , m_sample(new QPushButton(tr("Open the sample"), this))
    , m_recentTitle(new QLabel(tr("Recent files"), this))
    , m_recentList(new QVBoxLayout)
    , m_howTitle(new QLabel(tr("How to record"), this))
    , m_howText(
          new QLabel(tr("Put these lines around the training steps to look at, then open the file."), this))
    , m_codeBox(new QFrame(this))
    , m_code(new QLabel(EmptyState::recordingLines(), m_codeBox))
    , m_copy(new QPushButton(style.icon(QStringLiteral("copy")), tr("Copy"), m_codeBox))
    , m_recording(new QPushButton(style.icon(QStringLiteral("help")), tr("Recording well"), this))
{
    makePrimary(*m_open, style);
    m_open->setIcon(style.icon(QStringLiteral("open"), Tone::SelText));
    m_open->setToolTip(tr("Ctrl+O; folders with Ctrl+Shift+O"));
    m_sample->setVisible(hasSample);
    m_code->setTextFormat(Qt::PlainText);
    m_code->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_codeBox->setFrameShape(QFrame::StyledPanel);
    m_codeBox->setAutoFillBackground(true);
    auto* codeRow = new QHBoxLayout(m_codeBox);
    codeRow->addWidget(m_code, 1);
    codeRow->addWidget(m_copy, 0, Qt::AlignTop);

    auto* head = new QHBoxLayout;
    head->addWidget(m_logo, 0, Qt::AlignTop);
    head->addSpacing(10);
    auto* words = new QVBoxLayout;
    words->addWidget(m_title);
    words->addWidget(m_lead);
    head->addLayout(words, 1);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_open);
    buttons->addWidget(m_sample);
    auto* drop = new QLabel(tr("or drop a file here"), this);
    drop->setObjectName(QStringLiteral("quiet"));
    buttons->addSpacing(4);
    buttons->addWidget(drop);
    buttons->addStretch(1);
    auto* how = new QHBoxLayout;
    how->addWidget(m_recording);
    how->addStretch(1);

    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(head);
    column->addSpacing(16);
    column->addLayout(buttons);
    column->addSpacing(20);
    column->addWidget(m_recentTitle);
    m_recentList->setSpacing(0);
    column->addLayout(m_recentList);
    column->addSpacing(20);
    column->addWidget(m_howTitle);
    column->addWidget(m_howText);
    column->addWidget(m_codeBox);
    column->addLayout(how);
    content->setMaximumWidth(columnWidth);
    content->setObjectName(QStringLiteral("column"));

    auto* inner = new QWidget;
    auto* centred = new QHBoxLayout(inner);
    centred->addStretch(1);
    auto* vertical = new QVBoxLayout;
    vertical->addStretch(2);
    vertical->addWidget(content);
    vertical->addStretch(3);
    centred->addLayout(vertical, 100);
    centred->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(inner);
    inner->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(scroll);

    connect(m_open, &QPushButton::clicked, this, &StartPage::openRequested);
    connect(m_sample, &QPushButton::clicked, this, &StartPage::sampleRequested);
    connect(m_recording, &QPushButton::clicked, this,
        [this] { emit helpRequested(QStringLiteral("recording")); });
    connect(m_copy, &QPushButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_code->text()); });
    connect(&recent, &RecentFiles::changed, this, &StartPage::fillRecent);
    connect(&style, &Style::changed, this, &StartPage::restyle);
    fillRecent();
    restyle();
}

void StartPage::fillRecent()
{
    while (QLayoutItem* item = m_recentList->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    m_recentButtons.clear();
    for (const RecentFiles::Entry& entry : m_recent.entries()) {
        if (m_recentButtons.size() == recentShown)
            break;
        auto* row = new RecentRow(entry, m_style, this);
        connect(row, &QPushButton::clicked, this, [this, path = entry.path] { emit pathRequested(path); });
        m_recentList->addWidget(row);
        m_recentButtons.push_back(row);
    }
    m_recentTitle->setVisible(!m_recentButtons.empty());
}

void StartPage::restyle()
{
    const Metrics& m = m_style.metrics();
    m_logo->setPixmap(m_style.pixmap(QStringLiteral("tidemark"), Tone::Sel, m.px(40), devicePixelRatioF()));
    m_title->setFont(m_style.font(FontRole::Title));
    m_recentTitle->setFont(m_style.font(FontRole::Strong));
    m_howTitle->setFont(m_style.font(FontRole::Strong));
    m_code->setFont(m_style.font(FontRole::Fixed));
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_lead->setPalette(quiet);
    m_howText->setPalette(quiet);
    if (auto* drop = findChild<QLabel*>(QStringLiteral("quiet")))
        drop->setPalette(quiet);
    QPalette box = m_style.theme().palette();
    box.setColor(QPalette::Window, m_style.color(Tone::Alt));
    m_codeBox->setPalette(box);
    if (auto* column = findChild<QWidget*>(QStringLiteral("column")))
        column->setMaximumWidth(m.px(columnWidth));
}

void StartPage::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
}

} // namespace tidemark
