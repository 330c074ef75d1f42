// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tidemark {

/// The unpacked bytes of an input from front to back: a mapped file, or a container being unpacked on the way
/// through a bounded buffer. One thread.
class ByteStream {
public:
    virtual ~ByteStream() = default;

    /// The bytes from offset() on: at least `wanted` of them unless the input ends before; often many more (a
    /// mapped file gives all that is left). Valid until the next call of peek or consume. Never allocates for
    /// bytes that are not there. A damaged container ends the stream early and sets error().
    virtual std::span<const unsigned char> peek(std::size_t wanted) = 0;
    /// Moves forward by `count` ≤ peek().size() bytes.
    virtual void consume(std::size_t count) = 0;
    /// Position in the unpacked bytes.
    virtual std::uint64_t offset() const = 0;
    /// Total unpacked size when known (mapped files); 0 otherwise.
    virtual std::uint64_t size() const = 0;
    /// Bytes of the packed input used so far, for progress.
    virtual std::uint64_t packedOffset() const { return offset(); }
    virtual std::uint64_t packedSize() const { return size(); }
    /// What is wrong with the container, once the stream ended because of it.
    virtual std::optional<Error> error() const { return std::nullopt; }
};

} // namespace tidemark
