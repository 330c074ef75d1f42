// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/page_preview.hpp"

#include "widgets/style/style.hpp"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {

namespace {

constexpr double trueSize = 96.0 / 72; // logical pixels a point
constexpr double smallestZoom = 0.25 * trueSize;
constexpr double largestZoom = 4 * trueSize;
/// Pages kept beside those in view; at the largest zoom one takes some 50 MB.
constexpr int keptAround = 2;

} // namespace

PagePreview::PagePreview(const Style& style, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_style(style)
    , m_task([this](Painted&& painted) { take(std::move(painted)); })
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Pages of the report"));
    viewport()->setAccessibleName(accessibleName());
    verticalScrollBar()->setSingleStep(40);
    // The width to fit must not hang on whether there is one.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    connect(&style, &Style::changed, viewport(), qOverload<>(&QWidget::update));
}

PagePreview::~PagePreview() = default;

void PagePreview::setPages(std::shared_ptr<const PagedReport> pages)
{
    const bool first = !m_pages;
    m_pages = std::move(pages);
    ++m_stamp;
    // Old pages stand in for new ones until those are painted.
    if (!m_pages)
        m_sheets.clear();
    updateBars();
    if (first)
        verticalScrollBar()->setValue(0);
    askForPages();
    tellPlace();
}

void PagePreview::setZoom(std::optional<double> zoom)
{
    const int page = currentPage();
    const double before = sheetSize().height();
    const double within = m_pages ? -sheetRect(page).top() : 0;
    m_zoom = zoom ? std::optional(std::clamp(*zoom, smallestZoom, largestZoom)) : std::nullopt;
    updateBars();
    if (m_pages && before > 0) {
        // The same line stays at the top.
        const double share = within / before;
        const int top = sheetRect(page).top() + verticalScrollBar()->value();
        verticalScrollBar()->setValue(static_cast<int>(std::lround(top + share * sheetSize().height())));
    }
    askForPages();
    tellPlace();
}

double PagePreview::scale() const
{
    if (m_zoom)
        return *m_zoom / trueSize;
    const double width = paperSize(m_pages ? m_pages->paper() : Paper::A4).width();
    return std::clamp((viewport()->width() - 2 * gap()) / width, smallestZoom, largestZoom) / trueSize;
}

void PagePreview::zoomBy(double factor)
{
    setZoom(scale() * trueSize * factor);
}

int PagePreview::gap() const
{
    return m_style.metrics().px(14);
}

QSize PagePreview::sheetSize() const
{
    return (paperSize(m_pages ? m_pages->paper() : Paper::A4) * scale() * trueSize).toSize();
}

QRect PagePreview::sheetRect(int page) const
{
    const QSize size = sheetSize();
    const int spare = viewport()->width() - size.width() - 2 * gap();
    const int x = gap() + (spare > 0 ? spare / 2 : -horizontalScrollBar()->value());
    const int y = gap() + page * (size.height() + gap()) - verticalScrollBar()->value();
    return {QPoint(x, y), size};
}

std::pair<int, int> PagePreview::visiblePages() const
{
    const int each = sheetSize().height() + gap();
    const int top = verticalScrollBar()->value();
    const int last = m_pages->pageCount() - 1;
    return {
        std::clamp((top - gap()) / each, 0, last), std::clamp((top + viewport()->height()) / each, 0, last)};
}

int PagePreview::currentPage() const
{
    if (!m_pages)
        return 0;
    const int middle = verticalScrollBar()->value() + viewport()->height() / 2;
    return std::clamp(middle / (sheetSize().height() + gap()), 0, m_pages->pageCount() - 1);
}

void PagePreview::showPage(int page)
{
    if (m_pages)
        verticalScrollBar()->setValue(
            std::clamp(page, 0, m_pages->pageCount() - 1) * (sheetSize().height() + gap()));
}

