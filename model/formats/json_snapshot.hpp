// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/assembler.hpp"
#include "model/formats/json_pull.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// A snapshot in JSON: its values go to the assembler as they close, so that no more than one event, one
/// segment and a batch of numbers of rows are held. What is nested deeper than limits::maxDepth is dropped
/// and stands as an unknown value.
class JsonSnapshot {
public:
    JsonSnapshot(JsonPull& json, SnapshotBuilder& builder, const ReadOptions& options);

    /// True for keys of the top level that only snapshots have.
    static bool decides(std::string_view key);
    /// Whether a list's first item, whose opening brace is the current token, is a trace event; looks ahead
    /// without moving.
    static bool firstItemIsTraceEvent(const JsonPull& json);

    /// The file is an object; `skipped`: keys already passed over.
    void beginObject(std::span<const std::string> skipped);
    /// The file is a list; its first token has been read.
    void beginList();

    /// Reads one member's value of the outermost object; the puller stands on its key. False when the text
    /// failed.
    bool readMember(std::string_view key);
    /// Reads the items of the outermost list, from the current token to its end.
    bool readItems();

    bool anything() const { return m_assembler.anythingUnderstood(); }
    std::string understood() const { return m_assembler.understood(); }
    /// Closes the outermost value, whole or cut short, and hands it to the builder.
    std::optional<Error> finish();

private:
    /// A container that is open; its values so far stand on m_values from `first` on, those of long lists in
    /// `list`.
    struct Open {
        std::size_t first = 0;
        bool object = false;
        bool hasList = false;
        Value list;
    };

    void open(bool object);
    Value close();
    bool readValue();
    void add(Value value);
    Value scalar();
    Value number();
    bool tooMany();

    JsonPull& m_json;
    Assembler m_assembler;
    std::vector<Value> m_values;
    std::vector<Open> m_open;
    std::uint64_t m_steps = 0;
    bool m_failed = false;
};

} // namespace tidemark
