// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings.hpp"

#include <QFileInfo>
#include <QStandardPaths>

namespace tidemark {

namespace {

QString layoutKey(const QString& name)
{
    return QStringLiteral("%1/%2").arg(QLatin1String(setting::layoutGroup), name);
}

} // namespace

Settings::Settings(const QString& path)
    : m_file(path.isEmpty() ? std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope,
                 QStringLiteral("tidemark"), QStringLiteral("tidemark"))
                            : std::make_unique<QSettings>(path, QSettings::IniFormat))
    , m_own(path.isEmpty())
{ }

QString Settings::dataFolder() const
{
    return m_own ? QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
                 : QFileInfo(m_file->fileName()).absolutePath();
}

QByteArray Settings::layout(const QString& name) const
{
    return m_file->value(layoutKey(name)).toByteArray();
}

void Settings::setLayout(const QString& name, const QByteArray& state)
{
    m_file->setValue(layoutKey(name), state);
}

void Settings::forgetLayouts()
{
    m_file->remove(QLatin1String(setting::layoutGroup));
}

} // namespace tidemark
