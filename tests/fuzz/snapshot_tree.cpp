// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/snapshot_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tidemark::fuzz {

using namespace test;

namespace {

constexpr std::size_t mostValues = 20000;
constexpr int deepest = 40;

/// Builds the values of a plain pickle.
class Builder {
public:
    explicit Builder(std::string_view bytes)
        : m_bytes(bytes)
    { }

    std::optional<Py> run()
    {
        while (m_ok && !m_bytes.empty() && m_values < mostValues) {
            const char code = m_bytes.front();
            m_bytes.remove_prefix(1);
            if (code == '.')
                return m_stack.size() == 1 ? std::optional(m_stack.back()) : std::nullopt;
            step(code);
        }
        return std::nullopt;
    }

private:
    std::uint64_t number(std::size_t count)
    {
        std::uint64_t out = 0;
        const std::string_view raw = taken(count);
        for (std::size_t i = 0; i < raw.size() && i < 8; ++i)
            out |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
        return out;
    }
    std::string_view taken(std::uint64_t count)
    {
        m_ok = m_ok && count <= m_bytes.size();
        const std::string_view out = m_ok ? m_bytes.substr(0, count) : std::string_view();
        m_bytes.remove_prefix(out.size());
        return out;
    }
    void push(Py value)
    {
        ++m_values;
        m_stack.push_back(std::move(value));
    }
    std::vector<Py> pop(std::size_t count)
    {
        m_ok = m_ok && count <= m_stack.size();
        if (!m_ok)
            return {};
        std::vector<Py> out(m_stack.end() - static_cast<std::ptrdiff_t>(count), m_stack.end());
        m_stack.resize(m_stack.size() - count);
        return out;
    }
    std::vector<Py> popMark()
    {
        m_ok = m_ok && !m_marks.empty() && m_marks.back() <= m_stack.size();
        if (!m_ok)
            return {};
        const std::size_t mark = m_marks.back();
        m_marks.pop_back();
        return pop(m_stack.size() - mark);
    }
    /// Only into what nothing else refers to (beside the memo), so that nothing comes to contain itself.
    void fill(PyObject::Kind kind, const std::vector<Py>& items)
    {
        m_ok = m_ok && !m_stack.empty() && m_stack.back()->kind == kind && m_stack.back().use_count() <= 2
            && (kind == PyObject::Kind::List || items.size() % 2 == 0);
        if (m_ok)
            m_stack.back()->items.insert(m_stack.back()->items.end(), items.begin(), items.end());
    }
    void put(std::uint64_t slot)
    {
        m_ok = m_ok && !m_stack.empty();
        if (m_ok)
            m_memo[slot] = m_stack.back();
    }
    void get(std::uint64_t slot)
    {
        const auto found = m_memo.find(slot);
        m_ok = m_ok && found != m_memo.end();
        if (m_ok)
            push(found->second);
    }
    void pushLong(std::size_t count)
    {
        m_ok = m_ok && count <= 9;
        std::uint64_t value = number(count);
        const bool negative = count > 0 && count < 8 && (value >> (8 * count - 1)) != 0;
        if (negative)
            value |= ~std::uint64_t{0} << (8 * count);
        push(count == 9 ? pyUnsigned(value) : pyInt(static_cast<std::int64_t>(value)));
    }