void PagePreview::updateBars()
{
    const QSize sheet = sheetSize();
    const int count = m_pages ? m_pages->pageCount() : 0;
    const int height = count * (sheet.height() + gap()) + gap();
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setRange(
        0, !m_zoom || !m_pages ? 0 : std::max(0, sheet.width() + 2 * gap() - viewport()->width()));
    viewport()->update();
}

bool PagePreview::isFresh(int page) const
{
    const auto found = m_sheets.constFind(page);
    return found != m_sheets.constEnd() && found->stamp == m_stamp
        && found->image.size() == (QSizeF(sheetSize()) * devicePixelRatioF()).toSize();
}

std::optional<int> PagePreview::nextMissing() const
{
    const auto [first, last] = visiblePages();
    for (int page = first; page <= last; ++page)
        if (!isFresh(page))
            return page;
    return std::nullopt;
}

bool PagePreview::settled() const
{
    return m_pages && !m_task.busy() && !nextMissing();
}

void PagePreview::askForPages()
{
    if (!m_pages || !isVisible())
        return;
    const std::optional<int> page = nextMissing();
    if (!page)
        return;
    const QSize size = (QSizeF(sheetSize()) * devicePixelRatioF()).toSize();
    m_task.request([pages = m_pages, page = *page, size, stamp = m_stamp](const Job& job) {
        Painted painted{page, {QImage(size, QImage::Format_RGB32), stamp}};
        QImage& image = painted.sheet.image;
        image.fill(Qt::white);
        if (job.stopped() || image.isNull())
            return painted;
        QPainter painter(&image);
        const double scale = size.width() / paperSize(pages->paper()).width();
        painter.scale(scale, scale);
        pages->paint(painter, page);
        return painted;
    });
}

void PagePreview::take(Painted&& painted)
{
    if (!m_pages)
        return;
    if (painted.sheet.stamp == m_stamp) {
        m_sheets.insert(painted.page, std::move(painted.sheet));
        const auto [first, last] = visiblePages();
        m_sheets.removeIf([from = first - keptAround, to = last + keptAround](
                              const auto& at) { return at.key() < from || at.key() > to; });
        viewport()->update();
    }
    askForPages();
}

void PagePreview::tellPlace()
{
    const int page = m_pages ? currentPage() : -1;
    if (std::exchange(m_told, std::pair(page, m_stamp)) != std::pair(page, m_stamp)) {
        QString text;
        if (m_pages) {
            text = tr("Page %1 of %2:").arg(page + 1).arg(m_pages->pageCount());
            for (const PagedReport::PlacedText& each : m_pages->texts(page))
                text += QLatin1Char(' ') + each.text;
        }
        setAccessibleDescription(text);
    }
    emit placeChanged();
}

void PagePreview::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), m_style.color(Tone::Win));
    if (!m_pages)
        return;
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    const auto [first, last] = visiblePages();
    for (int page = first; page <= last; ++page) {
        const QRect rect = sheetRect(page);
        painter.fillRect(rect, Qt::white);
        if (const auto found = m_sheets.constFind(page); found != m_sheets.constEnd())
            painter.drawImage(rect, found->image);
        painter.setPen(QPen(m_style.color(Tone::Line), 1));
        painter.drawRect(rect.adjusted(-1, -1, 0, 0));
    }
    if (hasFocus()) {
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void PagePreview::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    // As wide as the view: the page that is looked at stays.
    const int page = currentPage();
    const bool moves = fitsWidth() && m_pages && page > 0;
    updateBars();
    if (moves)
        showPage(page);
    askForPages();
    tellPlace();
}

void PagePreview::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        if (event->angleDelta().y() != 0)
            zoomBy(event->angleDelta().y() > 0 ? 1.15 : 1 / 1.15);
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

void PagePreview::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Home)
        verticalScrollBar()->setValue(0);
    else if (event->key() == Qt::Key_End)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    else
        QAbstractScrollArea::keyPressEvent(event);
}

void PagePreview::scrollContentsBy(int, int)
{
    viewport()->update();
    askForPages();
    tellPlace();
}

void PagePreview::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        updateBars();
}

} // namespace tidemark
