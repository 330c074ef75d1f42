// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/system_theme.hpp"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusInterface>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QPalette>

#include <optional>

namespace tidemark {

namespace {

constexpr int answerMs = 200;
constexpr unsigned preferDark = 1;

/// org.freedesktop.appearance color-scheme: 0 no preference, 1 dark, 2 light.
std::optional<unsigned> portalPreference()
{
    const QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return std::nullopt;
    QDBusMessage call = QDBusMessage::createMethodCall(QStringLiteral("org.freedesktop.portal.Desktop"),
        QStringLiteral("/org/freedesktop/portal/desktop"), QStringLiteral("org.freedesktop.portal.Settings"),
        QStringLiteral("Read"));
    call << QStringLiteral("org.freedesktop.appearance") << QStringLiteral("color-scheme");
    const QDBusMessage reply = bus.call(call, QDBus::Block, answerMs);
    if (reply.type() != QDBusMessage::ReplyMessage || reply.arguments().isEmpty())
        return std::nullopt;
    QVariant value = reply.arguments().constFirst();
    while (value.canConvert<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    bool ok = false;
    const unsigned preference = value.toUInt(&ok);
    return ok && preference != 0 ? std::optional(preference) : std::nullopt;
}

} // namespace

bool systemPrefersDark(const QApplication& application)
{
    if (const auto preference = portalPreference())
        return *preference == preferDark;
    const QPalette palette = application.palette();
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

} // namespace tidemark
