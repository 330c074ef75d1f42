// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <memory>

namespace tidemark {

/// One remembered choice: its key in the settings file and what holds until the user chooses.
template <typename T>
struct SettingKey {
    const char* key;
    T fallback;
};

/// The table of everything that is remembered between starts. Nothing else is written.
namespace setting {
inline const SettingKey<QString> theme{"look/theme", QStringLiteral("system")}; ///< system, light, dark
inline const SettingKey<int> textPercent{"look/textPercent", 100};
inline const SettingKey<bool> singleLetters{"keys/singleLetters", true};
/// Opens a source line: {file} and {line} are replaced. Empty: the desktop's program for the file.
inline const SettingKey<QString> editorCommand{"editor/command", QString()};
inline const SettingKey<QString> pathRules{"editor/paths", QString()};
/// The user's label rules, a JSON or YAML file.
inline const SettingKey<QString> labelRules{"labels/rules", QString()};
/// user: innermost own frame; raw: innermost frame of all.
inline const SettingKey<QString> siteMode{"view/sites", QStringLiteral("user")};
inline const SettingKey<bool> lanes{"view/lanes", true};
/// Whether opened files are kept for opening them faster the next time, and how much of them.
inline const SettingKey<bool> cacheOn{"cache/on", true};
inline const SettingKey<int> cacheLimitMiB{"cache/limitMiB", 4096};
/// Paths, newest first; times and card sizes in the same order.
inline const SettingKey<QStringList> recentPaths{"recent/paths", {}};
inline const SettingKey<QStringList> recentTimes{"recent/times", {}};
inline const SettingKey<QStringList> recentCards{"recent/cards", {}};
inline const SettingKey<QString> lastFolder{"recent/folder", QString()};
/// Per screen size and arrangement: "layout/1600x1000/wide/state", …/geometry.
inline constexpr const char* layoutGroup = "layout";
} // namespace setting

/// Typed access to the settings file. GUI thread.
class Settings {
public:
    /// The user's own file, or `path` when given (tests).
    explicit Settings(const QString& path = {});

    template <typename T>
    T get(const SettingKey<T>& key) const
    {
        const QVariant value = m_file->value(QLatin1String(key.key));
        return value.isValid() && value.canConvert<T>() ? value.value<T>() : key.fallback;
    }
    template <typename T>
    void set(const SettingKey<T>& key, const T& value)
    {
        m_file->setValue(QLatin1String(key.key), value);
    }

    /// Where data that is no setting is kept: the user's own folder for it, or beside `path`. It need not
    /// exist.
    QString dataFolder() const;

    QByteArray layout(const QString& name) const;
    void setLayout(const QString& name, const QByteArray& state);
    void forgetLayouts();

private:
    std::unique_ptr<QSettings> m_file;
    bool m_own;
};

} // namespace tidemark
