// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>

namespace tidemark {

/// Rich text that is as tall as what it says: selectable, with links, without bars of its own, so that
/// several of them scroll as one page. Long words break anywhere.
class TextBlock : public QTextBrowser {
    Q_OBJECT
public:
    explicit TextBlock(QWidget* parent = nullptr);

    void setContent(const QString& html);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {40, 0}; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void fit();
};

} // namespace tidemark
