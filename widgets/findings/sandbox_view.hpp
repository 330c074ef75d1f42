// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/prediction.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QScrollArea>

#include <vector>

class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace tidemark {

/// Fixes of the open device to tick: those ticked are applied together to the recorded lifetimes, off the GUI
/// thread; the timeline shows the predicted curve, this view the figures side by side. windowTitle() is the
/// dock's subtitle. GUI thread.
class SandboxView : public QScrollArea {
    Q_OBJECT
public:
    SandboxView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);

    /// Ticks the fixes of one finding that can be predicted, and no other.
    void tryFinding(std::size_t finding);
    void setTicked(const FixPlace& place, bool on);
    std::vector<FixPlace> ticked() const;
    /// "With 1 fix ticked" and the figures, as lines of text.
    QString resultText() const;
    /// A prediction is being made.
    bool busy() const { return m_task.busy(); }

private:
    struct Row {
        FixPlace place;
        QCheckBox* box = nullptr;
    };
    void rebuild();
    void addFix(const FixPlace& place, const Finding& finding, const Fix& fix);
    void predictNow();
    void showResult();
    void restyle();
    void addLine(const QString& name, const QString& recorded, const QString& predicted);
    void goToNewPeak();

    Session& m_session;
    ViewState& m_view;
    const Style& m_style;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    QWidget* m_page = nullptr;
    QVBoxLayout* m_column = nullptr;
    QLabel* m_heading = nullptr;
    QWidget* m_figures = nullptr;
    QGridLayout* m_grid = nullptr;
    QLabel* m_sentence = nullptr;
    QPushButton* m_go = nullptr;
    QPushButton* m_clear = nullptr;
    QStringList m_lines;
    std::vector<Row> m_rows;
    LatestTask<std::shared_ptr<const Prediction>> m_task;
};

} // namespace tidemark
