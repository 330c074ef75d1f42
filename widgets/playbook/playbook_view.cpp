// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/playbook/playbook_view.hpp"

#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QTextBrowser>
#include <QTextOption>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int contentsFrom = 620; // width from which the list of sections stands beside the text

} // namespace

PlaybookView::PlaybookView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_search(new QLineEdit(this))
    , m_which(new Segmented(style, {tr("Everything"), tr("Found here")}, this))
    , m_summary(new QLabel(this))
    , m_contents(new QListWidget(this))
    , m_body(new QTextBrowser(this))
    , m_refresher(*this, [this] { refresh(); })
{
    setAccessibleName(tr("Playbook"));
    m_search->setPlaceholderText(tr("Search the playbook"));
    m_search->setAccessibleName(tr("Search the playbook"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_which->setAccessibleName(tr("Entries shown"));
    m_which->setPartToolTip(1, tr("Only entries that a finding of the open run belongs to"));
    m_summary->setWordWrap(true);
    m_contents->setAccessibleName(tr("Sections"));
    m_contents->setFrameShape(QFrame::NoFrame);
    m_contents->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_contents->setWordWrap(true);
    m_body->setFrameShape(QFrame::NoFrame);
    m_body->setOpenLinks(false);
    // Long names and commands go on below: nothing scrolls sideways.
    m_body->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    m_body->setAccessibleName(tr("Playbook"));
    m_body->setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
    setFocusProxy(m_body);

    auto* bar = new QHBoxLayout;
    bar->addWidget(m_search, 2);
    bar->addWidget(m_which);
    bar->addWidget(m_summary, 3);
    auto* pages = new QHBoxLayout;
    pages->setSpacing(0);
    pages->addWidget(m_contents);
    pages->addWidget(m_body, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(bar);
    layout->addLayout(pages, 1);

    connect(m_search, &QLineEdit::textChanged, this, [this] { m_refresher.schedule(); });
    connect(m_which, &Segmented::chosen, this, [this] { m_refresher.schedule(); });
    connect(m_body, &QTextBrowser::anchorClicked, this, &PlaybookView::follow);
    connect(m_contents, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0)
            m_body->scrollToAnchor(m_contents->item(row)->data(Qt::UserRole).toString());
    });
    connect(&session, &Session::opened, this, [this] { m_refresher.schedule(); });
    connect(&session, &Session::diagnosisChanged, this, [this] { m_refresher.schedule(); });
    connect(&style, &Style::changed, this, &PlaybookView::restyle);
    restyle();
}

PlaybookView::~PlaybookView() = default;

void PlaybookView::setPage(PlaybookPage page)
{
    m_page = std::move(page);
    m_refresher.schedule();
}

void PlaybookView::restyle()
{
    const Metrics& m = m_style.metrics();
    m_summary->setFont(m_style.font(FontRole::Small));
    m_contents->setFont(m_style.font(FontRole::Base));
    m_contents->setFixedWidth(m.px(170));
    m_body->document()->setDocumentMargin(m.px(10));
    auto* layout = qobject_cast<QVBoxLayout*>(this->layout());
    QLayout* bar = layout->itemAt(0)->layout();
    bar->setContentsMargins(m.padding, m.px(4), m.padding, m.px(4));
    bar->setSpacing(m.padding);
    addIcons();
    m_refresher.schedule();
}

void PlaybookView::addIcons()
{
    const auto add = [this](const char* name, Tone tone) {
        const QPixmap pixmap
            = m_style.pixmap(QLatin1String(name), tone, m_style.metrics().smallIcon, devicePixelRatioF());
        m_body->document()->addResource(QTextDocument::ImageResource,
            QUrl(QStringLiteral("icon:%1").arg(QLatin1String(name))), pixmap.toImage());
    };
    add("sev-critical", Tone::Crit);
    add("sev-warning", Tone::WarnFill);
    add("sev-info", Tone::Info);
    add("sev-ok", Tone::Ok);
    add("sev-unknown", Tone::Unknown);
}

QString PlaybookView::summary() const
{
    if (m_page.sections.empty())
        return tr("There is no playbook to read");
    if (!m_session.rank())
        return tr("Open a file to see which entries apply to it");
    if (!m_session.diagnosis())
        return tr("The open run has not been looked at yet");
    const auto count = [](int n) { return countText(static_cast<std::int64_t>(n)); };
    return tr("In the open run: %1 found · %2 looked for, not found · %3 cannot be decided")
        .arg(count(m_text.found), count(m_text.clear), count(m_text.undecided));
}

void PlaybookView::refresh()
{
    m_refresher.done();
    PlaybookFilter filter;
    filter.words = m_search->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    m_which->setPartEnabled(1, m_session.diagnosis() != nullptr);
    if (!m_session.diagnosis())
        m_which->setCurrent(0);
    filter.foundOnly = m_which->current() == 1;
    m_text = playbookText(m_page, m_session.diagnosis().get(), filter, m_style);
    const int place = m_body->verticalScrollBar()->value();
    m_body->document()->setDefaultFont(m_style.font(FontRole::Base));
    addIcons(); // a new text forgets them
    m_body->setHtml(m_text.html);
    m_body->verticalScrollBar()->setValue(place);
    QString line = summary();
    if (!filter.words.isEmpty() || filter.foundOnly)
        line = tr("%1 of %2 entries").arg(m_text.shown).arg(m_text.all) + QStringLiteral(" · ") + line;
    m_summary->setText(line);
    fillContents();
    arrange();
}

void PlaybookView::fillContents()
{
    const QSignalBlocker quiet(m_contents);
    m_contents->clear();
    for (std::size_t i = 0; i < m_page.sections.size(); ++i) {
        if (!m_text.sectionShown[i])
            continue;
        const int found = m_text.foundIn[i];
        auto* item
            = new QListWidgetItem(found == 0 ? m_page.sections[i].title
                                             : tr("%1 (%2 found)").arg(m_page.sections[i].title).arg(found),
                m_contents);
        item->setData(Qt::UserRole, m_page.sections[i].anchor);
    }
    m_contents->doItemsLayout();
}

void PlaybookView::arrange()
{
    m_contents->setVisible(width() >= m_style.metrics().px(contentsFrom) && m_contents->count() > 1);
}

void PlaybookView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void PlaybookView::showAll()
{
    m_search->clear();
    m_which->setCurrent(0);
    refresh();
}

void PlaybookView::showEntry(const QString& id)
{
    if (m_text.html.isEmpty() || !m_search->text().isEmpty() || m_which->current() != 0)
        showAll();
    m_body->scrollToAnchor(QStringLiteral("row-%1").arg(id));
}

void PlaybookView::setSearch(const QString& text)
{
    m_search->setText(text);
}

void PlaybookView::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

QString PlaybookView::text() const
{
    return m_body->toPlainText();
}

void PlaybookView::follow(const QUrl& link)
{
    const QString target = link.path();
    if (link.scheme() == QStringLiteral("finding")) {
        m_state.setFinding(target.toULongLong());
    } else if (link.scheme() == QStringLiteral("copy")) {
        const int place = target.toInt();
        if (place < 0 || place >= m_text.commands.size())
            return;
        QGuiApplication::clipboard()->setText(m_text.commands[place]);
        QToolTip::showText(QCursor::pos(), tr("Copied"), this);
    } else if (link.scheme() == QStringLiteral("clear")) {
        showAll();
    }
}

bool PlaybookView::eventFilter(QObject* watched, QEvent* event)
{
    // Esc empties the field first; another one belongs to the window.
    if (watched == m_search && event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && !m_search->text().isEmpty()) {
        event->accept();
        return true;
    }
    if (watched == m_search && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && !m_search->text().isEmpty()) {
        m_search->clear();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tidemark
