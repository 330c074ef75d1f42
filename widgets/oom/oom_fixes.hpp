// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QBoxLayout;
class QGridLayout;
class QLabel;
class QPushButton;

namespace tidemark {

class Style;

/// The finding about a failed request, as its place in Diagnosis::findings; absent when no rule speaks of it.
std::optional<std::size_t> findingOfFailure(
    const Diagnosis& diagnosis, std::size_t deviceIndex, EventIndex event);
/// Fixes to show of a finding, as their places in it: up to `most`, in the finding's order. What can be done
/// here goes before what is barred.
std::vector<std::size_t> bestFixes(const Finding& finding, std::size_t most);

/// What to do about a failed request: the first fixes of its finding, each with its grade, what bars it, and
/// a button where its effect can be predicted. Shown only when there are any. GUI thread.
class OomFixes : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t most = 3;

    OomFixes(Style& style, QWidget* parent = nullptr);

    void setFinding(std::shared_ptr<const Diagnosis> diagnosis, std::optional<std::size_t> finding);
    /// Places of the fixes shown, in the finding.
    const std::vector<std::size_t>& shown() const { return m_shown; }
    /// A line for each fix: its sentence and what bars it.
    QStringList lines() const;

signals:
    void tryRequested(std::size_t finding, std::size_t fix);
    void findingRequested(std::size_t finding);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void rebuild();
    void addRow(int row, const Fix& fix, std::size_t place);
    void arrange();

    Style& m_style;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    std::optional<std::size_t> m_finding;
    std::vector<std::size_t> m_shown;
    QBoxLayout* m_row;
    QBoxLayout* m_head;
    QLabel* m_heading;
    QWidget* m_list = nullptr;
    QGridLayout* m_grid = nullptr;
    QPushButton* m_all;
};

} // namespace tidemark
