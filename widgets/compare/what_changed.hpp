// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/compare/compare_state.hpp"
#include "widgets/style/style.hpp"

#include <QTextBrowser>

namespace tidemark {

/// Why one run needs more than the other, in words with exact bytes; findings of one run only; settings that
/// differ; what cannot be compared. A click on a part shows it on both sides. GUI thread.
class WhatChanged : public QTextBrowser {
    Q_OBJECT
public:
    WhatChanged(CompareState& state, Style& style, QWidget* parent = nullptr);

    QSize sizeHint() const override;

private:
    void refresh();
    QString verdicts(const compare::Comparison& comparison) const;
    QString findings(const compare::Comparison& comparison) const;
    QString settings(const compare::Comparison& comparison) const;
    QString notes(const compare::Comparison& comparison) const;
    QString colour(Tone tone) const;

    CompareState& m_state;
    Style& m_style;
};

} // namespace tidemark
