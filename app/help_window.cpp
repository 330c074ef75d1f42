// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help_window.hpp"

#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QHBoxLayout>
#include <QListWidget>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextStream>
#include <QTextTable>
#include <QUrl>

namespace tidemark {

namespace {

const QString contents = QStringLiteral("index");

/// The first heading of a page.
QString titleOf(const QString& page)
{
    QFile file(QStringLiteral(":/help/%1.md").arg(page));
    if (!file.open(QIODevice::ReadOnly | QIODevice::Text))
        return page;
    QTextStream stream(&file);
    QString line;
    while (stream.readLineInto(&line))
        if (line.startsWith(QStringLiteral("# ")))
            return line.mid(2).trimmed();
    return page;
}

/// Names the views use for pages whose file is called otherwise.
QString fileOf(const QString& page)
{
    return page == QStringLiteral("recording") ? QStringLiteral("record") : page;
}

} // namespace

QStringList HelpWindow::pages()
{
    QStringList names;
    for (const QString& file :
        QDir(QStringLiteral(":/help")).entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name))
        names << file.chopped(3);
    if (names.removeOne(contents))
        names.prepend(contents);
    return names;
}

HelpWindow::HelpWindow(const Style& style, QWidget* parent)
    : QDialog(parent)
    , m_style(style)
    , m_list(new QListWidget(this))
    , m_text(new QTextBrowser(this))
{
    setWindowTitle(tr("Help – Tidemark"));
    setModal(false);
    for (const QString& page : pages()) {
        auto* item = new QListWidgetItem(titleOf(page), m_list);
        item->setData(Qt::UserRole, page);
    }
    m_list->setAccessibleName(tr("Pages"));
    m_text->setOpenLinks(false);
    m_text->setAccessibleName(tr("Page"));
    m_text->document()->setDocumentMargin(style.metrics().px(14));
    auto* split = new QSplitter(this);
    split->addWidget(m_list);
    split->addWidget(m_text);
    split->setStretchFactor(1, 1);
    split->setSizes({style.metrics().px(190), style.metrics().px(650)});
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
    resize(style.metrics().px(860), style.metrics().px(640));
    connect(m_list, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (!item)
            return;
        m_text->setSource(QUrl(QStringLiteral("qrc:/help/%1.md").arg(item->data(Qt::UserRole).toString())),
            QTextDocument::MarkdownResource);
        layOut();
    });
    connect(m_text, &QTextBrowser::anchorClicked, this, &HelpWindow::follow);
    // A page keeps the colours it was laid out with.
    connect(&style, &Style::changed, this, [this] {
        m_text->reload();
        layOut();
    });
}

void HelpWindow::layOut()
{
    const Metrics& m = m_style.metrics();
    for (QTextFrame* frame : m_text->document()->rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (!table)
            continue;
        QTextTableFormat format = table->format();
        format.setBorderCollapse(true);
        format.setBorder(1);
        format.setBorderBrush(m_style.color(Tone::Line2));
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setCellPadding(m.px(4));
        format.setCellSpacing(0);
        format.setTopMargin(m.px(4));
        format.setBottomMargin(m.px(10));
        table->setFormat(format);
    }
}

void HelpWindow::scrollTo(const QString& heading)
{
    // Headings of Markdown pages carry no anchors; they are named by their text.
    for (QTextBlock block = m_text->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || block.text() != heading)
            continue;
        m_text->moveCursor(QTextCursor::End);
        QTextCursor cursor(block);
        m_text->setTextCursor(cursor); // from below, so that the heading comes to the top
        return;
    }
}

void HelpWindow::follow(const QUrl& link)
{
    if (link.scheme().startsWith(QStringLiteral("http"))) {
        QDesktopServices::openUrl(link);
        return;
    }
    const QString file = link.fileName();
    if (file.endsWith(QStringLiteral(".md")))
        open(link.hasFragment() ? file.chopped(3) + QLatin1Char('#') + link.fragment() : file.chopped(3));
    else if (link.hasFragment())
        scrollTo(link.fragment());
}

void HelpWindow::open(const QString& page)
{
    const QString wanted = fileOf(page.section(QLatin1Char('#'), 0, 0));
    int row = 0;
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == wanted)
            row = i;
    m_list->setCurrentRow(row);
    show();
    raise();
    activateWindow();
    if (const QString heading = page.section(QLatin1Char('#'), 1); !heading.isEmpty())
        scrollTo(heading);
}

QString HelpWindow::page() const
{
    return m_list->currentItem() ? m_list->currentItem()->data(Qt::UserRole).toString() : QString();
}

} // namespace tidemark
