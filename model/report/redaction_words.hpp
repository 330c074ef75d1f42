// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::report {

constexpr bool isWordChar(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A function name that says nothing of a program: "<module>", "__init__", "wrapper".
bool isCommonFunction(std::string_view name);
/// Too plain to be looked for by itself: short, or one lower-case word. Replaced with what stands around it.
bool isPlainWord(std::string_view word);
/// A home folder that names nobody: "root", "ubuntu".
bool isCommonUser(std::string_view name);
/// A machine's name that names none: "localhost", "worker", too short ones.
bool isCommonHost(std::string_view name);
/// A setting's value that tells nothing: a number, a switch, nothing.
bool isPublicValue(std::string_view value);
/// A range's name that PyTorch's own tools give: "ProfilerStep#12", "Optimizer.step#AdamW.step".
bool isCommonRange(std::string_view name);
/// A word of this program's own: a key of evidence or settings, or a public name that its advice uses.
bool isOwnWord(std::string_view name);
/// A public name that this program's texts use: "scaled_dot_product_attention", "recompute_modules".
bool isAdviceWord(std::string_view name);
/// Host in a file name as torch.profiler and Tidemark's recording lines make it, "HOST_PID.TIME.pickle" or
/// "HOST_Jun_10_12_30_05.pickle"; empty for none.
std::string hostInFileName(std::string_view name);
/// User of the home folder a path lies in: "/home/x/…", "C:\Users\x\…"; empty for none.
std::string_view userInPath(std::string_view path);
/// 64-bit FNV-1a.
std::uint64_t wordHash(std::string_view word);
/// The hash's first `digits` hexadecimal digits.
std::string shortHash(std::string_view word, std::size_t digits);

} // namespace tidemark::report
