// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom_scene.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QLabel;
class QScrollArea;
class QSplitter;
class QTableView;
class QVBoxLayout;

namespace tidemark {

class LiveTableDelegate;
class LiveTableModel;
class OomBanner;
class OomCapacityBar;
class OomChecks;
class OomCurve;
class OomFixes;
class OomMap;
class OomPinsModel;
class Style;
class WrappedLabel;

/// What the view shows, apart from where it comes from.
struct OomData {
    std::shared_ptr<const Replay> replay;
    std::vector<OomAutopsy> ooms;
    std::optional<int> rank;
    std::optional<std::uint64_t> deviceTotal;
};

/// Why a request failed, top-down: verdict, what to do, capacity to scale, the segments with the failed
/// request as a ghost, who holds the holes, what fills the card, the checks, the curve
/// (help/out-of-memory.md). Takes its events from the session's diagnosis; the window shows it while
/// hasContent(). GUI thread.
class OomView : public QWidget {
    Q_OBJECT
public:
    OomView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);
    ~OomView() override;

    /// The chosen device has an out-of-memory event that was taken apart.
    bool hasContent() const { return !m_data.ooms.empty(); }
    /// Replaces what is shown; the last event is chosen.
    void setData(OomData shown);
    void setEvent(int event);
    int currentEvent() const { return m_event; }
    void goToEvent();
    QString copyText() const;

    /// Brings the view up to date now instead of with the next event; for exports and tests.
    void flush();
    std::shared_ptr<const OomScene> scene() const { return m_scene; }
    OomBanner& banner() { return *m_banner; }
    OomFixes& fixes() { return *m_fixes; }
    OomCapacityBar& bar() { return *m_bar; }
    OomMap& map() { return *m_map; }
    OomChecks& checks() { return *m_checks; }
    OomCurve& curve() { return *m_curve; }
    QTableView& pinTable() { return *m_pinTable; }
    QTableView& liveTable() { return *m_liveTable; }
    /// Footers of the tables: their sums.
    QString pinSumText() const;
    QString liveSumText() const;

signals:
    /// hasContent() or the events changed.
    void contentChanged();
    /// A fix of a finding is to be tried in the sandbox; a finding is to be shown.
    void tryRequested(std::size_t finding, std::size_t fix);
    void findingRequested(std::size_t finding);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void collect();
    void schedule() { m_refresher.schedule(); }
    void refresh(bool now);
    OomSceneRequest request() const;
    void take(std::shared_ptr<const OomScene>&& scene);
    static constexpr int fewestTableRows = 3;
    void makePinSection();
    void makeLiveSection();
    void connectAll();
    void restyle();
    void showScene();
    void showPins();
    void fitPinColumns();
    void showLive();
    void arrange();
    void updateLimit();
    void limitHeights();
    void showFixes();
    void stack();
    void followSelection();
    void selectGroup(std::uint32_t group);
    void pinSentenceOf(int row);
    void toEvent();

    Session& m_session;
    ViewState& m_view;
    Style& m_style;
    OomData m_data;
    int m_event = 0;
    std::shared_ptr<const OomScene> m_scene;

    QScrollArea* m_scroll;
    OomBanner* m_banner;
    OomFixes* m_fixes;
    QWidget* m_barBox;
    OomCapacityBar* m_bar;
    QSplitter* m_body;
    OomCurve* m_curve;
    QWidget* m_left;
    QVBoxLayout* m_leftColumn;
    QScrollArea* m_rightScroll;
    QVBoxLayout* m_rightColumn;
    OomMap* m_map;
    QWidget* m_pinSection;
    QTableView* m_pinTable;
    OomPinsModel* m_pinModel;
    LiveTableDelegate* m_pinDelegate;
    WrappedLabel* m_pinWords;
    WrappedLabel* m_pinSum;
    QWidget* m_liveSection;
    QTableView* m_liveTable;
    LiveTableModel* m_liveModel;
    LiveTableDelegate* m_liveDelegate;
    QLabel* m_liveAt;
    WrappedLabel* m_liveSum;
    QWidget* m_checkSection;
    OomChecks* m_checks;
    std::vector<QLabel*> m_headings;
    bool m_following = false;
    bool m_expanded = false;
    Refresher m_refresher;
    LatestTask<std::shared_ptr<const OomScene>> m_task;
};

} // namespace tidemark
