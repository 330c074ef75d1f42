// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace tidemark::report {

/// An SVG that may stand inside a page: well-formed enough, only elements and attributes that draw, no
/// script, no event handlers, no reference to anything outside itself.
bool isHarmlessSvg(std::string_view svg);
/// The svg element alone, without prolog and document type.
std::string svgElement(std::string_view svg);

} // namespace tidemark::report
