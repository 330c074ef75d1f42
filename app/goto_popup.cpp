// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/goto_popup.hpp"

#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int popupWidth = 420;

} // namespace

GotoPopup::GotoPopup(Navigator& navigator, const Style& style, QWidget* parent)
    : QFrame(parent, Qt::Popup)
    , m_navigator(navigator)
    , m_style(style)
    , m_edit(new QLineEdit(this))
    , m_hint(new QLabel(this))
{
    setFrameShape(QFrame::StyledPanel);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    m_edit->setPlaceholderText(tr("Go to event, time or address"));
    m_edit->setAccessibleName(m_edit->placeholderText());
    m_hint->setTextFormat(Qt::PlainText);
    m_hint->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_edit);
    layout->addWidget(m_hint);
    connect(m_edit, &QLineEdit::textChanged, this, &GotoPopup::describe);
    connect(m_edit, &QLineEdit::returnPressed, this, &GotoPopup::commit);
}

void GotoPopup::popup()
{
    setFixedWidth(m_style.metrics().px(popupWidth));
    m_hint->setFont(m_style.font(FontRole::Small));
    m_edit->clear();
    describe();
    adjustSize();
    const QWidget* window = parentWidget();
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, m_style.metrics().px(130))));
    show();
    m_edit->setFocus();
}

QString GotoPopup::hint() const
{
    return m_hint->text();
}

void GotoPopup::describe()
{
    const Navigator::Target target = m_navigator.find(m_edit->text());
    m_hint->setText(target.text);
    QPalette p = m_style.theme().palette();
    p.setColor(QPalette::WindowText,
        m_style.color(target.state || m_edit->text().isEmpty() ? Tone::Text2 : Tone::Crit));
    m_hint->setPalette(p);
    adjustSize();
}

void GotoPopup::commit()
{
    if (m_navigator.goTo(m_edit->text()))
        hide();
}

} // namespace tidemark
