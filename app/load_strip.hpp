// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/loader.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace tidemark {

/// What the summary strip becomes while a file is read: name, stage, bytes, rate, time left and Stop.
class LoadStrip : public QWidget {
    Q_OBJECT
public:
    explicit LoadStrip(const Style& style, QWidget* parent = nullptr);

    void begin(const LoadRequest& request);
    void show(const LoadProgress& progress);
    QString text() const;
    QPushButton* stopButton() const { return m_stop; }

    /// "Opening a.pickle · reading 1.92 of 3.14 GiB · 486 MiB/s · about 3 s left".
    static QString describe(const LoadProgress& progress);

signals:
    void stopRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Style& m_style;
    QLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_stop;
};

} // namespace tidemark
