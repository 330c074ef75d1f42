// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/version.hpp"

namespace tidemark {

const char* versionText()
{
    return TIDEMARK_VERSION;
}

} // namespace tidemark