    void step(char code)
    {
        using Kind = PyObject::Kind;
        switch (code) {
        case '\x80':
            taken(1);
            break;
        case '\x95':
            taken(8);
            break;
        case '}':
            push(pyDict());
            break;
        case ']':
            push(pyList());
            break;
        case ')':
            push(pyTuple({}));
            break;
        case 'N':
            push(pyNone());
            break;
        case '\x88':
            push(pyBool(true));
            break;
        case '\x89':
            push(pyBool(false));
            break;
        case '(':
            m_marks.push_back(m_stack.size());
            break;
        case 'u':
            fill(Kind::Dict, popMark());
            break;
        case 'e':
            fill(Kind::List, popMark());
            break;
        case 's':
            fill(Kind::Dict, pop(2));
            break;
        case 'a':
            fill(Kind::List, pop(1));
            break;
        case 't':
            push(pyTuple(popMark()));
            break;
        case '\x85':
            push(pyTuple(pop(1)));
            break;
        case '\x86':
            push(pyTuple(pop(2)));
            break;
        case '\x87':
            push(pyTuple(pop(3)));
            break;
        case '\x94':
            put(m_memo.size());
            break;
        case 'q':
            put(number(1));
            break;
        case 'r':
            put(number(4));
            break;
        case 'h':
            get(number(1));
            break;
        case 'j':
            get(number(4));
            break;
        case '\x8c':
            push(pyText(taken(number(1))));
            break;
        case 'X':
            push(pyText(taken(number(4))));
            break;
        case 'C':
            push(pyBytes(taken(number(1))));
            break;
        case 'K':
            push(pyInt(static_cast<std::int64_t>(number(1))));
            break;
        case 'M':
            push(pyInt(static_cast<std::int64_t>(number(2))));
            break;
        case 'J':
            push(pyInt(static_cast<std::int32_t>(number(4))));
            break;
        case '\x8a':
            pushLong(number(1));
            break;
        case 'G': {
            std::string raw(taken(8));
            std::ranges::reverse(raw);
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < raw.size(); ++i)
                bits |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
            push(pyReal(std::bit_cast<double>(bits)));
            break;
        }
        default:
            m_ok = false;
        }
    }

    std::string_view m_bytes;
    std::vector<Py> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::uint64_t, Py> m_memo;
    std::size_t m_values = 0;
    bool m_ok = true;
};

/// How deep the tree is, and how many values a copy of it without sharing would have, both bounded.
struct Extent {
    int depth = 0;
    std::size_t values = 0;
};
void measure(const Py& value, int depth, Extent& extent)
{
    extent.depth = std::max(extent.depth, depth);
    if (depth > deepest || ++extent.values > mostValues)
        return;
    for (const Py& item : value->items)
        measure(item, depth + 1, extent);
}

constexpr std::string_view words[] = {"action", "addr", "size", "stream", "time_us", "frames", "device",
    "address", "total_size", "blocks", "state", "requested_size", "segment_type", "segment_pool_id",
    "is_expandable", "segments", "device_traces", "allocator_settings", "external_annotations",
    "host_segments", "host_traces", "trace_alloc_max_entries", "trace_alloc_overflowed", "history",
    "real_size", "cpp_frames", "name", "filename", "line", "fx_node_op", "fx_node_name", "fx_original_trace",
    "compile_context", "user_metadata", "internal_metadata", "forward_frames", "pool_id", "device_free",
    "category", "stage", "allocated_size", "active_size", "alloc", "free_requested", "free_completed", "free",
    "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "snapshot", "annotate",
    "user_defined", "active_allocated", "active_pending_free", "active_awaiting_free", "inactive", "large",
    "small", "START", "END", "ProfilerStep#3", "expandable_segments", "max_split_size",
    "garbage_collection_threshold", "roundup_power2_divisions", "PYTORCH_CUDA_ALLOC_CONF",
    "large_segment_size", "per_process_memory_fraction", "expandable_segments:True,max_split_size_mb:20",
    "N/A", "", "??", "<eval_with_key>.7", "torch/optim/adam.py", "forward", "backward", "_call_impl",
    "torch/autograd/graph.py", "megatron/core/transformer/mlp.py", "capture_begin", "CUDAGraph"};

/// A copy that shares nothing, so that nothing comes to contain itself; of so many values at most.
Py copied(const Py& value, std::size_t& left)
{
    if (left == 0)
        return pyNone();
    --left;
    Py copy = std::make_shared<PyObject>(*value);
    for (Py& item : copy->items)
        item = copied(item, left);
    return copy;
}

