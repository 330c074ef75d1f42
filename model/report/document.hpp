// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Reports: a neutral tree and what writes it to files. Texts in the tree are safe to show (valid UTF-8, no
/// control characters, no bidirectional overrides) but not escaped for any format.
namespace tidemark::report {

/// A piece of running text in one style.
struct Span {
    enum class Style : std::uint8_t { Plain, Strong, Code, Muted };
    Style style = Style::Plain;
    std::string text;
};

/// Running text.
struct Text {
    std::vector<Span> spans;

    Text() = default;
    Text(std::string text); // NOLINT: a text is a text
    Text(const char* text) // NOLINT
        : Text(std::string(text))
    { }
    Text& add(std::string text, Span::Style style = Span::Style::Plain);
    Text& strong(std::string text) { return add(std::move(text), Span::Style::Strong); }
    Text& code(std::string text) { return add(std::move(text), Span::Style::Code); }
    Text& muted(std::string text) { return add(std::move(text), Span::Style::Muted); }
    bool empty() const { return spans.empty(); }
    std::string plain() const; ///< without styles
};

/// What a number counts.
enum class Unit : std::uint8_t { None, Bytes, BytesDelta, Count, Percent, Event };
const char* unitName(Unit unit); ///< "text", "bytes", "bytes-delta", "count", "percent", "event"

/// The exact value behind a shown one: whole bytes or counts, or a fraction for Unit::Percent.
using Exact = std::variant<std::monostate, std::int64_t, double>;

struct Heading {
    int level = 2; ///< 1 below the section's own title
    Text text;
};
struct Paragraph {
    Text text;
};
/// One large number with its name.
struct Figure {
    std::string id; ///< stable, "peak-live"
    std::string name;
    std::string value; ///< as shown, "22.54 GiB"
    std::string note; ///< small print below
    Unit unit = Unit::Bytes;
    Exact exact;
    bool alarming = false;
};
struct Figures {
    std::vector<Figure> figures;
};
struct Cell {
    Text text;
    Exact exact;
    int indent = 0; ///< levels, for trees
};
struct Column {
    std::string name;
    Unit unit = Unit::None;
    bool wide = false; ///< running text that may wrap
};
/// Every row has a cell per column. Rows in `foot` (what is left out, totals) stay last when sorted.
struct Table {
    std::string id; ///< stable within its section
    std::string caption;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::vector<Cell>> foot;
    bool sortable = true;
    std::string note; ///< below the table
};
struct KeyValues {
    std::string id;
    std::vector<std::pair<std::string, Cell>> pairs;
    std::vector<Unit> units; ///< per pair, or empty
};
struct List {
    bool ordered = false;
    std::vector<Text> items;
};
/// A ready picture.
struct Picture {
    enum class Kind : std::uint8_t { Svg, Png };
    std::string id;
    Kind kind = Kind::Svg;
    std::string data; ///< text of the SVG, or bytes of the PNG
    int width = 0; ///< logical pixels
    int height = 0;
    std::string alt; ///< says what the picture says, with the figures
    std::string caption;
};
/// A call stack, innermost frame first.
struct Stack {
    std::string title;
    std::vector<std::string> frames;
    std::size_t more = 0; ///< frames left out
    bool folded = true;
};
struct Note {
    enum class Tone : std::uint8_t { Info, Good, Warning, Critical };
    Tone tone = Tone::Info;
    Text text;
};
const char* toneName(Note::Tone tone);
/// Lines to be pasted.
struct Code {
    std::string language; ///< "sh", "python" or empty
    std::vector<std::string> lines;
};
using Block = std::variant<Heading, Paragraph, Figures, Table, KeyValues, List, Picture, Stack, Note, Code>;

struct Section {
    std::string id; ///< partName of the part it is
    std::string title;
    std::string subtitle;
    std::vector<Block> blocks;
};

/// A whole report. Built once by buildReport, then only read; shared between threads.
struct Document {
    std::string title; ///< the verdict, or the title wished for
    std::string head; ///< small print above: file, device
    std::vector<Text> summary; ///< paragraphs below the title
    std::vector<Section> sections;
    std::string foot; ///< last line
    /// Named JSON texts for the JSON exporter: what the command line prints for the same input.
    std::vector<std::pair<std::string, std::string>> data;
    bool redacted = false;

    const Section* section(std::string_view id) const;
};

/// Cells as tables show them.
Cell textCell(Text text, int indent = 0);
Cell bytesCell(std::int64_t bytes);
Cell bytesCell(std::uint64_t bytes);
Cell deltaCell(std::int64_t bytes);
Cell countCell(std::uint64_t count);
Cell eventCell(std::int64_t event);
Cell percentCell(double fraction);
Cell shareCell(std::uint64_t part, std::int64_t whole); ///< "–" of nothing
Cell unknownCell(); ///< "–"

/// Longest text of one span in characters; what is longer is shortened in the middle with "…".
inline constexpr std::size_t maxSpanChars = 2000;

} // namespace tidemark::report
