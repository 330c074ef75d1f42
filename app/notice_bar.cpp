// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/notice_bar.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <utility>

namespace tidemark {

class NoticeBar::Row : public QWidget {
public:
    Row(QString name, const Notice& notice, const Style& style, NoticeBar& bar)
        : QWidget(&bar)
        , m_name(std::move(name))
        , m_weight(notice.weight)
        , m_style(style)
        , m_icon(new QLabel(this))
        , m_text(new QLabel(notice.sentence, this))
    {
        m_text->setTextFormat(Qt::PlainText);
        m_text->setWordWrap(true);
        m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        setAccessibleName(m_weight == Notice::Weight::Error ? tr("Error") : tr("Notice"));
        setAccessibleDescription(notice.sentence);
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(12, 6, 6, 6);
        layout->setSpacing(8);
        layout->addWidget(m_icon);
        layout->addWidget(m_text, 1);
        for (const Notice::Action& action : notice.actions) {
            auto* button = new QPushButton(action.text, this);
            // Later: it may take this row away.
            connect(button, &QPushButton::clicked, &bar, action.run, Qt::QueuedConnection);
            layout->addWidget(button);
            m_buttons.push_back(button);
        }
        auto* close = new QToolButton(this);
        close->setIcon(style.icon(QStringLiteral("clear")));
        close->setAccessibleName(tr("Close this message"));
        close->setToolTip(close->accessibleName());
        layout->addWidget(close);
        connect(
            close, &QToolButton::clicked, &bar,
            [&bar, name = m_name, dismissed = notice.dismissed] {
                bar.remove(name);
                if (dismissed)
                    dismissed();
            },
            Qt::QueuedConnection);
        connect(&style, &Style::changed, this, &Row::restyle);
        restyle();
    }

    const QString& name() const { return m_name; }
    QString sentence() const { return m_text->text(); }
    const std::vector<QPushButton*>& buttons() const { return m_buttons; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const auto [ground, edge] = tones();
        QPainter painter(this);
        painter.fillRect(rect(), m_style.color(ground));
        painter.fillRect(0, 0, m_style.metrics().px(3), height(), m_style.color(edge));
        painter.setPen(m_style.color(Tone::Line));
        painter.drawLine(0, height() - 1, width(), height() - 1);
    }

private:
    std::pair<Tone, Tone> tones() const
    {
        switch (m_weight) {
        case Notice::Weight::Quiet:
            return {Tone::InfoBg, Tone::Info};
        case Notice::Weight::Warning:
            return {Tone::WarnBg, Tone::WarnFill};
        case Notice::Weight::Error:
            break;
        }
        return {Tone::CritBg, Tone::Crit};
    }

    void restyle()
    {
        const char* icon = m_weight == Notice::Weight::Quiet ? "sev-info"
            : m_weight == Notice::Weight::Warning            ? "sev-warning"
                                                             : "sev-critical";
        m_icon->setPixmap(
            m_style.pixmap(QLatin1String(icon), tones().second, m_style.metrics().icon, devicePixelRatioF()));
        update();
    }

    QString m_name;
    Notice::Weight m_weight;
    const Style& m_style;
    QLabel* m_icon;
    QLabel* m_text;
    std::vector<QPushButton*> m_buttons;
};

NoticeBar::NoticeBar(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_column(new QVBoxLayout(this))
{
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    hide();
}

NoticeBar::Row* NoticeBar::row(const QString& name) const
{
    for (int i = 0; i < m_column->count(); ++i)
        if (auto* const each = static_cast<Row*>(m_column->itemAt(i)->widget()); each->name() == name)
            return each;
    return nullptr;
}

void NoticeBar::put(const QString& name, const Notice& notice)
{
    Row* const old = row(name);
    const int place = old ? m_column->indexOf(old) : m_column->count();
    auto* const made = new Row(name, notice, m_style, *this);
    m_column->insertWidget(place, made);
    if (old) {
        m_column->removeWidget(old);
        old->hide();
        old->deleteLater();
    }
    made->show();
    show();
}

void NoticeBar::remove(const QString& name)
{
    Row* const old = row(name);
    if (!old)
        return;
    m_column->removeWidget(old);
    old->hide();
    old->deleteLater();
    if (m_column->count() == 0)
        hide();
}

QStringList NoticeBar::names() const
{
    QStringList out;
    for (int i = 0; i < m_column->count(); ++i)
        out << static_cast<const Row*>(m_column->itemAt(i)->widget())->name();
    return out;
}

QString NoticeBar::sentence(const QString& name) const
{
    const Row* const found = row(name);
    return found ? found->sentence() : QString();
}

QPushButton* NoticeBar::button(const QString& name, const QString& text) const
{
    const Row* const found = row(name);
    if (found)
        for (QPushButton* const each : found->buttons())
            if (each->text() == text)
                return each;
    return nullptr;
}

} // namespace tidemark
