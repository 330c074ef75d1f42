// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/rank_delegate.hpp"

#include "widgets/common/plot_text.hpp"
#include "widgets/common/severity_look.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/ranks/rank_painter.hpp"
#include "widgets/style/text.hpp"

#include <QPainter>

#include <algorithm>

namespace tidemark {

RankDelegate::RankDelegate(const RanksModel& model, Style& style, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_model(model)
    , m_style(style)
{ }

int RankDelegate::rowHeight() const
{
    return m_style.metrics().px(m_dense ? 14 : 36);
}

QSize RankDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& at) const
{
    return {10, m_model.isHeading(at) ? m_style.metrics().header : rowHeight()};
}

void RankDelegate::paintHeading(
    QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const
{
    painter.fillRect(option.rect, m_style.color(Tone::Head));
    if (at.column() == RanksModel::Name) {
        const QString title = at.data().toString();
        const QFont font = m_style.font(FontRole::Strong);
        painter.setFont(font);
        // The first column is wide enough for the number of a rank only: the title runs on.
        painter.setClipping(false);
        const QRectF box = textBox(
            font, title, QPointF(option.rect.left() + 4.0, option.rect.center().y() + 0.5), TextSide::Left);
        drawText(painter, box, title, m_style.color(Tone::Text));
        const QFont small = m_style.font(FontRole::Small);
        const QString note = m_model.headingNote(at.siblingAtColumn(0));
        painter.setFont(small);
        drawText(painter,
            textBox(small, note, QPointF(box.right() + 14, option.rect.center().y() + 0.5), TextSide::Left),
            note, m_style.color(Tone::Text2));
    }
}

void RankDelegate::paintState(
    QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const
{
    const RankRow* row = m_model.row(at);
    const RankStanding* standing = m_model.standing(at);
    QString icon = QStringLiteral("sev-ok");
    Tone tone = Tone::Ok;
    if (row->kind == RankRow::Kind::Bad) {
        icon = severityIcon(Severity::Critical);
        tone = severityShapeTone(Severity::Critical);
    } else if (row->kind == RankRow::Kind::Missing) {
        icon = QStringLiteral("sev-unknown");
        tone = Tone::Unknown;
    } else if (standing && standing->worst) {
        icon = severityIcon(*standing->worst);
        tone = severityShapeTone(*standing->worst);
    }
    const int size = std::min(m_style.metrics().icon, option.rect.height());
    const QRect box(option.rect.left() + 4, option.rect.center().y() - size / 2, size, size);
    m_style.icon(icon, tone).paint(&painter, box);
}

QPointF RankDelegate::discAt(const QRect& cell) const
{
    return {cell.left() + m_style.metrics().px(4) + noteDiscRadius(m_style), cell.center().y() + 0.5};
}

int RankDelegate::paintRemarks(QPainter& painter, const QRect& cell, const RankSummary& summary) const
{
    if (!m_remarks)
        return cell.left();
    const Remarks remarks = m_remarks(summary);
    constexpr std::size_t most = 3;
    QPointF centre = discAt(cell);
    const double apart = 2 * noteDiscRadius(m_style) + 3;
    std::size_t drawn = 0;
    for (const int number : remarks.numbers) {
        if (drawn++ == most)
            break;
        NoteShape shape;
        shape.number = number;
        shape.from = shape.to = shape.disc = centre;
        shape.chosen = number == remarks.chosen;
        paintNoteDisc(painter, m_style, shape);
        centre.rx() += apart;
    }
    return drawn == 0 ? cell.left() : static_cast<int>(centre.x() - noteDiscRadius(m_style));
}

void RankDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& at) const
{
    painter->save();
    if (m_model.isHeading(at)) {
        paintHeading(*painter, option, at);
        painter->restore();
        return;
    }
    const bool selected = option.state & QStyle::State_Selected;
    const RankRow* row = m_model.row(at);
    const RankSummary* summary = m_model.summary(at);
    const RankStanding* standing = m_model.standing(at);
    if (!row) {
        painter->restore();
        return;
    }
    if (selected)
        painter->fillRect(option.rect, m_style.color(Tone::SelSoft));
    if (standing && standing->outlier && at.column() == RanksModel::Name)
        painter->fillRect(QRect(option.rect.left(), option.rect.top(), 3, option.rect.height()),
            m_style.color(summary->oom ? Tone::Crit : Tone::WarnFill));
    painter->fillRect(
        QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), m_style.color(Tone::Line2));
    const int pad = m_style.metrics().px(8);
    const QRectF inner = QRectF(option.rect).adjusted(pad, m_dense ? 2 : 9, -pad, m_dense ? -2 : -10);
    switch (at.column()) {
    case RanksModel::Name:
        paintState(*painter, option, at);
        break;
    case RanksModel::Bar:
        if (summary) {
            const QRectF limitBox = QRectF(option.rect).adjusted(pad, 0, -pad, 0);
            const double ratio = painter->device()->devicePixelRatioF();
            if (m_model.step().empty())
                paintPeakBar(*painter, m_style, *summary, inner, m_model.scale(), ratio);
            else if (const StepPeak* peak = m_model.stepOf(*summary))
                paintStepBar(*painter, m_style, *peak, inner, m_model.scale(), ratio);
            if (standing->capacity)
                paintLimit(*painter, m_style, limitBox, static_cast<std::int64_t>(*standing->capacity),
                    m_model.scale());
        }
        break;
    case RanksModel::Curve:
        if (summary && !m_dense)
            paintSparkline(
                *painter, m_style, *summary, *standing, inner.adjusted(0, -4, 0, 5), m_model.scale());
        break;
    default:
        break;
    }
    const bool painted = summary && (at.column() == RanksModel::Bar || at.column() == RanksModel::Curve);
    QString text = at.data().toString();
    // A rank of which nothing was found has its remarks all the same.
    if (text.isEmpty() && summary && at.column() == RanksModel::Found)
        paintRemarks(*painter, option.rect, *summary);
    if (!painted && !text.isEmpty() && (!m_dense || at.column() <= RanksModel::Held)) {
        QFont font = m_style.font(m_dense ? FontRole::Scale : FontRole::Base);
        const bool strong = standing && standing->outlier
            && (at.column() == RanksModel::Name || at.column() == RanksModel::Found);
        if (strong)
            font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        QRect room = option.rect.adjusted(pad, 0, -pad, 0);
        if (at.column() == RanksModel::Found && summary)
            room.setLeft(std::max(room.left(), paintRemarks(*painter, option.rect, *summary)));
        if (at.column() == RanksModel::Name)
            room.setLeft(option.rect.left() + m_style.metrics().icon + 12);
        const auto more = at.column() == RanksModel::Name ? m_model.others(at).size() : 0;
        if (more > 0) {
            const QFont small = m_style.font(m_dense ? FontRole::Scale : FontRole::Small);
            const QString mark = QStringLiteral("+%1").arg(more);
            const QRectF box = textBox(small, mark,
                QPointF(option.rect.right() - 4.0, option.rect.center().y() + 0.5), TextSide::Right);
            painter->setFont(small);
            drawText(*painter, box, mark, m_style.color(Tone::Text2));
            painter->setFont(font);
            room.setRight(static_cast<int>(box.left()) - 2);
        }
        const auto colour = at.data(Qt::ForegroundRole);
        painter->setPen(colour.isValid() ? colour.value<QColor>()
                : summary ? m_style.color(at.column() == RanksModel::Place ? Tone::Text2 : Tone::Text)
                          : m_style.color(Tone::Text2));
        const auto alignment = static_cast<int>(at.data(Qt::TextAlignmentRole).toInt());
        if (!summary && at.column() == RanksModel::Bar) {
            // A row without figures has the columns to itself.
            painter->setClipping(false);
            room.setWidth(m_style.metrics().px(680));
        }
        painter->drawText(
            room, alignment, painter->fontMetrics().elidedText(text, Qt::ElideRight, room.width()));
    }
    if ((option.state & QStyle::State_HasFocus) && at.column() == RanksModel::Name) {
        painter->setPen(QPen(m_style.color(Tone::Sel), 1, Qt::DotLine));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    painter->restore();
}

} // namespace tidemark
