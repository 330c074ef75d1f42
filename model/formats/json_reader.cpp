// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/json_reader.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/formats/foreign.hpp"
#include "model/formats/json_pull.hpp"
#include "model/formats/json_snapshot.hpp"
#include "model/formats/kineto.hpp"
#include "model/formats/profiler_timeline.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr std::size_t namedKeys = 6;

/// One file on its way: the outermost level, where it is decided what the JSON is.
class JsonFile {
public:
    JsonFile(ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job)
        : m_builder(builder)
        , m_options(options)
        , m_job(job)
        , m_startsAsText(startsAsText(bytes))
        , m_json(bytes, &job)
        , m_trace(builder)
        , m_snapshot(m_json, builder, options)
    { }

    std::optional<Error> read()
    {
        m_builder.source().encoding = "json";
        const bool whole = readOutermost();
        if (m_refusal)
            return m_refusal;
        if (whole) {
            m_json.release();
            return finish();
        }
        return fail();
    }

private:
    enum class Kind { Undecided, Snapshot, Trace, Timeline };

    static bool startsAsText(ByteStream& bytes)
    {
        const auto head = bytes.peek(4096);
        return looksLikeText(
            {reinterpret_cast<const char*>(head.data()), std::min<std::size_t>(head.size(), 4096)});
    }

    bool readOutermost()
    {
        switch (m_json.next()) {
        case JsonToken::BeginObject:
            return readObject();
        case JsonToken::BeginArray:
            return readList();
        case JsonToken::Failed:
            return false;
        default:
            m_refusal = notASnapshot("JSON of another kind (a single value)");
            return true;
        }
    }

    bool readObject()
    {
        while (m_json.next() == JsonToken::Key) {
            const std::string_view key = m_json.text();
            if (m_kind == Kind::Undecided)
                decide(key);
            if (m_kind == Kind::Snapshot) {
                if (!m_snapshot.readMember(key))
                    return false;
            } else if (key == "traceEvents" && m_kind == Kind::Trace) {
                if (!readTraceEvents())
                    return false;
            } else if (key == "baseTimeNanoseconds") {
                if (m_json.next() == JsonToken::Integer)
                    m_trace.setBaseNs(m_json.integer());
                else if (!m_json.skip())
                    return false;
            } else if (!m_json.skip()) {
                return false;
            }
        }
        return m_json.token() == JsonToken::EndObject;
    }

    /// A key that only one kind of file has decides, wherever it comes.
    void decide(std::string_view key)
    {
        if (key == "traceEvents") {
            m_kind = Kind::Trace;
        } else if (JsonSnapshot::decides(key)) {
            m_kind = Kind::Snapshot;
            m_snapshot.beginObject(m_keys);
        } else if (m_keys.size() < namedKeys) {
            m_keys.emplace_back(displayText(key, 40));
        }
    }

    bool readTraceEvents()
    {
        if (m_json.next() != JsonToken::BeginArray)
            return m_json.skip();
        while (m_json.next() != JsonToken::EndArray)
            if (!m_trace.readEvent(m_json))
                return false;
        return true;
    }

    bool readList()
    {
        switch (m_json.next()) {
        case JsonToken::EndArray:
            m_kind = Kind::Snapshot;
            m_snapshot.beginList();
            return m_snapshot.readItems();
        case JsonToken::BeginArray:
            m_kind = Kind::Timeline;
            if (m_timeline.read(m_json))
                return true;
            m_refusal = m_timeline.refusal();
            return m_refusal.has_value();
        case JsonToken::BeginObject:
            return readListOfObjects();
        case JsonToken::Failed:
            return false;
        default:
            m_refusal = notASnapshot("JSON of another kind (a list of values)");
            return true;
        }
    }

    /// A bare list holds segments, as torch.cuda.memory_snapshot() returns them, or trace events, as the
    /// trace-event format also allows; the first item's keys tell. Its bytes are looked at ahead.
    bool readListOfObjects()
    {
        if (!JsonSnapshot::firstItemIsTraceEvent(m_json)) {
            m_kind = Kind::Snapshot;
            m_snapshot.beginList();
            return m_snapshot.readItems();
        }
        m_kind = Kind::Trace;
        do {
            if (!m_trace.readEvent(m_json))
                return false;
        } while (m_json.next() != JsonToken::EndArray);
        return true;
    }

