// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/prediction.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/findings/settings_panel.hpp"
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

/// What if: fixes of the open device to tick, and allocator settings to type. The fixes ticked are applied
/// together to the recorded lifetimes, and the requests they leave are replayed under the settings, off the
/// GUI thread; the timeline shows the predicted curves, this view the figures side by side. windowTitle() is
/// the dock's subtitle. GUI thread.
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
    /// "PYTORCH_CUDA_ALLOC_CONF=…" of the prediction shown; empty when its settings are the recorded ones.
    QString settingsLine() const;
    SettingsPanel& settings() { return *m_settings; }
    /// A prediction or a ranking of settings is being made.
    bool busy() const { return m_task.busy() || m_rankTask.busy(); }

private:
    struct Row {
        FixPlace place;
        QCheckBox* box = nullptr;
    };
    using Ranking = Result<std::vector<SettingTrial>>;
    void takeFile();
    void rebuild();
    void addButtons();
    void rank();
    PredictionWish wish() const;
    void addFix(const FixPlace& place, const Finding& finding, const Fix& fix);
    void predictNow();
    void showResult();
    void restyle();
    void addLine(const QString& name, const QString& recorded, const QString& predicted);
    void showLive(const Prediction& prediction);
    void showReserved(const ReservedPrediction& reserved);
    void addSentence(const QString& text);
    void goToNewPeak();
    void copySettings();

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
    QLabel* m_conf = nullptr;
    QPushButton* m_go = nullptr;
    QPushButton* m_copy = nullptr;
    QCheckBox* m_map = nullptr;
    QPushButton* m_clear = nullptr;
    QStringList m_lines;
    bool m_typed = false; ///< the prediction being made is of settings that were typed
    std::vector<Row> m_rows;
    SettingsPanel* m_settings;
    /// Of the open device; null until the first prediction.
    std::shared_ptr<const Simulation> m_simulation;
    LatestTask<std::shared_ptr<const Prediction>> m_task;
    LatestTask<std::pair<std::shared_ptr<const Simulation>, Ranking>> m_rankTask;
};

} // namespace tidemark
