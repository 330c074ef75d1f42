// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tidemark {

/// Why something could not be done. The values appear in `info --json` in kebab case (errorCodeName).
enum class ErrorCode {
    NotFound, ///< no such file or folder
    Io, ///< the operating system refused
    Empty, ///< a file of zero bytes
    Truncated, ///< the file ends too early
    Damaged, ///< a container's checksum or structure is wrong
    Malformed, ///< bytes that do not fit the format
    NotASnapshot, ///< readable, but something else
    Unsupported, ///< a snapshot-like file that carries nothing we can draw
    TooLarge, ///< past a limit of core/limits.hpp
    Cancelled, ///< the caller asked to stop
    Usage, ///< wrong arguments
};

/// "not-found", "io", "truncated", …: stable names for JSON.
const char* errorCodeName(ErrorCode code);

/// One plain sentence: what is wrong, where, what to do.
struct Error {
    ErrorCode code = ErrorCode::Malformed;
    std::string message;
    /// Byte offset in the unpacked data, when the fault has a place.
    std::optional<std::uint64_t> offset;
    /// What stands before the fault can still be opened, on demand (ReadOptions::partial).
    bool partial = false;
};

/// A value or an Error. Access is checked by assertion: test before use.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) // NOLINT: implicit on purpose, `return value;`
        : m_state(std::in_place_index<0>, std::move(value))
    { }
    Result(Error error) // NOLINT
        : m_state(std::in_place_index<1>, std::move(error))
    { }

    bool ok() const noexcept { return m_state.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    T& value() &
    {
        assert(ok());
        return *std::get_if<0>(&m_state);
    }
    const T& value() const&
    {
        assert(ok());
        return *std::get_if<0>(&m_state);
    }
    T&& value() &&
    {
        assert(ok());
        return std::move(*std::get_if<0>(&m_state));
    }
    const Error& error() const
    {
        assert(!ok());
        return *std::get_if<1>(&m_state);
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    std::variant<T, Error> m_state;
};

/// Done, or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) // NOLINT: implicit on purpose, `return error;`
        : m_error(std::move(error))
    { }

    bool ok() const noexcept { return !m_error; }
    explicit operator bool() const noexcept { return ok(); }
    const Error& error() const
    {
        assert(!ok());
        return *m_error;
    }

private:
    std::optional<Error> m_error;
};

} // namespace tidemark
