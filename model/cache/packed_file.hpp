// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tidemark {

/// 128 bits of XXH3 as 32 hexadecimal digits.
using ContentHash = std::string;

/// Hash of a whole file. Cost: one read, about as fast as memory is. "" when it cannot be read, or was
/// stopped
/// (`stopped` is asked once a MiB). Any thread.
ContentHash hashOfFile(const std::filesystem::path& file, const std::function<bool()>& stopped);

/// A number as it is packed: ids begin at "none", so that they stay small.
template <typename T>
constexpr std::uint64_t packedWord(T value)
{
    if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(std::uint32_t))
        return static_cast<std::uint32_t>(static_cast<std::uint32_t>(value) + 1U);
    else
        return static_cast<std::uint64_t>(value);
}
template <typename T>
constexpr T unpackedWord(std::uint64_t word)
{
    if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(std::uint32_t))
        return static_cast<T>(static_cast<std::uint32_t>(word) - 1U);
    else
        return static_cast<T>(word);
}

/// Writes columns of whole numbers, narrowed and compressed, and single values. Nothing is under the final
/// name until close() has succeeded. One thread.
class PackedWriter {
public:
    /// `identity` must be the same when the file is read.
    PackedWriter(std::filesystem::path target, std::string_view identity);
    ~PackedWriter();
    PackedWriter(const PackedWriter&) = delete;
    PackedWriter& operator=(const PackedWriter&) = delete;

    static constexpr bool reading = false;
    template <typename T>
    void column(const std::vector<T>& values)
    {
        Words words{values.data(), values.size(),
            [](const void* data, std::size_t from, std::size_t count, std::uint64_t* to) {
                const T* source = static_cast<const T*>(data) + from;
                for (std::size_t i = 0; i < count; ++i)
                    to[i] = packedWord(source[i]);
            }};
        write(words);
    }
    /// A column that stands in no vector: `get` gives its values.
    template <typename T, typename Get>
    void computed(std::size_t count, const Get& get)
    {
        write({&get, count, [](const void* data, std::size_t from, std::size_t part, std::uint64_t* to) {
                   const Get& source = *static_cast<const Get*>(data);
                   for (std::size_t i = 0; i < part; ++i)
                       to[i] = packedWord(static_cast<T>(source(from + i)));
               }});
    }
    template <typename T>
    void value(const T& number)
    {
        m_values.push_back(packedWord(number));
    }
    void text(const std::string& text);
    /// A list of anything, item by item.
    template <typename List, typename Visit>
    void list(List& items, Visit visit)
    {
        value(items.size());
        for (auto& item : items)
            visit(item);
    }
    template <typename T>
    void optional(std::optional<T>& number)
    {
        value(number.has_value());
        value(number.value_or(T{}));
    }
    /// Writes the rest, and renames. False when anything failed: then nothing is left behind.
    bool close();
    bool good() const { return m_good; }
    void fail() { m_good = false; }

private:
    struct Words {
        const void* data;
        std::size_t count;
        void (*widen)(const void*, std::size_t, std::size_t, std::uint64_t*);
    };
    void write(const Words& words);
    void put(const void* bytes, std::size_t count);

    struct State;
    std::filesystem::path m_target;
    std::filesystem::path m_temporary;
    std::FILE* m_file = nullptr;
    bool m_good = false;
    std::unique_ptr<State> m_state;
    std::vector<std::uint64_t> m_values;
    std::string m_texts;
};

/// Reads what a PackedWriter wrote, in the same order. The bytes are not trusted: the checksum covers all of
/// them, and whatever does not fit makes good() false and everything after it empty. One thread.
class PackedReader {
public:
    /// Refuses files whose columns would need more than `mostBytes` of memory.
    PackedReader(const std::filesystem::path& file, std::string_view identity, std::uint64_t mostBytes);
    ~PackedReader();
    PackedReader(const PackedReader&) = delete;
    PackedReader& operator=(const PackedReader&) = delete;

    static constexpr bool reading = true;
    template <typename T>
    void column(std::vector<T>& values)
    {
        const std::uint64_t count = begin(sizeof(T));
        values.resize(count);
        T* to = values.data();
        read(count, [to](std::size_t from, std::span<const std::uint64_t> words) {
            for (std::size_t i = 0; i < words.size(); ++i)
                to[from + i] = unpackedWord<T>(words[i]);
        });
        if (!m_good)
            values = {};
    }
    /// `begin` is told how many there are and whether so many can be, `put` gets them in order.
    template <typename T, typename Begin, typename Put>
    void computed(const Begin& begins, const Put& put)
    {
        const std::uint64_t count = begin(sizeof(T));
        if (m_good && !begins(count))
            m_good = false;
        read(m_good ? count : 0, [&put](std::size_t from, std::span<const std::uint64_t> words) {
            for (std::size_t i = 0; i < words.size(); ++i)
                put(from + i, unpackedWord<T>(words[i]));
        });
    }
    template <typename T>
    void value(T& number)
    {
        const std::uint64_t word = next();
        if constexpr (std::is_same_v<T, bool>)
            number = word != 0;
        else
            number = unpackedWord<T>(word);
    }
    void text(std::string& text);
    template <typename List, typename Visit>
    void list(List& items, Visit visit)
    {
        const std::uint64_t count = next();
        // Every item has a value of its own.
        if (!m_good || count > m_values.size() - m_nextValue) {
            m_good = false;
            items.clear();
            return;
        }
        items.resize(count);
        for (auto& item : items)
            visit(item);
    }
    template <typename T>
    void optional(std::optional<T>& number)
    {
        bool has = false;
        T read{};
        value(has);
        value(read);
        number = has ? std::optional(read) : std::nullopt;
    }
    bool good() const { return m_good; }
    void fail() { m_good = false; }
    /// Nothing is left to read.
    bool atEnd() const;

private:
    using Sink = std::function<void(std::size_t, std::span<const std::uint64_t>)>;
    std::uint64_t begin(std::size_t width);
    void read(std::uint64_t count, const Sink& sink);
    std::uint64_t next();
    bool take(void* to, std::size_t count);

    struct State;
    bool m_good = false;
    std::unique_ptr<State> m_state;
    std::span<const unsigned char> m_bytes; ///< of columns still to come
    std::vector<std::uint64_t> m_values;
    std::size_t m_nextValue = 0;
    std::string m_texts;
    std::size_t m_nextText = 0;
    std::uint64_t m_budget = 0;
};

} // namespace tidemark
