// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_texts.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/segments/segment_painter.hpp"
#include "widgets/session.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

namespace {

QString siteOf(const Session& session, const Replay& replay, AllocationId id)
{
    const auto sites = session.sites();
    return sites ? shownText(allocationSite(replay, *sites, id)) : QString();
}

QString blockWords(const Replay& replay, const Piece& piece)
{
    if (piece.size == piece.requested)
        return QStringLiteral("block the same");
    const bool exact
        = piece.exactSize || (valid(piece.allocation) && replay.segments.blockSizeExact(piece.allocation));
    return QStringLiteral("block ") + (exact ? QString() : QStringLiteral("≈ ")) + bytesText(piece.size)
        + QStringLiteral(", waste ") + bytesText(piece.size - std::min(piece.size, piece.requested));
}

QString row(const QString& text)
{
    return text.toHtmlEscaped();
}

} // namespace

QString segmentKindText(const SegmentView& segment)
{
    QString text = segment.kind == SegmentKind::Small ? QStringLiteral("small")
        : segment.kind == SegmentKind::Large          ? QStringLiteral("large")
                                                      : QStringLiteral("kind unknown");
    if (segment.expandable)
        text += QStringLiteral(", expandable");
    return text;
}

QString pieceLine(
    const Session& session, const Replay& replay, const SegmentView& segment, const Piece& piece)
{
    if (valid(piece.allocation)) {
        QString line = siteOf(session, replay, piece.allocation) + QStringLiteral("  ")
            + bytesText(piece.requested) + QStringLiteral(" · allocation ")
            + countText(static_cast<std::int64_t>(index(piece.allocation)));
        if (piece.kind == PieceKind::Waiting)
            line += QStringLiteral(" · waiting for a stream");
        return line;
    }
    return lookName(lookOf(segment, piece)) + QStringLiteral("  ") + bytesText(piece.size)
        + QStringLiteral(" · ") + segmentLine(replay, segment);
}

QString segmentLine(const Replay& replay, const SegmentView& segment)
{
    const Snapshot& snapshot = *replay.snapshot;
    return QStringLiteral("segment ") + addressText(segment.address) + QStringLiteral(", ")
        + bytesText(segment.size) + QStringLiteral(" · ") + shownText(streamName(snapshot, segment.stream))
        + QStringLiteral(" · ") + (index(segment.pool) ? QStringLiteral("pool ") : QString())
        + shownText(poolName(snapshot, segment.pool));
}

QString pieceToolTip(const Session& session, const Replay& replay, const SegmentView& segment,
    const Piece& piece, std::size_t sharing)
{
    QStringList rows;
    if (valid(piece.allocation)) {
        rows << QStringLiteral("<b>") + row(siteOf(session, replay, piece.allocation))
                + QStringLiteral("</b>");
        rows << row(bytesText(piece.requested) + QStringLiteral(" (") + exactBytesText(piece.requested)
            + QStringLiteral(") · ") + blockWords(replay, piece));
        rows << row(lifeText(replay, piece.allocation) + QStringLiteral(" · ")
            + lifeLengthText(replay, piece.allocation));
        if (piece.kind == PieceKind::Waiting)
            rows << row(QStringLiteral("freed by the program, waiting for a stream"));
    } else {
        rows << QStringLiteral("<b>") + row(lookName(lookOf(segment, piece))) + QStringLiteral("</b>");
        rows << row(bytesText(piece.size) + QStringLiteral(" (") + exactBytesText(piece.size)
            + QStringLiteral(") at ") + addressText(piece.address));
    }
    rows << row(segmentLine(replay, segment));
    if (sharing > 1)
        rows << row(
            countText(static_cast<std::int64_t>(sharing)) + QStringLiteral(" blocks share this pixel"));
    return QStringLiteral("<p style='white-space:pre'>") + rows.join(QStringLiteral("<br>"))
        + QStringLiteral("</p>");
}

QString segmentToolTip(const Replay& replay, const SegmentView& segment, bool predicted)
{
    QStringList rows;
    rows << QStringLiteral("<b>") + row(segmentLine(replay, segment)) + QStringLiteral("</b>");
    rows << row(segmentKindText(segment) + QStringLiteral(" · live ") + bytesText(segment.liveBytes)
        + QStringLiteral(" · free ") + bytesText(segment.freeBytes)
        + (segment.waitingBytes ? QStringLiteral(" · waiting ") + bytesText(segment.waitingBytes) : QString())
        + QStringLiteral(" · largest hole ") + bytesText(segment.largestHole));
    if (!predicted)
        rows << row(segment.predating ? QStringLiteral("reserved before recording")
                                      : QStringLiteral("reserved at ") + momentText(replay, segment.since));
    return QStringLiteral("<p style='white-space:pre'>") + rows.join(QStringLiteral("<br>"))
        + QStringLiteral("</p>");
}

} // namespace tidemark
