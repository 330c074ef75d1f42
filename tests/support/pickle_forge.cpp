// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/pickle_forge.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tidemark::test {

namespace {

Py make(PyObject::Kind kind)
{
    auto object = std::make_shared<PyObject>();
    object->kind = kind;
    return object;
}

std::string bigEndian(std::uint64_t value)
{
    std::string out = littleEndian(value, 8);
    std::ranges::reverse(out);
    return out;
}

/// Python 3's text for protocol 0: raw-unicode-escape with newline, backslash, NUL … escaped too.
std::string escaped(std::string_view utf8)
{
    std::string out;
    char buffer[16];
    for (std::size_t i = 0; i < utf8.size();) {
        const auto c = static_cast<unsigned char>(utf8[i]);
        const unsigned more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        std::uint32_t code = c & (more == 0 ? 0x7fU : 0x3fU >> more);
        for (unsigned k = 1; k <= more && i + k < utf8.size(); ++k)
            code = (code << 6U) | (static_cast<unsigned char>(utf8[i + k]) & 0x3fU);
        i += 1 + more;
        if (code > 0xffff)
            std::snprintf(buffer, sizeof buffer, "\\U%08x", code);
        else if (code > 0xff || code == '\\' || code < 32)
            std::snprintf(buffer, sizeof buffer, "\\u%04x", code);
        else
            std::snprintf(buffer, sizeof buffer, "%c", static_cast<char>(code));
        out += buffer;
    }
    return out;
}

class Pickler {
public:
    explicit Pickler(const PickleStyle& style)
        : m_style(style)
        , m_protocol(style.cpp ? 2 : style.protocol)
    { }

    std::string run(const Py& value)
    {
        if (m_style.cpp)
            countUses(value);
        save(value);
        emit(".");
        flush();
        const std::string head = m_protocol >= 2 ? std::string("\x80") + static_cast<char>(m_protocol) : "";
        return head + m_done;
    }

private:
    void emit(std::string_view bytes)
    {
        m_frame += bytes;
        if (m_protocol >= 4 && m_frame.size() >= m_style.frameBytes)
            flush();
    }

    void flush()
    {
        if (m_protocol >= 4 && !m_frame.empty()) {
            const std::uint64_t length = m_frame.size();
            m_done += '\x95' + littleEndian(m_style.frameLength ? m_style.frameLength(length) : length, 8);
        }
        m_done += m_frame;
        m_frame.clear();
    }

    void countUses(const Py& value)
    {
        if (++m_uses[value.get()] == 1)
            for (const Py& item : value->items)
                countUses(item);
    }

    bool again(const Py& value)
    {
        const auto found = value->kind == PyObject::Kind::Text ? m_texts.find(value->text) : m_texts.end();
        const auto object = m_objects.find(value.get());
        if (found == m_texts.end() && object == m_objects.end())
            return false;
        const std::uint64_t slot = found != m_texts.end() ? found->second : object->second;
        if (m_protocol == 0)
            emit('g' + std::to_string(slot) + '\n');
        else if (slot < 256)
            emit('h' + littleEndian(slot, 1));
        else
            emit('j' + littleEndian(slot, 4));
        return true;
    }

    void memoize(const Py& value)
    {
        const std::uint64_t n = m_count++;
        const std::uint64_t slot = m_style.slot && m_protocol < 4 ? m_style.slot(n) : n;
        if (value->kind == PyObject::Kind::Text)
            m_texts[value->text] = slot;
        else
            m_objects[value.get()] = slot;
        if (m_protocol >= 4)
            emit("\x94");
        else if (m_protocol == 0)
            emit('p' + std::to_string(slot) + '\n');
        else if (slot < 256)
            emit('q' + littleEndian(slot, 1));
        else
            emit('r' + littleEndian(slot, 4));
    }

