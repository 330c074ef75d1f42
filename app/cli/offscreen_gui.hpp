// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>

class QApplication;

namespace tidemark {

/// A QApplication without a display, unless the program has one already.
class OffscreenGui {
public:
    OffscreenGui();
    ~OffscreenGui();

private:
    int m_count = 1;
    char m_name[9] = "tidemark";
    std::array<char*, 2> m_arguments{m_name, nullptr};
    std::unique_ptr<QApplication> m_application;
};

} // namespace tidemark