    /// The text failed: refused, unless the caller takes what was understood.
    std::optional<Error> fail();
    std::string understood() const;
    /// What of the file was understood; for snapshots only whether anything was.
    std::uint64_t rows() const;
    std::optional<Error> finish();

    SnapshotBuilder& m_builder;
    const ReadOptions& m_options;
    const Job& m_job;
    bool m_startsAsText;
    JsonPull m_json;
    KinetoCollector m_trace;
    TimelineCollector m_timeline;
    JsonSnapshot m_snapshot;
    Kind m_kind = Kind::Undecided;
    std::vector<std::string> m_keys;
    std::optional<Error> m_refusal;
};

std::uint64_t JsonFile::rows() const
{
    switch (m_kind) {
    case Kind::Snapshot:
        return m_snapshot.anything() ? 1 : 0;
    case Kind::Trace:
        return m_trace.memoryEvents();
    case Kind::Timeline:
        return m_timeline.entries();
    case Kind::Undecided:
        break;
    }
    return 0;
}

std::string JsonFile::understood() const
{
    const std::string count = formatCount(static_cast<std::int64_t>(rows()));
    switch (m_kind) {
    case Kind::Snapshot:
        return m_snapshot.understood();
    case Kind::Trace:
        return count + " [memory] events";
    case Kind::Timeline:
        return count + " rows of its timeline";
    case Kind::Undecided:
        break;
    }
    return {};
}

std::optional<Error> JsonFile::fail()
{
    Error error = m_json.error().value_or(Error{ErrorCode::Malformed, "Not valid JSON.", m_json.offset()});
    if (error.code == ErrorCode::Malformed && m_kind == Kind::Undecided && m_startsAsText) {
        Error text = notASnapshot("a plain text file, such as a log");
        text.offset = error.offset;
        return text;
    }
    // What was understood may not be enough to show anything; the fault is what is wrong then.
    const std::string read = understood();
    if (error.code == ErrorCode::Cancelled || rows() == 0 || finish())
        return error;
    if (!m_options.partial) {
        error.message += "; " + read + " before that can be read: open what can be read (--partial)";
        error.partial = true;
        return error;
    }
    m_builder.source().partial = true;
    m_builder.note(Quality::TruncatedFile, std::nullopt, {},
        error.message + "; shown is what stands before: " + read + ".");
    return std::nullopt;
}

std::optional<Error> JsonFile::finish()
{
    switch (m_kind) {
    case Kind::Snapshot:
        return m_snapshot.finish();
    case Kind::Timeline:
        return m_timeline.finish(m_builder);
    case Kind::Trace:
        if (m_trace.memoryEvents() > 0)
            return m_trace.finish(m_options, m_job);
        return notASnapshot("a profiler trace (" + formatCount(static_cast<std::int64_t>(m_trace.events()))
                + " events) without [memory] events",
            "Record it again with torch.profiler.profile(profile_memory=True), or dump a memory snapshot "
            "with "
            "torch.cuda.memory._dump_snapshot(), which tells more");
    case Kind::Undecided:
        break;
    }
    std::string keys;
    for (const std::string& key : m_keys)
        keys += (keys.empty() ? " (its keys: " : ", ") + key;
    return notASnapshot("JSON of another kind" + keys + (keys.empty() ? "" : ")"),
        std::string("A snapshot has the keys segments and device_traces; ") + recordingAdvice());
}

bool probe(std::string_view head)
{
    if (head.starts_with("\xef\xbb\xbf"))
        head.remove_prefix(3);
    const std::size_t start = head.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && (head[start] == '{' || head[start] == '[');
}

std::optional<Error> read(
    ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job)
{
    return JsonFile(bytes, builder, options, job).read();
}

} // namespace

const Reader jsonReader{"JSON (snapshot, profiler trace or memory timeline)", probe, read};

} // namespace tidemark
