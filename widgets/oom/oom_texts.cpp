// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_texts.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/text.hpp"

#include <cmath>

namespace tidemark {

namespace {

/// More than this outside the allocator is unusual: context, NCCL and cuBLAS need less.
constexpr std::int64_t unusualOthers = std::int64_t{3} << 30;

QString tr(const char* text)
{
    return QCoreApplication::translate("OomView", text);
}

QString bold(const QString& text)
{
    return QStringLiteral("<b>") + text + QStringLiteral("</b>");
}

std::uint64_t magnitude(std::int64_t value)
{
    return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

/// What hangs on block sizes is inferred unless the file states them all.
QString about(const OomScene& scene, const QString& figure)
{
    return scene.exact || !scene.state ? figure : QStringLiteral("≈ ") + figure;
}

QString requestText(const OomScene& scene)
{
    const auto request = scene.autopsy().request;
    return request ? bytesText(*request) : tr("an amount the event does not state");
}

QString plural(std::uint64_t count, const QString& one, const QString& many)
{
    return countText(count) + QChar(0xa0) + (count == 1 ? one : many);
}

QString classText(const OomScene& scene, StreamId stream, PoolId pool)
{
    const Snapshot& snapshot = *scene.of.replay->snapshot;
    QString streams = valid(stream) ? shownText(streamName(snapshot, stream)) : tr("an unknown stream");
    if (valid(stream) && snapshot.streams[index(stream)] == 0)
        streams.prepend(tr("the "));
    if (!valid(pool))
        return tr("a private pool of its own");
    if (index(pool) == 0)
        return streams;
    return tr("pool %1 on %2").arg(shownText(poolName(snapshot, pool)), streams);
}

/// "in 24 holes of 1.44 GiB", "in 31 holes of at most 1.44 GiB".
QString holesText(const OomAutopsy& a)
{
    const QString count = plural(a.holes, tr("hole"), tr("holes"));
    if (a.holeClasses.size() == 1)
        return tr("in %1 of %2").arg(count, bytesText(a.holeClasses.front().size));
    return tr("in %1 of at most %2").arg(count, bytesText(a.largestHole));
}

QString heldBy(const OomScene& scene)
{
    const OomAutopsy& a = scene.autopsy();
    if (scene.pins.empty())
        return tr("between live blocks");
    const PinGroup& first = scene.pins.front();
    const bool one = scene.pins.size() == 1 && first.sizes.first == first.sizes.second;
    if (one && scene.pinBlocks == a.holes)
        return tr("each held open by one %1 block").arg(bytesText(first.sizes.first));
    return tr("held open by %1 of together %2")
        .arg(plural(scene.pinBlocks, tr("live block"), tr("live blocks")), bytesText(scene.pinBytes));
}

QString captureSentences(const OomScene& scene, const QString& who)
{
    const OomAutopsy& a = scene.autopsy();
    const OomScope scope = scene.autopsy().scope;
    const QString open = scope == OomScope::UserPool ? tr("while a memory pool's scope was open")
        : scope == OomScope::Inferred
        ? tr("most likely while a CUDA graph was being captured or a memory pool's scope was open")
        : tr("while a CUDA graph was being captured");
    return tr("%1 asked for %2 %5. %3 of cached memory was free, but nothing is given back to the device "
              "meanwhile, and the device had %4 left.")
        .arg(who, bold(requestText(scene)), bold(bytesText(a.unflushed)),
            a.deviceFree ? bytesText(*a.deviceFree) : tr("an unknown amount"), open);
}

QString capacitySentences(const OomScene& scene, const QString& who)
{
    const OomAutopsy& a = scene.autopsy();
    QString text = tr("%1 asked for %2. %3 was free in all: %4 inside reserved memory and %5 on the device. "
                      "Even in one piece that is %6 too little.")
                       .arg(who, bold(requestText(scene)), bytesText(scene.freeAll),
                           bytesText(scene.freeInside), bytesText(a.deviceFree.value_or(0)),
                           bold(about(scene, bytesText(magnitude(a.slack.value_or(0))))));
    text += QLatin1Char(' ')
        + (a.expandable ? tr("Expandable segments are on already: PyTorch's hint to turn them on is moot.")
                        : tr("Expandable segments would not make room."));
    return text;
}

QString wrongPoolSentences(const OomScene& scene, const QString& who)
{
    const OomAutopsy& a = scene.autopsy();
    QStringList places;
    for (std::size_t i = 0; i < scene.elsewhere.size() && i < 2; ++i)
        places << tr("%1 in %2")
                      .arg(bytesText(scene.elsewhere[i].bytes),
                          classText(scene, scene.elsewhere[i].stream, scene.elsewhere[i].pool));
    return tr("%1 asked for %2 on %3. Free memory lies elsewhere: %4, which this request may not use. In "
              "reach were %5 on the device. All free memory together would hold it with %6 to spare.")
        .arg(who, bold(requestText(scene)), classText(scene, scene.stream, scene.pool),
            bold(places.join(QStringLiteral(", "))), bytesText(a.deviceFree.value_or(0)),
            bold(about(scene, bytesText(magnitude(a.slack.value_or(0))))));
}

QString fragmentationSentences(const OomScene& scene, const QString& who)
{
    const OomAutopsy& a = scene.autopsy();
    return tr("%1 asked for %2. %3 of its reserved memory was free, but %4, %5. Packed together, the request "
              "fits with %6 to spare.")
        .arg(who, bold(requestText(scene)), about(scene, bytesText(scene.freeInside)), holesText(a),
            heldBy(scene), bold(about(scene, bytesText(magnitude(a.slack.value_or(0))))));
}

QString outsideSentences(const OomScene& scene, const QString& who)
{
    const OomAutopsy& a = scene.autopsy();
    QString text = tr("%1 asked for %2. The device had only %3 left, although PyTorch had reserved no more "
                      "than %4.")
                       .arg(who, bold(requestText(scene)), bytesText(a.deviceFree.value_or(0)),
                           bytesText(scene.reserved));
    if (scene.others)
        text += QLatin1Char(' ')
            + tr("Other users of the card (NCCL, cuBLAS, other processes) hold %1.")
                  .arg(bold(bytesText(*scene.others)));
    return text;
}

QString unknownSentences(const OomScene& scene, const QString& who)
{
    QString why = QString::fromStdString(scene.autopsy().cannotTell);
    if (why.isEmpty())
        why = tr("the event lacks what the verdict needs");
    return tr("%1 asked for %2. What is missing: %3.")
        .arg(who, bold(requestText(scene)), why.toHtmlEscaped());
}

QString titleOf(const OomScene& scene)
{
    const OomAutopsy& a = scene.autopsy();
    const QString thin = a.thinMargin ? tr(", by a thin margin") : QString();
    switch (a.verdict) {
    case Verdict::CaptureBlocked:
        return scene.autopsy().scope == OomScope::UserPool
            ? tr("Out of memory in a memory pool's scope, where cached memory is not flushed")
            : scene.autopsy().scope == OomScope::Inferred
            ? tr("Out of memory while cached memory is not flushed: graph capture, or a pool's scope")
            : tr("Out of memory during graph capture, when cached memory is not flushed");
    case Verdict::Capacity:
        return tr("Out of memory by size%1: even packed, %2 short")
            .arg(thin, about(scene, bytesText(magnitude(a.slack.value_or(0)))));
    case Verdict::WrongPool:
        return scene.elsewhere.empty()
            ? tr("Out of memory: the free memory is in another stream or pool")
            : tr("Out of memory: the free memory is in %1")
                  .arg(classText(scene, scene.elsewhere.front().stream, scene.elsewhere.front().pool));
    case Verdict::Fragmentation:
        return tr("Out of memory by fragmentation, not by size") + thin;
    case Verdict::OutsideAllocator:
        return scene.others
            ? tr("Out of memory: something else holds %1 of the card").arg(bytesText(*scene.others))
            : tr("Out of memory: something else holds the card");
    case Verdict::Unknown:
        break;
    }
    return tr("Out of memory: cannot tell why");
}

QString plain(QString rich)
{
    return rich.remove(QStringLiteral("<b>"))
        .remove(QStringLiteral("</b>"))
        .replace(QStringLiteral("&lt;"), QStringLiteral("<"))
        .replace(QStringLiteral("&gt;"), QStringLiteral(">"))
        .replace(QStringLiteral("&quot;"), QStringLiteral("\""))
        .replace(QStringLiteral("&amp;"), QStringLiteral("&"));
}

OomCheck check(bool holds, const QString& text, const QString& figure, const QString& tip = {})
{
    return {holds ? OomCheck::State::Holds : OomCheck::State::Fails, text, figure, tip};
}

QString compared(std::uint64_t left, bool reached, const QString& yes, const QString& no, std::uint64_t right)
{
    return bytesText(left) + QChar(0xa0) + (reached ? yes : no) + QChar(0xa0) + bytesText(right);
}

} // namespace

OomWords verdictWords(const OomScene& scene, std::optional<int> rank)
{
    const OomAutopsy& a = scene.autopsy();
    const QString who = rank ? tr("Rank %1").arg(*rank) : tr("The program");
    OomWords words;
    words.title = titleOf(scene);
    words.decided = a.verdict != Verdict::Unknown;
    words.grade = scene.exact ? Grade::A : Grade::B;
    switch (a.verdict) {
    case Verdict::CaptureBlocked:
        words.sentences = captureSentences(scene, who);
        break;
    case Verdict::Capacity:
        words.sentences = capacitySentences(scene, who);
        break;
    case Verdict::WrongPool:
        words.sentences = wrongPoolSentences(scene, who);
        break;
    case Verdict::Fragmentation:
        words.sentences = fragmentationSentences(scene, who);
        break;
    case Verdict::OutsideAllocator:
        words.sentences = outsideSentences(scene, who);
        words.grade = Grade::B;
        break;
    case Verdict::Unknown:
        words.sentences = unknownSentences(scene, who);
        break;
    }
    if (a.thinMargin)
        words.sentences += QLatin1Char(' ')
            + tr("The margin is below %1, the granularity of these numbers: the verdict hangs on little.")
                  .arg(bytesText(a.thinBelow()));
    return words;
}

std::vector<OomCheck> verdictChecks(const OomScene& scene)
{
    const OomAutopsy& a = scene.autopsy();
    std::vector<OomCheck> checks;
    if (a.slack)
        checks.push_back(check(*a.slack >= 0, tr("Slack ≥ 0: it would fit packed"),
            about(scene, deltaText(*a.slack)), exactBytesText(*a.slack)));
    else
        checks.push_back({OomCheck::State::Unknown, tr("Slack ≥ 0: it would fit packed"), tr("unknown"),
            QString::fromStdString(a.cannotTell)});
    if (scene.state && a.deviceFree && a.growth > 0)
        checks.push_back(check(scene.pinnedAndDevice >= a.growth, tr("Pinned + device free ≥ request"),
            compared(scene.pinnedAndDevice, scene.pinnedAndDevice >= a.growth, QStringLiteral("≥"),
                QStringLiteral("<"), a.growth),
            tr("%1 against %2, what reserved memory would have to grow by")
                .arg(exactBytesText(scene.pinnedAndDevice), exactBytesText(a.growth))));
    if (scene.state && a.request)
        checks.push_back(check(a.elsewhere < *a.request, tr("Other streams and pools hold less free memory"),
            a.elsewhere ? compared(
                a.elsewhere, a.elsewhere < *a.request, QStringLiteral("<"), QStringLiteral("≥"), *a.request)
                        : bytesText(std::uint64_t{0}),
            exactBytesText(a.elsewhere)));
    checks.push_back(check(a.scope == OomScope::None, tr("No capture or pool's scope was open"),
        a.scope == OomScope::UserPool       ? tr("a pool's scope")
            : a.scope == OomScope::Inferred ? tr("inferred")
            : a.scope == OomScope::Capture  ? tr("capturing")
                                            : QString(),
        tr("told from the frames and the pool of the failed request, or from memory that a flush would have "
           "given back")));
    if (a.slack) {
        const std::uint64_t margin = magnitude(*a.slack);
        checks.push_back(check(margin >= a.thinBelow(), tr("The margin is not thin"),
            compared(
                margin, margin >= a.thinBelow(), QStringLiteral("≥"), QStringLiteral("<"), a.thinBelow()),
            tr("1 % of what is usable, or 40 MiB for each hole")));
    }
    const QString others = tr("Other users hold little of the card");
    if (scene.others)
        checks.push_back(check(*scene.others <= unusualOthers, others,
            bytesText(*scene.others)
                + (*scene.others <= unusualOthers ? QStringLiteral(" ≤ ") : QStringLiteral(" > "))
                + bytesText(unusualOthers),
            tr("%1 of the card belong neither to PyTorch nor are they free")
                .arg(exactBytesText(*scene.others))));
    else
        checks.push_back({OomCheck::State::Unknown, others, tr("unknown"),
            tr("The size of the card is not known: set it in the File menu.")});
    return checks;
}

QString checkStateText(OomCheck::State state)
{
    switch (state) {
    case OomCheck::State::Holds:
        return tr("holds");
    case OomCheck::State::Fails:
        return tr("fails");
    case OomCheck::State::Unknown:
        break;
    }
    return tr("unknown");
}

QString slackFormula(const OomScene& scene)
{
    const OomAutopsy& a = scene.autopsy();
    if (!a.slack || !a.request)
        return {};
    return tr("slack %1  =  free %2 + device %3 − request %4")
        .arg(about(scene, deltaText(*a.slack)), bytesText(scene.freeInside),
            bytesText(a.deviceFree.value_or(0)), bytesText(*a.request));
}

QString slackTip(const OomScene& scene)
{
    const QString sum = slackFormula(scene);
    return sum.isEmpty() ? sum
                         : sum + QLatin1Char('\n')
            + tr("free: reserved memory in no block when the request failed. The gap of the summary is "
                 "reserved minus live (requested) at the peak, which is another moment and has rounding in "
                 "it.");
}

QString capacityCaption(const OomScene& scene)
{
    const OomAutopsy& a = scene.autopsy();
    if (!a.deviceFree)
        return tr("Reserved by PyTorch: %1; what the device had free is not recorded")
            .arg(bytesText(scene.reserved));
    return tr("What PyTorch could use on this card: %1  =  reserved %2  +  free on the device %3")
        .arg(bytesText(scene.usable), bytesText(scene.reserved), bytesText(*a.deviceFree));
}

QString partName(const OomScene& scene, const CapacityPart& part)
{
    using Kind = CapacityPart::Kind;
    switch (part.kind) {
    case Kind::Live:
        return part.text.empty() ? tr("live") : shownText(part.text);
    case Kind::Waiting:
        return tr("waiting for a stream");
    case Kind::Unknown:
        return tr("state unknown");
    case Kind::Pinned:
        return tr("free but pinned");
    case Kind::Releasable:
        return scene.autopsy().capturing ? tr("cached, not flushed") : tr("releasable");
    case Kind::OtherStream:
        return tr("free, another stream");
    case Kind::PoolHeld:
        return tr("free, held by a pool");
    case Kind::DeviceFree:
        return tr("free on device");
    }
    return {};
}

QString partLine(const OomScene& scene, const CapacityPart& part)
{
    QString line = partName(scene, part) + QStringLiteral("  ") + bytesText(part.bytes) + QStringLiteral(" (")
        + exactBytesText(part.bytes) + QLatin1Char(')');
    if (part.pieces > 0)
        line += QStringLiteral(" · ")
            + (part.free() ? plural(part.pieces, tr("hole"), tr("holes"))
                           : plural(part.pieces, tr("block"), tr("blocks")));
    if (scene.usable > 0)
        line += QStringLiteral(" · ")
            + tr("%1 of usable")
                  .arg(percentText(static_cast<double>(part.bytes) / static_cast<double>(scene.usable)));
    return line;
}

QString pinSentence(const OomScene& scene, const PinGroup& pins)
{
    const Replay& replay = *scene.of.replay;
    QString text;
    if (pins.events) {
        const QString first = eventText(replay, pins.events->first);
        const QString last = eventText(replay, pins.events->second);
        const QString events
            = first == last ? tr("event %1").arg(first) : tr("events %1–%2").arg(first, last);
        text = pins.predating   ? tr("Placed before the recording and at %1.").arg(events)
            : pins.step.empty() ? tr("Placed at %1.").arg(events)
                                : tr("Placed in %1, %2.").arg(shownText(pins.step), events);
    } else {
        text = tr("Placed before the recording.");
    }
    const auto spread = [](std::pair<std::uint64_t, std::uint64_t> range) {
        return range.first == range.second
            ? bytesText(range.first)
            : bytesText(range.first) + QStringLiteral(" to ") + bytesText(range.second);
    };
    const QString size = spread(pins.sizes);
    return text + QLatin1Char(' ')
        + (pins.blocks == 1
                ? tr("The block of %1 keeps %2 from being returned.").arg(size, spread(pins.held))
                : tr("Each block of %1 keeps %2 from being returned.").arg(size, spread(pins.held)));
}

QString pinSum(const OomScene& scene)
{
    const QString sum = tr("Σ %1, %2, hold %3 free")
                            .arg(plural(scene.pinBlocks, tr("block"), tr("blocks")),
                                bytesText(scene.pinBytes), bytesText(scene.pinReleases));
    return scene.pinsAreAll ? sum + tr(" = all that is pinned")
                            : sum + tr(" of %1 pinned").arg(bytesText(scene.autopsy().pinned));
}

QString liveSum(const OomScene& scene)
{
    const LiveTable& live = *scene.live;
    const QString sum
        = tr("Σ %1, %2")
              .arg(plural(live.allocations, tr("allocation"), tr("allocations")), bytesText(live.bytes));
    const std::int64_t off = live.curve - static_cast<std::int64_t>(live.bytes);
    const QString at = momentText(*scene.of.replay, live.state);
    return off == 0 ? sum + tr(" = curve at %1").arg(at)
                    : sum + tr(" ≠ curve at %1: %2").arg(at, exactBytesText(off));
}

QString eventLine(const Replay& replay, const OomAutopsy& oom)
{
    return tr("event %1").arg(eventText(replay, oom.event)) + QStringLiteral(" · ")
        + (oom.request ? bytesText(*oom.request) : tr("size unknown"));
}

QString oomReport(const OomScene& scene, std::optional<int> rank)
{
    const OomAutopsy& a = scene.autopsy();
    const OomWords words = verdictWords(scene, rank);
    QStringList lines{words.title, plain(words.sentences), QString()};
    lines << tr("File: %1, %2, %3")
                 .arg(shownText(scene.of.replay->snapshot->source.name),
                     QString::fromStdString(deviceName(scene.of.replay->device().ordinal)),
                     eventLine(*scene.of.replay, a));
    lines << capacityCaption(scene);
    if (!slackFormula(scene).isEmpty())
        lines << slackFormula(scene) + QStringLiteral(" (") + exactBytesText(*a.slack) + QLatin1Char(')');
    for (const CapacityPart& part : scene.parts)
        lines << QStringLiteral("  ") + partLine(scene, part);
    if (!scene.pins.empty()) {
        lines << QString() << tr("Who holds the holes open");
        for (const PinGroup& pins : scene.pins)
            lines << QStringLiteral("  ")
                    + tr("%1: %2, %3, hold %4 free, leverage %5")
                          .arg(shownText(scene.of.grouping->name(pins.group)),
                              plural(pins.blocks, tr("block"), tr("blocks")), exactBytesText(pins.bytes),
                              exactBytesText(pins.releases), QString::number(pins.leverage, 'f', 1));
        lines << pinSum(scene);
    }
    lines << QString() << tr("What fills the card");
    for (const std::uint32_t row : scene.liveOrder) {
        const LiveFigures figures = figuresOf(*scene.of.replay, *scene.live, row);
        lines << QStringLiteral("  ")
                + tr("%1: %2, %3")
                      .arg(shownText(scene.of.grouping->name(figures.group)),
                          plural(figures.allocations, tr("allocation"), tr("allocations")),
                          exactBytesText(figures.bytes));
    }
    lines << liveSum(scene) << QString() << tr("Checks behind the verdict");
    for (const OomCheck& each : verdictChecks(scene))
        lines << QStringLiteral("  ") + each.text + QStringLiteral(": ") + checkStateText(each.state)
                + (each.figure.isEmpty() ? QString() : QStringLiteral(" (") + each.figure + QLatin1Char(')'));
    lines << gradeMeaning(words.grade);
    return lines.join(QLatin1Char('\n')).replace(QChar(0xa0), QLatin1Char(' '));
}

} // namespace tidemark
