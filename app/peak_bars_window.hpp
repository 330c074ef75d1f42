// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/loader.hpp"
#include "widgets/compare/peak_bars.hpp"

#include <QDialog>
#include <QStringList>

class QLabel;
class QPushButton;

namespace tidemark {

/// Up to eight runs as bars of their peaks. Files are read one after the other and only their figures kept.
/// GUI thread.
class PeakBarsWindow : public QDialog {
    Q_OBJECT
public:
    PeakBarsWindow(Style& style, const Loader::Opener& opener, QWidget* parent = nullptr);

    /// Adds files that are not there yet, as long as there is room.
    void add(const QStringList& paths);
    PeakBars& bars() { return *m_bars; }
    bool isReading() const { return m_loader.isLoading() || !m_waiting.isEmpty(); }
    QString message() const;

signals:
    /// Two files for the comparison: the base, and another one.
    void compareRequested(const QString& a, const QString& b);

private:
    void choose();
    void next();
    void say();

    PeakBars* m_bars;
    QLabel* m_message;
    QPushButton* m_add;
    QPushButton* m_clear;
    QStringList m_paths; ///< of the bars
    QStringList m_waiting;
    std::vector<compare::PeakBar> m_made;
    QString m_problem;
    Loader m_loader;
};

} // namespace tidemark
