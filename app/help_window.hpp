// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QDialog>

class QListWidget;
class QTextBrowser;

namespace tidemark {

/// The pages of resources/help in a window of their own, beside the main one.
class HelpWindow : public QDialog {
    Q_OBJECT
public:
    explicit HelpWindow(const Style& style, QWidget* parent = nullptr);

    /// A page by its file name without ".md", at a heading when its text follows after "#"; the contents page
    /// when there is none of that name.
    void open(const QString& page);
    QString page() const;
    /// Names of all pages, contents first.
    static QStringList pages();

private:
    void follow(const QUrl& link);
    /// Tables as the rest of the window draws them.
    void layOut();
    void scrollTo(const QString& heading);

    const Style& m_style;
    QListWidget* m_list;
    QTextBrowser* m_text;
};

} // namespace tidemark
