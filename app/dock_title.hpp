// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QWidget>

class QDockWidget;
class QToolButton;

namespace tidemark {

/// A dock's title bar: icon, name, the subtitle its view puts into its windowTitle, float and close.
class DockTitle : public QWidget {
    Q_OBJECT
public:
    /// `extra` may be null; it stands left of the buttons.
    DockTitle(QDockWidget& dock, QWidget& view, const QString& icon, const Style& style, QWidget* extra);

    /// Property of the dock: that only a part of the file is open, shown before the view's own line.
    static constexpr const char* partProperty = "tidemarkPart";

    /// Without icon and name, for a dock whose tab already shows them.
    void setCompact(bool compact);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QDockWidget& m_dock;
    QWidget& m_view;
    QString m_icon;
    const Style& m_style;
    QWidget* m_extra;
    bool m_compact = false;
    QToolButton* m_float;
    QToolButton* m_close;
};

} // namespace tidemark
