// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/redaction.hpp"

#include <QDialog>

#include <vector>

class QLabel;
class QTreeWidget;

namespace tidemark {

class Style;

/// What redaction takes out of a report and what is written in its place. GUI thread.
class RemovedList : public QDialog {
    Q_OBJECT
public:
    RemovedList(const Style& style, QWidget* parent);

    void setBusy();
    void show(const std::vector<report::Replacement>& replacements);
    using QDialog::show;

    QTreeWidget& list() { return *m_list; }

    /// More are counted, not listed.
    static constexpr std::size_t mostListed = 5000;

private:
    void restyle();

    const Style& m_style;
    QLabel* m_sum;
    QTreeWidget* m_list;
};

} // namespace tidemark
