// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/error_banner.hpp"

#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QUrl>

namespace tidemark {

ErrorBanner::ErrorBanner(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_icon(new QLabel(this))
    , m_text(new QLabel(this))
    , m_partial(new QPushButton(tr("Open what can be read"), this))
    , m_range(new QPushButton(tr("Open a part…"), this))
    , m_copy(new QPushButton(style.icon(QStringLiteral("copy")), tr("Copy"), this))
    , m_folder(new QPushButton(style.icon(QStringLiteral("open")), tr("Open folder"), this))
    , m_close(new QToolButton(this))
{
    m_text->setTextFormat(Qt::PlainText);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close->setIcon(style.icon(QStringLiteral("clear")));
    m_close->setAccessibleName(tr("Close this message"));
    m_close->setToolTip(m_close->accessibleName());
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 6, 6);
    row->setSpacing(8);
    row->addWidget(m_icon);
    row->addWidget(m_text, 1);
    for (QWidget* button : std::initializer_list<QWidget*>{m_partial, m_range, m_copy, m_folder, m_close})
        row->addWidget(button);
    connect(m_partial, &QPushButton::clicked, this, [this] { emit partialRequested(m_problem.path); });
    connect(m_range, &QPushButton::clicked, this, [this] { emit rangeRequested(m_problem.path); });
    connect(m_copy, &QPushButton::clicked, this,
        [this] { QGuiApplication::clipboard()->setText(m_problem.sentence); });
    connect(m_folder, &QPushButton::clicked, this, &ErrorBanner::openFolder);
    connect(m_close, &QToolButton::clicked, this, &ErrorBanner::dismissed);
    connect(&style, &Style::changed, this, &ErrorBanner::restyle);
    setAccessibleName(tr("Error"));
    restyle();
    hide();
}

void ErrorBanner::restyle()
{
    m_icon->setPixmap(m_style.pixmap(
        QStringLiteral("sev-critical"), Tone::Crit, m_style.metrics().icon, devicePixelRatioF()));
    update();
}

void ErrorBanner::setProblem(const std::optional<FileProblem>& problem)
{
    if (!problem) {
        hide();
        return;
    }
    m_problem = *problem;
    m_text->setText(m_problem.sentence);
    setAccessibleDescription(m_problem.sentence);
    m_partial->setVisible(m_problem.canOpenPartially);
    m_range->setVisible(m_problem.canOpenRange);
    m_folder->setVisible(!m_problem.path.isEmpty() && QFileInfo(m_problem.path).absoluteDir().exists());
    show();
}

QString ErrorBanner::sentence() const
{
    return isHidden() ? QString() : m_problem.sentence;
}

void ErrorBanner::openFolder()
{
    QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_problem.path).absolutePath()));
}

void ErrorBanner::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::CritBg));
    painter.fillRect(0, 0, m_style.metrics().px(3), height(), m_style.color(Tone::Crit));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

} // namespace tidemark