class Disturber {
public:
    Disturber(Py& tree, std::mt19937& random)
        : m_random(random)
    {
        collect(tree, 0);
    }

    /// One change; the places known are no longer right after it.
    void run() { change(*m_slots[below(m_slots.size())]); }

private:
    std::uint32_t below(std::size_t count)
    {
        return static_cast<std::uint32_t>(m_random() % std::max<std::size_t>(1, count));
    }

    void collect(Py& slot, int depth)
    {
        m_slots.push_back(&slot);
        if (slot->kind == PyObject::Kind::Int)
            m_numbers.push_back(slot->number);
        if (depth > 0 && slot.use_count() > 1 && m_shared[slot.get()]++ > 0)
            return;
        for (Py& item : slot->items)
            collect(item, depth + 1);
    }

    Py absurdNumber(std::int64_t near)
    {
        constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        constexpr std::int64_t some[] = {0, 1, -1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 2 << 20, 20 << 20,
            std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 40, std::int64_t{1} << 48,
            std::int64_t{1} << 55, std::int64_t{1} << 62, most, most - 511, most - 512, least, least + 1,
            4095, 4096, 1790000000000000};
        switch (below(8)) {
        case 0:
            return pyInt(static_cast<std::int64_t>(static_cast<std::uint64_t>(near) + 1));
        case 1:
            return pyInt(static_cast<std::int64_t>(static_cast<std::uint64_t>(near) - 1));
        case 2:
            return pyInt(static_cast<std::int64_t>(~static_cast<std::uint64_t>(near)));
        case 3:
            return m_numbers.empty() ? pyInt(near) : pyInt(m_numbers[below(m_numbers.size())]);
        case 4:
            return pyUnsigned(std::uint64_t{1} << 63U);
        case 5:
            return pyUnsigned(~std::uint64_t{0} - below(2) * 511);
        default:
            return pyInt(some[below(std::size(some))]);
        }
    }

    Py strange()
    {
        switch (below(14)) {
        case 0:
            return pyNone();
        case 1:
            return pyBool(below(2) == 1);
        case 2:
            return pyText(words[below(std::size(words))]);
        case 3:
            return pyBytes("\xff\x00x");
        case 4:
            return pyReal(below(2) == 0 ? std::nan("") : 1e300);
        case 5:
            return pyReal(below(2) == 0 ? -HUGE_VAL : 0.5);
        case 6:
            return pyList();
        case 7:
            return pyDict();
        case 8:
            return pyTuple({pyInt(0), pyInt(below(3))});
        case 9:
            return pyText("a\xff\xe2\x80\xae\0</script>\n");
        case 10:
            return pyRaw("cos\nsystem\n(X\x01\0\0\0xtR");
        case 11:
            return pyRaw(opLong1(-1, 40));
        case 12:
            return pyFrame(words[below(std::size(words))], words[below(std::size(words))], 7);
        default: {
            std::size_t left = mostValues;
            return copied(*m_slots[below(m_slots.size())], left);
        }
        }
    }

    void change(Py& slot)
    {
        using Kind = PyObject::Kind;
        const Py before = slot; // keeps alive what m_slots points into
        // What is shared is changed everywhere, or only here.
        if (below(2) == 0)
            slot = std::make_shared<PyObject>(*slot);
        if (below(6) == 0) {
            slot = strange();
        } else if (slot->kind == Kind::Int) {
            slot = absurdNumber(slot->number);
        } else if (slot->kind == Kind::Text) {
            slot = pyText(words[below(std::size(words))]);
        } else if (slot->kind == Kind::List || slot->kind == Kind::Tuple) {
            changeList(*slot);
        } else if (slot->kind == Kind::Dict) {
            changeDict(*slot);
        }
    }

