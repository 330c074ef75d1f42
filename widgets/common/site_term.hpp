// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/filter.hpp"

#include <QString>

namespace tidemark {

/// The filter that finds one call site, by its shown name.
inline QString siteTerm(const QString& site)
{
    return QString::fromStdString(filterTerm("site:", site.toStdString()));
}

} // namespace tidemark
