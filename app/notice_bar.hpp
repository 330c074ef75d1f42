// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace tidemark {

/// Something to know, with what can be done about it.
struct Notice {
    enum class Weight { Quiet, Warning, Error };
    struct Action {
        QString text;
        std::function<void()> run;
    };
    QString sentence; ///< plain text
    Weight weight = Weight::Quiet;
    std::vector<Action> actions;
    std::function<void()> dismissed = {}; ///< by its cross
};

/// Rows above the views, one per notice; takes no room while there is none. GUI thread.
class NoticeBar : public QWidget {
    Q_OBJECT
public:
    explicit NoticeBar(const Style& style, QWidget* parent = nullptr);

    /// Puts a notice in the place of the one with this name, or below the others.
    void put(const QString& name, const Notice& notice);
    void remove(const QString& name);
    /// Names of the notices that are shown, top to bottom.
    QStringList names() const;
    /// "" when there is none of this name.
    QString sentence(const QString& name) const;
    /// Null when the notice offers nothing called `text`.
    QPushButton* button(const QString& name, const QString& text) const;

private:
    class Row;
    Row* row(const QString& name) const;

    const Style& m_style;
    QVBoxLayout* m_column;
};

} // namespace tidemark
