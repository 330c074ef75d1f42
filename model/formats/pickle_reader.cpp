// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_reader.hpp"

#include "model/formats/assembler.hpp"
#include "model/formats/pickle_machine.hpp"
#include "model/formats/pickle_opcodes.hpp"

#include <cctype>

namespace tidemark {

namespace {

/// "module\nname\n" as after GLOBAL: what old pickles of foreign objects begin with.
bool beginsWithGlobal(std::string_view text)
{
    int lines = 0;
    std::size_t length = 0;
    for (const char c : text.substr(0, 512)) {
        if (c == '\n') {
            if (length == 0)
                return false;
            length = 0;
            if (++lines == 2)
                return true;
        } else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') {
            return false;
        } else {
            ++length;
        }
    }
    return false;
}

/// "What is wrong; more".
std::string continued(std::string sentence, const std::string& more)
{
    if (sentence.ends_with('.'))
        sentence.pop_back();
    return sentence + "; " + more;
}

void notePartial(SnapshotBuilder& builder, const std::string& why)
{
    builder.source().partial = true;
    builder.note(Quality::TruncatedFile, std::nullopt, "",
        "Only a part of the file could be read, and all figures are about that part. " + why);
}

} // namespace

bool looksLikePickle(std::string_view head)
{
    if (head.empty())
        return false;
    const auto first = static_cast<unsigned char>(head.front());
    if (first == pickle::PROTO)
        return head.size() < 2 || static_cast<unsigned char>(head[1]) < 32;
    if (head.size() < 2)
        return false;
    // Protocols 0 and 1 have no magic number; what a snapshot can begin with is told by two bytes.
    const char second = head[1];
    if (first == '(')
        return (second == 'd' || second == 'l') && head.size() > 2 && (head[2] == 'p' || head[2] == '.');
    if (first == '}' || first == ']')
        return second == 'q' || second == 'r' || second == '(' || second == '.' || second == 'p';
    return first == 'c' && beginsWithGlobal(head.substr(1));
}

std::optional<Error> readPickle(
    ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job)
{
    builder.source().encoding = "pickle";
    Assembler assembler(builder, options);
    PickleMachine machine(bytes, assembler, job);
    auto error = machine.run();
    builder.source().pickleProtocol = machine.protocol();
    if (!error)
        return assembler.finish(machine.result());
    if (error->code == ErrorCode::Cancelled)
        return error;
    const std::string read = assembler.understood();
    const bool usable = assembler.anythingUnderstood() && !assembler.finish(machine.closeOpen(), true);
    if (usable && options.partial) {
        notePartial(builder, continued(error->message, read + " before that could be read."));
        return std::nullopt;
    }
    if (usable) {
        error->message = continued(
            error->message, read + " before that can be read: open what can be read (--partial).");
        error->partial = true;
    } else if (error->code == ErrorCode::Truncated) {
        error->message = continued(
            error->message, "nothing before that is of use. Look for a dump that was written to its end.");
    }
    return error;
}

const Reader pickleReader{"PyTorch snapshot (pickle)", looksLikePickle, readPickle};

} // namespace tidemark
