// SPDX-License-Identifier: GPL-3.0-or-later
// The filter of the window, and what is shown first.
#include "app/main_window.hpp"

#include "app/filter_strip.hpp"
#include "app/help_window.hpp"
#include "app/label_rules_window.hpp"
#include "app/main_toolbar.hpp"
#include "app/status_line.hpp"
#include "widgets/results/results_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QToolBar>

#include <algorithm>

namespace tidemark {

void MainWindow::connectFilter()
{
    SearchField* const field = m_toolbar->filterField();
    // In the order of the list where one is looked at, else in that of the trace.
    const auto goToMatch = [this](int direction) {
        const bool listed = m_results->isVisible() && m_results->step(direction);
        if (listed)
            m_work.navigator.ensureVisible(m_work.state.cursor());
        else if (!m_work.navigator.goToMatch(direction))
            m_status->remark(tr("No match to go to"));
    };
    connect(field, &SearchField::matchRequested, this, goToMatch);
    connect(m_filterStrip, &FilterStrip::matchRequested, this, goToMatch);
    connect(m_filterStrip, &FilterStrip::wanted, this, [this](const QString& text) {
        m_work.search.remember();
        m_toolbar->filterField()->setText(text);
        m_work.search.start();
    });
    connect(m_filterStrip, &FilterStrip::editRequested, field, [field](int from, int length) {
        field->setFocus();
        field->setSelection(from, length);
    });
    connect(m_filterStrip, &FilterStrip::listRequested, this, [this] { showPane(m_results); });
    connect(m_filterStrip, &FilterStrip::hasFilterChanged, this,
        [this](bool has) { m_filterBar->setVisible(has && !showsStartPage()); });
    connect(m_labelRules, &LabelRulesWindow::helpRequested, m_help, &HelpWindow::open);
}

} // namespace tidemark
