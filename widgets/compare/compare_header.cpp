// SPDX-License-Identifier: GPL-3.0-or-later
// The lines above the curves: sides, figures, choices.
#include "widgets/compare/compare_view.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/compare/compare_curves.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QSplitter>
#include <QTextDocument>
#include <QToolButton>

namespace tidemark {

using compare::AlignBy;
using compare::Which;

namespace {

/// Sample of a side's line in the curves.
class LineSample : public QWidget {
public:
    LineSample(Which side, const Style& style, QWidget* parent)
        : QWidget(parent)
        , m_side(side)
        , m_style(style)
    {
        setFixedSize(style.metrics().px(26), style.metrics().px(16));
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        QPen pen(m_style.color(m_side == Which::A ? Tone::Ink : Tone::Link), m_side == Which::A ? 1.5 : 2);
        if (m_side == Which::A)
            pen.setDashPattern({4, 2});
        painter.setPen(pen);
        painter.drawLine(0, height() / 2, width(), height() / 2);
    }

private:
    Which m_side;
    const Style& m_style;
};

} // namespace

QWidget* CompareView::makeHeader()
{
    auto* header = new QWidget(this);
    auto* lines = new QVBoxLayout(header);
    const int pad = m_style.metrics().padding;
    lines->setContentsMargins(pad, 4, pad, 4);
    lines->setSpacing(4);

    auto* files = new QHBoxLayout;
    files->setSpacing(m_style.metrics().px(6));
    m_swap->setText(tr("Swap"));
    m_swap->setToolTip(tr("Swap the sides"));
    m_swap->setAutoRaise(true);
    const auto addSide = [&](Which side, QLineEdit* label, QComboBox* file, QComboBox* device) {
        files->addWidget(new LineSample(side, m_style, header));
        auto* letter = new QLabel(side == Which::A ? tr("A") : tr("B"), header);
        letter->setFont(m_style.font(FontRole::Strong));
        files->addWidget(letter);
        label->setPlaceholderText(tr("label"));
        label->setToolTip(tr("A short name for this side, such as TP2"));
        label->setAccessibleName(side == Which::A ? tr("Label of A") : tr("Label of B"));
        label->setMaxLength(40);
        files->addWidget(label);
        files->addWidget(file, 1);
        files->addWidget(device);
        connect(label, &QLineEdit::editingFinished, this,
            [this, side, label] { m_state.setLabel(side, label->text().trimmed()); });
        connect(file, &QComboBox::activated, this, [this, side, file](int row) {
            if (row < m_choices.size())
                emit fileRequested(side, m_choices[row].path);
            else if (file->itemData(row).toBool())
                emit chooseRequested(side);
            fillChooser(side); // as it is until something is read
        });
        connect(device, &QComboBox::activated, this, [this, side](int row) {
            m_state.setRank(side, m_state.session(side).rank(), static_cast<std::size_t>(row));
        });
    };
    addSide(Which::A, m_labelA, m_fileA, m_deviceA);
    files->addWidget(m_swap);
    addSide(Which::B, m_labelB, m_fileB, m_deviceB);
    lines->addLayout(files);

    m_figures->setTextFormat(Qt::RichText);
    m_figures->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* figures = new QHBoxLayout;
    figures->addWidget(m_figures, 1);
    figures->addWidget(m_busy);
    lines->addLayout(figures);

    const auto rowOf = [&](QWidget* box) {
        auto* row = new QHBoxLayout(box);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(m_style.metrics().px(6));
        return row;
    };
    const auto add = [&](QHBoxLayout* row, const QString& name, Segmented* what) {
        if (!name.isEmpty())
            row->addWidget(new QLabel(name, what->parentWidget()));
        what->setLogicalHeight(22);
        what->setAccessibleName(name);
        row->addWidget(what);
        row->addSpacing(m_style.metrics().px(4));
    };
    m_leftChoices = new QWidget(header);
    m_rightChoices = new QWidget(header);
    QHBoxLayout* const left = rowOf(m_leftChoices);
    add(left, tr("Align by"), m_align);
    add(left, tr("Compare at"), m_at);
    m_resetOffset->setToolTip(tr("Back to the alignment"));
    m_resetOffset->setAutoRaise(true);
    left->addWidget(m_resetOffset);
    QHBoxLayout* const right = rowOf(m_rightChoices);
    add(right, QString(), m_curve);
    add(right, QString(), m_lowerChoice);
    add(right, QString(), m_arrangement);
    // In one line where there is room, else in two.
    m_choiceGrid = new QGridLayout;
    m_choiceGrid->setContentsMargins(0, 0, 0, 0);
    m_choiceGrid->setVerticalSpacing(m_style.metrics().px(4));
    m_choiceGrid->setColumnStretch(1, 1);
    m_choiceGrid->addWidget(m_leftChoices, 0, 0);
    m_choiceGrid->addWidget(m_rightChoices, 0, 2);
    m_curve->setAccessibleName(tr("Curves"));
    m_lowerChoice->setAccessibleName(tr("Below the curves"));
    m_arrangement->setAccessibleName(tr("Arrangement"));
    m_at->setPartToolTip(0, tr("Each run at its own peak"));
    m_at->setPartToolTip(1, tr("Both at the cursor"));
    m_at->setPartToolTip(2, tr("What was allocated in the step at the cursor"));
    lines->addLayout(m_choiceGrid);

    connect(m_swap, &QToolButton::clicked, this, &CompareView::swapRequested);
    connect(
        m_align, &Segmented::chosen, this, [this](int at) { m_state.setAlign(static_cast<AlignBy>(at)); });
    connect(
        m_at, &Segmented::chosen, this, [this](int at) { m_state.setAt(static_cast<CompareState::At>(at)); });
    connect(m_curve, &Segmented::chosen, this,
        [this](int at) { m_curves->setCurve(static_cast<compare::Curve>(at)); });
    connect(m_lowerChoice, &Segmented::chosen, this, [this](int at) { setLower(static_cast<Lower>(at)); });
    connect(m_arrangement, &Segmented::chosen, this, [this](int at) { setStacked(at == 1); });
    connect(m_resetOffset, &QToolButton::clicked, this, [this] { m_state.setOffset(0); });
    return header;
}

void CompareView::placeChoices()
{
    const int air = 4 * m_style.metrics().padding;
    const int left = m_leftChoices->sizeHint().width();
    const bool oneLine = left + m_rightChoices->sizeHint().width() + air <= width();
    m_choiceGrid->removeWidget(m_rightChoices);
    if (oneLine)
        m_choiceGrid->addWidget(m_rightChoices, 0, 2);
    else
        m_choiceGrid->addWidget(m_rightChoices, 1, 0, 1, 3, Qt::AlignLeft);
    // A low window has no room for everything: the table matters more than the stacks.
    const bool low = height() < m_style.metrics().px(470);
    m_sides->setVisible(!low || m_lower == Lower::Maps);
}

void CompareView::fillChooser(Which side)
{
    QComboBox& box = chooser(side);
    const QSignalBlocker block(&box);
    box.clear();
    const auto rank = m_state.session(side).rank();
    const QString path = rank ? QString::fromStdString(rank->snapshot->source.path) : QString();
    int current = -1;
    for (const Choice& choice : m_choices) {
        if (choice.path == path)
            current = box.count();
        box.addItem(choice.path == path ? m_state.name(side) : choice.name);
        box.setItemData(box.count() - 1, choice.path, Qt::ToolTipRole);
    }
    if (rank && current < 0) {
        current = box.count();
        box.addItem(m_state.name(side));
    }
    box.addItem(tr("Choose a file…"), true);
    box.setCurrentIndex(current);
    box.setPlaceholderText(tr("Choose a file…"));
    box.setToolTip(path);
}

void CompareView::fillDevices(Which side)
{
    QComboBox& box = side == Which::A ? *m_deviceA : *m_deviceB;
    const QSignalBlocker block(&box);
    box.clear();
    const auto rank = m_state.session(side).rank();
    if (rank)
        for (const auto& device : rank->snapshot->devices)
            box.addItem(shownText(deviceName(device.ordinal)));
    box.setCurrentIndex(static_cast<int>(m_state.session(side).deviceIndex()));
    box.setVisible(box.count() > 1);
}

void CompareView::refreshFigures()
{
    const auto comparison = m_state.comparison();
    m_busy->setText(!m_problem.isEmpty() && comparison ? m_problem
            : !m_loading.isEmpty()                     ? tr("reading %1…").arg(m_loading)
            : m_state.busy()                           ? tr("comparing…")
                                                       : QString());
    for (QWidget* each : {static_cast<QWidget*>(m_align), static_cast<QWidget*>(m_at),
             static_cast<QWidget*>(m_curve), static_cast<QWidget*>(m_lowerChoice),
             static_cast<QWidget*>(m_arrangement), static_cast<QWidget*>(m_swap)})
        each->setEnabled(comparison != nullptr);
    m_resetOffset->setVisible(m_state.offset() != 0);
    if (!comparison) {
        m_figures->clear();
        return;
    }
    const auto alignment = m_state.alignment();
    const bool atMoments = m_state.at() == CompareState::At::Moments && m_state.table();
    const std::int64_t delta = atMoments ? m_state.table()->delta : comparison->peak.delta();
    const std::int64_t before
        = atMoments ? static_cast<std::int64_t>(m_state.table()->bytesA) : comparison->peak.a;
    const QString colour = m_style.color(delta < 0    ? Tone::Shrank
                                          : delta > 0 ? Tone::Grew
                                                      : Tone::Text)
                               .name();
    const double share = before > 0 ? static_cast<double>(delta) / static_cast<double>(before) * 100 : 0;
    const QString second = m_style.color(Tone::Text2).name();
    // A caption above each figure, as in the window's strip.
    QString captions;
    QString values;
    const auto cell = [&](const QString& caption, const QString& value, const QString& more = {}) {
        captions += QStringLiteral("<td style='padding-right:22px;color:%1'>%2</td>").arg(second, caption);
        values += QStringLiteral(
            "<td style='padding-right:22px'><b>%1</b> <span style='color:%2'>%3</span></td>")
                      .arg(value, second, more);
    };
    const auto table = m_state.table();
    const bool moments = m_state.at() == CompareState::At::Moments && table;
    if (moments) {
        cell(tr("Live at the first moment"), bytesText(table->bytesA));
        cell(tr("Live at the second moment"), bytesText(table->bytesB));
        if (table->oneRun)
            cell(tr("Survived"), bytesText(table->bytesSurvived));
    } else {
        cell(tr("Peak live, A"), bytesText(comparison->peak.a));
        cell(tr("Peak live, B"), bytesText(comparison->peak.b));
    }
    QString exact = (delta > 0 ? QStringLiteral("+") : QString()) + exactBytesText(delta);
    if (before > 0)
        exact = QStringLiteral("%1%2 % · ")
                    .arg(share < 0 ? QStringLiteral("−") : QStringLiteral("+"))
                    .arg(std::abs(share), 0, 'f', 1)
            + exact;
    cell(moments ? tr("Second − first") : tr("B − A at the peak of each"),
        QStringLiteral("<span style='color:%1'>%2</span>")
            .arg(colour, delta == 0 ? QStringLiteral("0") : deltaText(delta)),
        exact);
    if (comparison->reservedPeak && !moments) {
        const std::int64_t reserved = comparison->reservedPeak->delta();
        cell(tr("Peak reserved"),
            QStringLiteral("%1 → %2").arg(
                bytesText(comparison->reservedPeak->a), bytesText(comparison->reservedPeak->b)),
            reserved == 0 ? tr("the same") : deltaText(reserved));
    }
    cell(tr("Aligned by"), QString::fromLatin1(alignName(alignment->by())),
        shownText(alignment->matchedText()).toHtmlEscaped());
    if (m_state.offset() != 0)
        cell(tr("Moved by hand"), tr("B by %1 events").arg(countText(m_state.offset())));
    m_figures->setText(
        QStringLiteral("<table cellspacing='0' cellpadding='0'><tr>%1</tr><tr style='font-size:%2pt'>"
                       "%3</tr></table>")
            .arg(captions)
            .arg(m_style.font(FontRole::Value).pointSizeF())
            .arg(values));
    m_figures->setToolTip(shownText(alignment->explanation()));
    m_resetOffset->setText(tr("Reset offset"));

    m_align->setCurrent(static_cast<int>(alignment->by()));
    for (const compare::AlignOption& option : alignment->options()) {
        m_align->setPartEnabled(static_cast<int>(option.by), option.available);
        m_align->setPartToolTip(static_cast<int>(option.by), shownText(option.why));
    }
    m_at->setCurrent(static_cast<int>(m_state.at()));
    const bool steps = comparison->a.phases && comparison->b.phases && !comparison->a.phases->steps.empty()
        && !comparison->b.phases->steps.empty();
    m_at->setPartEnabled(2, steps);
    m_at->setPartShown(3, m_state.hasMoments());
    m_curve->setPartEnabled(1, curveKnown(*alignment, compare::Curve::Reserved));
    m_curve->setCurrent(static_cast<int>(m_curves->curve()));
    for (const Which side : {Which::A, Which::B}) {
        const Replay& replay = alignment->replay(side);
        const StateIndex state = m_state.view(side).cursor();
        (side == Which::A ? m_captionA : m_captionB)
            ->setText(tr("<b>%1</b> &nbsp;%2 · live %3 %4")
                          .arg(side == Which::A ? tr("A") : tr("B"), m_state.name(side).toHtmlEscaped(),
                              bytesText(replay.timeline.requested().at(state)),
                              state == (side == Which::A ? comparison->peakStateA : comparison->peakStateB)
                                  ? tr("at its peak")
                                  : atMomentText(replay, state)));
    }
}

QString CompareView::figuresText() const
{
    QTextDocument plain;
    plain.setHtml(m_figures->text());
    return plain.toPlainText();
}

} // namespace tidemark
