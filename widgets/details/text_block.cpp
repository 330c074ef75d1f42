// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/text_block.hpp"

#include <QTextDocument>
#include <QTextOption>
#include <QWheelEvent>

#include <cmath>

namespace tidemark {

TextBlock::TextBlock(QWidget* parent)
    : QTextBrowser(parent)
{
    setFrameShape(QFrame::NoFrame);
    setOpenLinks(false);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setTextInteractionFlags(Qt::TextBrowserInteraction);
    // Tab goes to the next part of the panel, not to the next link.
    setTabChangesFocus(true);
    document()->setDocumentMargin(0);
    viewport()->setAutoFillBackground(false);
}

void TextBlock::setContent(const QString& html)
{
    document()->setDefaultFont(font());
    setHtml(html);
    fit();
}

void TextBlock::fit()
{
    document()->setTextWidth(viewport()->width());
    const int height = static_cast<int>(std::ceil(document()->size().height()));
    if (height != minimumHeight() || height != maximumHeight())
        setFixedHeight(height);
}

QSize TextBlock::sizeHint() const
{
    return {200, static_cast<int>(std::ceil(document()->size().height()))};
}

void TextBlock::resizeEvent(QResizeEvent* event)
{
    QTextBrowser::resizeEvent(event);
    if (event->oldSize().width() != event->size().width())
        fit();
}

void TextBlock::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

} // namespace tidemark