    void changeList(PyObject& list)
    {
        auto& items = list.items;
        if (items.empty()) {
            items.push_back(pyInt(below(1000)));
            return;
        }
        const auto at = items.begin() + below(items.size());
        switch (below(6)) {
        case 0:
            items.erase(at);
            break;
        case 1:
            items.insert(at, std::make_shared<PyObject>(**at));
            break;
        case 2:
            std::iter_swap(at, items.begin() + below(items.size()));
            break;
        case 3:
            std::ranges::reverse(items);
            break;
        case 4:
            items.insert(at, 1 + below(below(8) == 0 ? 3000 : 30), Py(*at));
            break;
        default:
            items.resize(below(items.size()));
            break;
        }
    }

    void changeDict(PyObject& dict)
    {
        auto& items = dict.items;
        const std::size_t pairs = items.size() / 2;
        const auto at = items.begin() + 2 * below(pairs);
        switch (below(5)) {
        case 0:
            if (pairs > 0)
                items.erase(at, at + 2);
            break;
        case 1:
            if (pairs > 0)
                *at = pyText(words[below(std::size(words))]);
            break;
        case 2:
            if (pairs > 1)
                std::iter_swap(at + 1, items.begin() + 2 * below(pairs) + 1);
            break;
        default: {
            Py value = below(2) == 0 ? absurdNumber(0) : strange();
            items.push_back(pyText(words[below(std::size(words))]));
            items.push_back(std::move(value));
        }
        }
    }

    std::mt19937& m_random;
    std::vector<Py*> m_slots;
    std::vector<std::int64_t> m_numbers;
    std::unordered_map<const PyObject*, int> m_shared;
};

void appendJson(std::string& out, const Py& value)
{
    using Kind = PyObject::Kind;
    switch (value->kind) {
    case Kind::Bool:
        out += value->number != 0 ? "true" : "false";
        break;
    case Kind::Int:
        out += value->isUnsigned ? std::to_string(static_cast<std::uint64_t>(value->number))
                                 : std::to_string(value->number);
        break;
    case Kind::Real:
        out += std::isfinite(value->real) ? std::to_string(value->real) : "NaN";
        break;
    case Kind::Text:
        out += '"';
        for (const char c : value->text) {
            if (c == '"' || c == '\\')
                out += '\\';
            out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
        }
        out += '"';
        break;
    case Kind::List:
    case Kind::Tuple:
    case Kind::Dict: {
        const bool dict = value->kind == Kind::Dict;
        out += dict ? '{' : '[';
        for (std::size_t i = 0; i < value->items.size(); ++i) {
            if (i > 0)
                out += dict && i % 2 == 1 ? ':' : ',';
            appendJson(out, value->items[i]);
        }
        out += dict ? '}' : ']';
        break;
    }
    default:
        out += "null";
    }
}

} // namespace

std::optional<Py> treeOf(std::string_view pickle)
{
    auto tree = Builder(pickle).run();
    if (!tree)
        return std::nullopt;
    Extent extent;
    measure(*tree, 0, extent);
    return extent.depth > deepest || extent.values > mostValues ? std::nullopt : tree;
}

void disturb(Py& tree, std::mt19937& random)
{
    for (std::size_t i = 0, count = 1 + random() % 5; i < count; ++i)
        Disturber(tree, random).run();
}

std::span<const std::string_view> snapshotWords()
{
    return words;
}

std::string jsonText(const Py& tree)
{
    std::string out;
    appendJson(out, tree);
    return out;
}

std::string written(const Py& tree, std::mt19937& random)
{
    if (random() % 8 == 0)
        return jsonText(tree);
    PickleStyle style;
    // Mostly protocols that treeOf reads again.
    constexpr int protocols[] = {4, 4, 4, 2, 2, 3, 5, 0, 1};
    style.protocol = protocols[random() % std::size(protocols)];
    style.cpp = random() % 8 == 0;
    if (random() % 32 == 0)
        style.frameLength = [](std::uint64_t length) { return length * 3; };
    return pickled(tree, style);
}

} // namespace tidemark::fuzz