    void saveNumber(const PyObject& value)
    {
        const std::int64_t n = value.number;
        if (m_protocol == 0) {
            emit(value.isUnsigned ? 'L' + std::to_string(static_cast<std::uint64_t>(n)) + "L\n"
                    : n >= std::numeric_limits<std::int32_t>::min()
                        && n <= std::numeric_limits<std::int32_t>::max()
                    ? 'I' + std::to_string(n) + '\n'
                    : 'L' + std::to_string(n) + "L\n");
        } else if (m_protocol == 1
            && (value.isUnsigned || n > std::numeric_limits<std::int32_t>::max()
                || n < std::numeric_limits<std::int32_t>::min())) {
            emit('L' + (value.isUnsigned ? std::to_string(static_cast<std::uint64_t>(n)) : std::to_string(n))
                + "L\n");
        } else if (value.isUnsigned && n < 0 && !m_style.cpp) {
            emit("\x8a\x09" + littleEndian(static_cast<std::uint64_t>(n), 8) + std::string(1, '\0'));
        } else if (m_style.cpp
            && (n < std::numeric_limits<std::int32_t>::min()
                || n > std::numeric_limits<std::int32_t>::max())) {
            emit(opLong1(n, 8));
        } else {
            emit(opInt(n));
        }
    }

    void saveText(const Py& value)
    {
        const std::string& text = value->text;
        if (m_protocol == 0)
            emit('V' + escaped(text) + '\n');
        else if (m_protocol >= 4 && text.size() < 256)
            emit('\x8c' + littleEndian(text.size(), 1) + text);
        else
            emit('X' + littleEndian(text.size(), 4) + text);
        memoize(value);
    }

    void saveItems(const PyObject& value, char one, char many)
    {
        const std::size_t width = value.kind == PyObject::Kind::Dict ? 2 : 1;
        const std::size_t batch = m_style.cpp ? std::max<std::size_t>(1, value.items.size()) : 1000 * width;
        for (std::size_t from = 0; from < value.items.size() || (m_style.cpp && from == 0); from += batch) {
            const std::size_t to = std::min(value.items.size(), from + batch);
            if (m_protocol == 0) {
                for (std::size_t i = from; i < to; ++i) {
                    save(value.items[i]);
                    if (i % width == width - 1)
                        emit(std::string(1, one));
                }
                continue;
            }
            const bool single = to - from == width && !m_style.cpp;
            if (!single)
                emit("(");
            for (std::size_t i = from; i < to; ++i)
                save(value.items[i]);
            emit(std::string(1, single ? one : many));
        }
    }

    void saveContainer(const Py& value)
    {
        const bool dict = value->kind == PyObject::Kind::Dict;
        emit(m_protocol == 0 ? (dict ? "(d" : "(l") : (dict ? "}" : "]"));
        if (!m_style.cpp)
            memoize(value);
        saveItems(*value, dict ? 's' : 'a', dict ? 'u' : 'e');
        if (m_style.cpp && m_uses[value.get()] > 1)
            memoize(value);
    }

    void saveTuple(const Py& value)
    {
        const std::size_t size = value->items.size();
        if (size == 0) {
            emit(m_protocol == 0 ? "(t" : ")");
            return;
        }
        const bool small = size <= 3 && m_protocol >= 2;
        if (!small)
            emit("(");
        for (const Py& item : value->items)
            save(item);
        emit(small ? std::string(1, static_cast<char>(0x84 + size)) : "t");
        memoize(value);
    }

    void save(const Py& value)
    {
        if (again(value))
            return;
        switch (value->kind) {
        case PyObject::Kind::None:
            emit("N");
            break;
        case PyObject::Kind::Bool:
            emit(m_protocol >= 2 ? (value->number ? "\x88" : "\x89") : (value->number ? "I01\n" : "I00\n"));
            break;
        case PyObject::Kind::Int:
            saveNumber(*value);
            break;
        case PyObject::Kind::Real:
            emit(m_protocol == 0 ? 'F' + std::to_string(value->real) + '\n'
                                 : 'G' + bigEndian(std::bit_cast<std::uint64_t>(value->real)));
            break;
        case PyObject::Kind::Text:
            saveText(value);
            break;
        case PyObject::Kind::Bytes:
            emit('C' + littleEndian(value->text.size(), 1) + value->text);
            memoize(value);
            break;
        case PyObject::Kind::Tuple:
            saveTuple(value);
            break;
        case PyObject::Kind::List:
        case PyObject::Kind::Dict:
            saveContainer(value);
            break;
        case PyObject::Kind::Raw:
            emit(value->text);
            break;
        }
    }

