// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/status_line.hpp"

#include "widgets/style/text.hpp"

#include <QEvent>
#include <QLabel>
#include <QTimer>

namespace tidemark {

namespace {

constexpr int remarkMs = 6000;

} // namespace

StatusLine::StatusLine(
    Session& session, ViewState& state, Search& search, const Style& style, QWidget* parent)
    : QStatusBar(parent)
    , m_session(session)
    , m_state(state)
    , m_search(search)
    , m_style(style)
    , m_item(new QLabel(this))
    , m_filter(new QLabel(this))
    , m_hint(new QLabel(this))
    , m_activity(new QLabel(tr("Ready"), this))
{
    setSizeGripEnabled(false);
    for (QLabel* label : {m_item, m_filter, m_hint, m_activity})
        label->setTextFormat(Qt::PlainText);
    m_item->setMinimumWidth(0);
    m_item->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_item->installEventFilter(this);
    addWidget(m_item, 1);
    for (QLabel* label : {m_filter, m_hint, m_activity})
        addPermanentWidget(label);
    for (const auto signal : {&Session::opened, &Session::deviceChanged})
        connect(&session, signal, this, [this] {
            m_hover.clear();
            refresh();
        });
    connect(&state, &ViewState::toolChanged, this, &StatusLine::refresh);
    connect(&state, &ViewState::hoverTextChanged, this, [this](const QString& text) {
        m_hover = text;
        m_shown = m_hover.isEmpty() ? fileText() : m_hover;
        showItem();
    });
    connect(&search, &Search::changed, this, &StatusLine::refresh);
    connect(&style, &Style::changed, this, &StatusLine::restyle);
    restyle();
    refresh();
}

void StatusLine::restyle()
{
    const Metrics& m = m_style.metrics();
    setFixedHeight(m.statusBar);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    for (QLabel* label : {m_item, m_filter, m_hint, m_activity}) {
        label->setFont(m_style.font(FontRole::Small));
        label->setPalette(quiet);
        label->setContentsMargins(m.px(10), 0, m.px(10), 0);
    }
}

QString StatusLine::fileText() const
{
    const auto rank = m_session.rank();
    if (!rank)
        return {};
    const Source& source = rank->snapshot->source;
    QStringList parts{shownText(source.name), bytesText(source.fileBytes)};
    if (source.encoding == "pickle" && source.pickleProtocol)
        parts << tr("pickle protocol %1").arg(*source.pickleProtocol);
    else
        parts << shownText(source.encoding);
    if (source.container != "none")
        parts << tr("in %1").arg(shownText(source.container));
    if (const auto replay = m_session.replay()) {
        parts << tr("%1 events").arg(countText(static_cast<std::uint64_t>(replay->device().events.count())));
        parts
            << tr("%1 segments").arg(countText(static_cast<std::uint64_t>(replay->device().segments.size())));
        parts << tr("%1 allocations")
                     .arg(countText(static_cast<std::uint64_t>(replay->timeline.allocations().count())));
    }
    return parts.join(QStringLiteral(" · "));
}

void StatusLine::refresh()
{
    m_shown = m_hover.isEmpty() ? fileText() : m_hover;
    showItem();
    m_filter->setText(m_session.rank() ? m_search.summary() : QString());
    const bool events = m_session.replay() && m_session.replay()->states() > 1;
    if (!events)
        m_hint->clear();
    else if (m_state.tool() == Tool::Ruler)
        m_hint->setText(tr("Drag measures · Esc: pointer"));
    else if (m_state.tool() == Tool::Note)
        m_hint->setText(tr("Click sets a note · Esc: pointer"));
    else if (m_state.tool() == Tool::Box || m_state.tool() == Tool::Arrow)
        m_hint->setText(tr("Drag draws · Esc: pointer"));
    else
        m_hint->setText(tr("Drag: range · wheel: zoom · middle drag: pan"));
    m_hint->setVisible(events);
}

void StatusLine::showItem()
{
    const int room = m_item->width() - 2 * m_style.metrics().px(10);
    m_item->setText(m_item->fontMetrics().elidedText(m_shown, Qt::ElideRight, room));
}

bool StatusLine::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_item && event->type() == QEvent::Resize)
        showItem();
    return QStatusBar::eventFilter(watched, event);
}

void StatusLine::setActivity(const QString& text)
{
    m_activity->setText(text);
}

void StatusLine::remark(const QString& text)
{
    m_activity->setText(text);
    QTimer::singleShot(remarkMs, m_activity, [this, text] {
        if (m_activity->text() == text)
            m_activity->setText(tr("Ready"));
    });
}

QString StatusLine::filterText() const
{
    return m_filter->text();
}

QString StatusLine::hoverText() const
{
    return m_shown;
}

} // namespace tidemark
