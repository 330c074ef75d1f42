// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/playbook.hpp"
#include "widgets/playbook/playbook_page.hpp"

namespace tidemark {

/// The playbook's data in the order and shape in which it is read.
PlaybookPage playbookPage(const Playbook& playbook);

} // namespace tidemark