    const PickleStyle& m_style;
    int m_protocol;
    std::string m_done;
    std::string m_frame;
    std::map<std::string, std::uint64_t> m_texts;
    std::map<const PyObject*, std::uint64_t> m_objects;
    std::map<const PyObject*, int> m_uses;
    std::uint64_t m_count = 0;
};

} // namespace

Py pyNone()
{
    return make(PyObject::Kind::None);
}

Py pyBool(bool value)
{
    Py object = make(PyObject::Kind::Bool);
    object->number = value ? 1 : 0;
    return object;
}

Py pyInt(std::int64_t value)
{
    Py object = make(PyObject::Kind::Int);
    object->number = value;
    return object;
}

Py pyUnsigned(std::uint64_t value)
{
    Py object = pyInt(static_cast<std::int64_t>(value));
    object->isUnsigned = true;
    return object;
}

Py pyReal(double value)
{
    Py object = make(PyObject::Kind::Real);
    object->real = value;
    return object;
}

Py pyText(std::string_view value)
{
    Py object = make(PyObject::Kind::Text);
    object->text = value;
    return object;
}

Py pyBytes(std::string_view value)
{
    Py object = make(PyObject::Kind::Bytes);
    object->text = value;
    return object;
}

Py pyList(std::vector<Py> items)
{
    Py object = make(PyObject::Kind::List);
    object->items = std::move(items);
    return object;
}

Py pyTuple(std::vector<Py> items)
{
    Py object = make(PyObject::Kind::Tuple);
    object->items = std::move(items);
    return object;
}

Py pyDict(std::vector<std::pair<std::string, Py>> pairs)
{
    Py object = make(PyObject::Kind::Dict);
    for (auto& [key, value] : pairs) {
        object->items.push_back(pyText(key));
        object->items.push_back(std::move(value));
    }
    return object;
}

Py pyRaw(std::string opcodes)
{
    Py object = make(PyObject::Kind::Raw);
    object->text = std::move(opcodes);
    return object;
}

Py with(const Py& dict, std::vector<std::pair<std::string, Py>> pairs)
{
    Py copy = std::make_shared<PyObject>(*dict);
    for (auto& [key, value] : pairs) {
        bool found = false;
        for (std::size_t i = 0; i < copy->items.size(); i += 2)
            if (copy->items[i]->text == key) {
                copy->items[i + 1] = value;
                found = true;
            }
        if (!found) {
            copy->items.push_back(pyText(key));
            copy->items.push_back(value);
        }
    }
    return copy;
}

Py without(const Py& dict, std::string_view key)
{
    Py copy = std::make_shared<PyObject>(*dict);
    for (std::size_t i = 0; i < copy->items.size(); i += 2)
        if (copy->items[i]->text == key) {
            copy->items.erase(copy->items.begin() + static_cast<std::ptrdiff_t>(i),
                copy->items.begin() + static_cast<std::ptrdiff_t>(i) + 2);
            break;
        }
    return copy;
}

Py valueOf(const Py& dict, std::string_view key)
{
    for (std::size_t i = 0; i < dict->items.size(); i += 2)
        if (dict->items[i]->text == key)
            return dict->items[i + 1];
    return nullptr;
}

std::string littleEndian(std::uint64_t value, unsigned bytes)
{
    std::string out;
    for (unsigned i = 0; i < bytes; ++i)
        out += static_cast<char>(i < 8 ? (value >> (8 * i)) & 0xffU : 0);
    return out;
}

std::string opLong1(std::int64_t value, unsigned bytes)
{
    std::string out = "\x8a" + littleEndian(bytes, 1);
    for (unsigned i = 0; i < bytes; ++i)
        out += static_cast<char>(i < 8 ? value >> (8 * i) : value < 0 ? -1 : 0);
    return out;
}

std::string opInt(std::int64_t value)
{
    const auto bits = static_cast<std::uint64_t>(value);
    if (value >= 0 && value < 256)
        return 'K' + littleEndian(bits, 1);
    if (value >= 0 && value < 65536)
        return 'M' + littleEndian(bits, 2);
    if (value >= std::numeric_limits<std::int32_t>::min()
        && value <= std::numeric_limits<std::int32_t>::max())
        return 'J' + littleEndian(bits, 4);
    unsigned bytes = 5;
    while (bytes < 8 && (value >> ((8 * bytes) - 1)) != 0 && (value >> ((8 * bytes) - 1)) != -1)
        ++bytes;
    return opLong1(value, bytes);
}

