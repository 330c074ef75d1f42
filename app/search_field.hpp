// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/search.hpp"
#include "widgets/style/style.hpp"

#include <QLineEdit>

namespace tidemark {

class FilterCompleter;

/// The filter field of the toolbar. Enter goes to the next match, Shift+Enter to the previous one, Esc
/// clears and leaves.
class SearchField : public QLineEdit {
    Q_OBJECT
public:
    SearchField(Search& search, const Style& style, QWidget* parent = nullptr);

    /// Offers completions of filters about what is open there.
    void completeFrom(const Session& session);
    /// Short placeholder and less width.
    void setNarrow(bool narrow);
    QSize sizeHint() const override;

signals:
    void matchRequested(int direction);
    void left();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    Search& m_search;
    const Style& m_style;
    FilterCompleter* m_completer = nullptr;
    bool m_narrow = false;
    /// Enter was pressed before its search had ended: where to go then.
    int m_jump = 0;
};

} // namespace tidemark
