// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <memory>

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace tidemark {

/// What is said of the whole run: the headline, findings over ranks with what they rest on, and what could
/// not be decided. GUI thread.
class RunPanel : public QWidget {
    Q_OBJECT
public:
    RunPanel(Style& style, QWidget* parent = nullptr);

    void setJob(std::shared_ptr<const SummarisedJob> job);
    /// Shown while ranks are being read.
    void setProgress(std::size_t done, std::size_t total);
    QString headline() const;
    /// All that the panel says, as lines.
    QString plainText() const;

signals:
    void rankChosen(std::size_t rank);
    void openRequested(std::size_t rank);
    /// The rank against a peer of its role.
    void compareRequested(std::size_t rank, std::size_t peer);

private:
    void fill();
    void addFinding(const Finding& finding);
    std::optional<std::size_t> peerOf(std::size_t rank) const;

    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    QLabel* m_headline;
    QScrollArea* m_scroll;
    QVBoxLayout* m_column = nullptr;
    QStringList m_lines;
};

} // namespace tidemark
