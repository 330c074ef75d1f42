# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DIN=file -DOUT=file.cpp -DFUNCTION=name -P embed.cmake: the text of a resource as a function of the engine.
file(READ "${IN}" text)
string(LENGTH "${text}" length)
set(code "// SPDX-License-Identifier: GPL-3.0-or-later\n#include \"model/core/embedded.hpp\"\n\n")
string(APPEND code "namespace tidemark {\nstd::string_view ${FUNCTION}()\n{\n    static constexpr char text[] =")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND code "\n        R\"~~(${piece})~~\"")
  math(EXPR at "${at} + 8000")
endwhile()
string(APPEND code ";\n    return {text, sizeof text - 1};\n}\n} // namespace tidemark\n")
file(WRITE "${OUT}" "${code}")