std::string opText(std::string_view text)
{
    return 'X' + littleEndian(text.size(), 4) + std::string(text);
}

std::string pickled(const Py& value, const PickleStyle& style)
{
    return Pickler(style).run(value);
}

Py pyFrame(std::string_view name, std::string_view file, std::int64_t line)
{
    return pyDict({{"name", pyText(name)}, {"filename", pyText(file)}, {"line", pyInt(line)}});
}

Py pyEvent(std::string_view action, std::uint64_t address, std::int64_t size, std::int64_t timeUs, Py frames,
    std::int64_t stream)
{
    Py e = pyDict({{"action", pyText(action)}, {"addr", pyUnsigned(address)}, {"size", pyInt(size)},
        {"stream", pyInt(stream)}});
    if (timeUs != 0)
        e = with(e, {{"time_us", pyInt(timeUs)}});
    if (frames)
        e = with(e, {{"frames", std::move(frames)}});
    return e;
}

Py pyBlock(
    std::uint64_t address, std::int64_t size, std::string_view state, std::int64_t requested, Py frames)
{
    return pyDict(
        {{"address", pyUnsigned(address)}, {"size", pyInt(size)}, {"requested_size", pyInt(requested)},
            {"state", pyText(state)}, {"frames", frames ? std::move(frames) : pyList()}});
}

Py pySegment(int device, std::uint64_t address, std::int64_t size, std::vector<Py> blocks)
{
    return pyDict({{"device", pyInt(device)}, {"address", pyUnsigned(address)}, {"total_size", pyInt(size)},
        {"stream", pyInt(0)}, {"segment_type", pyText("large")},
        {"segment_pool_id", pyTuple({pyInt(0), pyInt(0)})}, {"is_expandable", pyBool(false)},
        {"frames", pyList()}, {"blocks", pyList(std::move(blocks))}});
}

Py pySnapshot(std::vector<Py> segments, std::vector<Py> traces)
{
    return pyDict({{"segments", pyList(std::move(segments))}, {"device_traces", pyList(std::move(traces))}});
}

/// Two stacks over three frame objects, events with and without frames, an unmatched free, a block that is
/// live.
Py pySample()
{
    constexpr std::uint64_t base = sampleBase;
    constexpr std::int64_t start = sampleStart;
    const Py inner = pyFrame("relu", "net.py", 12);
    const Py outer = pyFrame("main \U0001f600 \\ \n", "train.py", 70000);
    const Py kernel = pyFrame("at::native::kernel", "", 0);
    const Py one = pyList({inner, outer});
    const Py two = pyList({kernel, inner, outer});
    return pyDict({
        {"segments",
            pyList({pySegment(0, base, 2097152,
                {pyBlock(base, 1048576, "active_allocated", 1000000, one),
                    pyBlock(base + 1048576, 1048576, "inactive", 0)})})},
        {"device_traces",
            pyList({pyList({
                        pyEvent("segment_alloc", base, 2097152, start, one),
                        pyEvent("alloc", base, 1000000, start + 1, one, 7),
                        pyEvent("alloc", base + 1048576, 300, start + 2, two),
                        pyEvent("free_requested", base + 1048576, 300, start + 3, two),
                        pyEvent("free_completed", base + 1048576, 300, start + 3),
                        pyEvent("free_completed", 0xffff810000000200, 512, start + 4, pyList()),
                    }),
                pyList()})},
        {"allocator_settings",
            pyDict({{"PYTORCH_CUDA_ALLOC_CONF", pyText("")}, {"max_split_size", pyInt(-1)},
                {"garbage_collection_threshold", pyReal(0.5)}, {"expandable_segments", pyBool(true)},
                {"roundup_power2_divisions", pyDict({{"256", pyInt(4)}})}})},
        {"external_annotations",
            pyList({pyDict({{"stage", pyText("START")}, {"name", pyText("ProfilerStep#3")},
                        {"device", pyInt(0)}, {"time_us", pyInt(start)}}),
                pyDict({{"stage", pyText("END")}, {"name", pyText("ProfilerStep#3")}, {"device", pyInt(0)},
                    {"time_us", pyInt(start + 9)}})})},
    });
}

} // namespace tidemark::test
