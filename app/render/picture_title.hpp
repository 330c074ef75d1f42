// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session.hpp"
#include "widgets/style/style.hpp"

#include <QPainter>
#include <QString>

namespace tidemark {

/// The line above a picture that is to be understood without the window: what it is of, and the totals at
/// its moment.
struct PictureTitle {
    QString name; ///< "rank03.pickle · GPU 0"
    QString figures; ///< "at event 3,737: live 22.54 GiB, reserved 23.45 GiB, 1,432 allocations"

    static PictureTitle of(const Session& session, StateIndex state);
    static int height(const Style& style);
    void paint(QPainter& painter, const Style& style, int width) const;
};

} // namespace tidemark
