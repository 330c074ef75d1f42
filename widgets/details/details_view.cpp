// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/details_view.hpp"

#include "model/lens/filter.hpp"
#include "widgets/details/text_block.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int linesAround = 4; ///< of a frame's line, in its tool tip

constexpr int restMs = 60;
/// A selection is painted first; its texts follow in a frame of their own.
constexpr int afterFrameMs = 16;

QToolButton* smallButton(const Style& style, const QString& icon, const QString& text, QWidget* parent)
{
    auto* const button = new QToolButton(parent);
    button->setIcon(style.icon(icon));
    button->setAutoRaise(true);
    button->setToolTip(text);
    button->setAccessibleName(text);
    return button;
}

} // namespace

DetailsView::DetailsView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_scroll(new QScrollArea(this))
    , m_refresher(*this, [this] { refresh(); })
    , m_source([this](std::pair<int, SourceSnippet>&& found) { showSnippet(found.first, found.second); })
    , m_metrics([this](MadeMetrics&& made) { showMetrics(made); })
    , m_gathering([this](Gathered&& made) {
        if (made.subject == SheetSubject::of(m_session, m_view))
            present(made.facts);
    })
{
    auto* const page = new QWidget;
    page->setBackgroundRole(QPalette::Base);
    m_swatch = new QLabel(page);
    m_title = new TextBlock(page);
    m_title->setAccessibleName(tr("Name of the selection"));
    m_zoom = smallButton(style, QStringLiteral("zoom-selection"), tr("Zoom to its life (F)"), page);
    m_copy = smallButton(style, QStringLiteral("copy"), tr("Copy these details"), page);
    m_facts = new TextBlock(page);
    m_facts->setAccessibleName(tr("Facts"));
    m_stackHeader = new QWidget(page);
    m_stackTitle = new QLabel(m_stackHeader);
    m_stackTitle->setForegroundRole(QPalette::PlaceholderText);
    m_hide = new QCheckBox(m_stackHeader);
    m_hide->setChecked(true);
    m_copyStack = smallButton(style, QStringLiteral("copy"), tr("Copy the stack"), m_stackHeader);
    m_stacks = new TextBlock(page);
    m_stacks->setAccessibleName(tr("Call stack"));

    auto* const titleRow = new QHBoxLayout;
    titleRow->addWidget(m_swatch, 0, Qt::AlignVCenter);
    titleRow->addWidget(m_title, 1, Qt::AlignVCenter);
    titleRow->addWidget(m_zoom, 0, Qt::AlignVCenter);
    titleRow->addWidget(m_copy, 0, Qt::AlignVCenter);
    auto* const headerRow = new QHBoxLayout(m_stackHeader);
    headerRow->setContentsMargins(0, 0, 0, 0);
    // Wraps rather than make the sheet wider than a narrow dock.
    m_stackTitle->setWordWrap(true);
    headerRow->addWidget(m_stackTitle, 1);
    headerRow->addWidget(m_hide);
    headerRow->addWidget(m_copyStack);
    auto* const column = new QVBoxLayout(page);
    column->addLayout(titleRow);
    column->addWidget(m_facts);
    column->addWidget(m_stackHeader);
    column->addWidget(m_stacks);
    column->addStretch();
    m_scroll->setWidget(page);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setBackgroundRole(QPalette::Base);
    auto* const whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(m_scroll);
    setAccessibleName(tr("Details"));

    for (const auto signal : {&ViewState::selectionChanged, &ViewState::rangeChanged})
        connect(&view, signal, this, [this] { refreshIn(afterFrameMs); });
    connect(&view, &ViewState::cursorChanged, this, [this] { refreshIn(restMs); });
    connect(&view, &ViewState::colourByChanged, this, &DetailsView::schedule);
    for (const auto signal :
        {&Session::opened, &Session::deviceChanged, &Session::siteModeChanged, &Session::diagnosisChanged})
        connect(&session, signal, this, &DetailsView::schedule);
    connect(&style, &Style::changed, this, &DetailsView::restyle);
    m_restTimer.setSingleShot(true);
    connect(&m_restTimer, &QTimer::timeout, this, &DetailsView::schedule);
    connect(m_hide, &QCheckBox::toggled, this, [this](bool hidden) {
        showStacks();
        emit frameworkHiddenChanged(hidden);
    });
    for (TextBlock* const block : {m_title, m_facts, m_stacks}) {
        connect(block, &QTextBrowser::anchorClicked, this, &DetailsView::follow);
        connect(block, &QTextBrowser::highlighted, this, &DetailsView::hoverLink);
    }
    connect(m_zoom, &QToolButton::clicked, this, [this] {
        if (valid(m_sheet.allocation))
            emit m_view.zoomToLifeRequested(m_sheet.allocation);
    });
    connect(
        m_copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(copyText()); });
    connect(m_copyStack, &QToolButton::clicked, this, [this] {
        if (!m_snapshot)
            return;
        DetailsSheet stacks;
        stacks.title = m_sheet.title;
        stacks.stacks = m_sheet.stacks;
        QGuiApplication::clipboard()->setText(sheetText(stacks, *m_snapshot, m_hide->isChecked()));
    });
    restyle();
}

DetailsView::~DetailsView() = default;

bool DetailsView::isFrameworkHidden() const
{
    return m_hide->isChecked();
}

void DetailsView::setFrameworkHidden(bool hidden)
{
    m_hide->setChecked(hidden);
}

void DetailsView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    QLayout* const column = m_scroll->widget()->layout();
    column->setContentsMargins(metrics.px(10), metrics.padding, metrics.padding, metrics.padding);
    column->setSpacing(metrics.unit);
    m_title->setFont(m_style.font(FontRole::Strong));
    m_facts->setFont(m_style.font(FontRole::Small));
    m_stacks->setFont(m_style.font(FontRole::Small));
    m_stackTitle->setFont(m_style.font(FontRole::Small));
    m_hide->setFont(m_style.font(FontRole::Small));
    for (QToolButton* const button : {m_zoom, m_copy, m_copyStack}) {
        button->setIconSize(QSize(metrics.smallIcon, metrics.smallIcon));
        button->setFixedSize(metrics.px(22), metrics.px(22));
    }
    if (m_snapshot)
        showSheet(true);
    schedule();
}

void DetailsView::refreshIn(int ms)
{
    m_refresher.markDue();
    const bool soon = m_restTimer.isActive() && m_restTimer.interval() == afterFrameMs;
    if (!soon)
        m_restTimer.start(ms);
}

void DetailsView::flush()
{
    m_gathering.cancel();
    present(SheetSubject::of(m_session, m_view).facts());
}

void DetailsView::setForPicture()
{
    m_forPicture = true;
    m_scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    showSheet(true);
}

void DetailsView::refresh()
{
    m_refresher.done();
    const SheetSubject subject = SheetSubject::of(m_session, m_view);
    if (subject.isSlow()) {
        m_gathering.request([subject](const Job&) { return Gathered{subject, subject.facts()}; });
        return;
    }
    m_gathering.cancel();
    present(subject.facts());
}

void DetailsView::present(const SheetFacts& facts)
{
    m_refresher.done();
    DetailsSheet sheet = detailsSheet(m_session, m_view, facts);
    const auto rank = m_session.rank();
    m_snapshot = rank ? rank->snapshot : nullptr;
    const bool same = sheet.title == m_sheet.title && sheet.kind == m_sheet.kind
        && sheet.allocation == m_sheet.allocation;
    if (!same)
        m_open.clear();
    m_sheet = std::move(sheet);
    showSheet(same);
    askMetrics();
}

// Of a moment the allocator's metrics follow when they are worked out.
void DetailsView::askMetrics()
{
    const auto replay = m_session.replay();
    if (m_sheet.kind != QObject::tr("moment") || !replay || !replay->segments.known()) {
        m_metrics.cancel();
        return;
    }
    m_metrics.request([replay, diagnosis = m_session.diagnosis(), device = m_session.deviceIndex(),
                          state = m_view.cursor(), card = m_session.capacity()](const Job& job) {
        MetricsContext context;
        context.deviceTotal = card;
        if (diagnosis) {
            const DeviceDiagnosis& found = diagnosis->devices[device];
            if (found.phases)
                context.steps = found.phases->steps;
            context.ooms = found.ooms;
        }
        return MadeMetrics{replay, state, metricLines(*replay, metricsAt(*replay, state, context, job))};
    });
}

void DetailsView::showMetrics(const MadeMetrics& made)
{
    const bool still = made.replay == m_session.replay() && made.state == m_view.cursor()
        && m_sheet.kind == QObject::tr("moment");
    if (!still)
        return;
    SheetTable table;
    table.title = tr("Allocator");
    for (const MetricLine& line : made.lines)
        table.rows.push_back({tr("%1 · %2").arg(QString::fromLatin1(line.id), shownText(line.name)), {},
            {shownText(line.value)}});
    m_sheet.tables.push_back(std::move(table));
    showSheet(true);
}

void DetailsView::showSheet(bool sameThing)
{
    const int scroll = m_scroll->verticalScrollBar()->value();
    m_swatch->setVisible(m_sheet.slot.has_value());
    if (m_sheet.slot)
        m_swatch->setPixmap(m_style.swatch(*m_sheet.slot, m_sheet.sequential, devicePixelRatioF()));
    m_title->setContent(m_sheet.title.toHtmlEscaped());
    m_title->setVisible(!m_sheet.title.isEmpty());
    m_zoom->setVisible(valid(m_sheet.allocation) && !m_forPicture);
    m_copy->setVisible(!m_sheet.facts.empty() && !m_forPicture);
    m_facts->setContent(factsHtml(m_sheet, m_style));
    showStacks();
    setWindowTitle(m_sheet.kind);
    m_scroll->verticalScrollBar()->setValue(sameThing ? scroll : 0);
}

void DetailsView::showStacks()
{
    const bool any = m_snapshot && !m_sheet.stacks.empty();
    m_stackHeader->setVisible(any || !m_sheet.noStack.isEmpty());
    m_stacks->setVisible(any || !m_sheet.noStack.isEmpty());
    m_copyStack->setVisible(any && !m_forPicture);
    if (!m_snapshot)
        return;
    const FrameCount frames = countFrames(m_sheet, *m_snapshot);
    m_stackTitle->setText(any ? m_sheet.stacks.front().title : tr("Stack"));
    m_hide->setVisible(frames.framework > 0 && !m_forPicture);
    m_hide->setText(tr("hide %1 framework %2")
                        .arg(countText(static_cast<std::int64_t>(frames.framework)),
                            frames.framework == 1 ? tr("frame") : tr("frames")));
    m_hide->setToolTip(tr("Frames of PyTorch, Python and C++ runtimes (H)"));
    // With nothing but framework frames, hiding them would hide the answer.
    const bool hide = m_hide->isChecked() && frames.framework < frames.all;
    m_stacks->setContent(stacksHtml(m_sheet, *m_snapshot, m_style, hide, m_open));
}

QString DetailsView::copyText() const
{
    return m_snapshot ? sheetText(m_sheet, *m_snapshot, false) : QString();
}

QString DetailsView::shownPlainText() const
{
    QString text = m_title->toPlainText() + QLatin1Char('\n') + m_facts->toPlainText();
    if (m_stacks->isVisibleTo(this))
        text += QLatin1Char('\n') + m_stacks->toPlainText();
    return text;
}

void DetailsView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        QGuiApplication::clipboard()->setText(copyText());
        return;
    }
    QWidget::keyPressEvent(event);
}

void DetailsView::follow(const QUrl& url)
{
    const QString link = url.toString();
    const QString what = link.section(QLatin1Char(':'), 0, 0);
    const QString rest = link.section(QLatin1Char(':'), 1);
    bool number = false;
    const std::uint64_t value = rest.startsWith(QLatin1String("0x")) ? rest.mid(2).toULongLong(&number, 16)
                                                                     : rest.toULongLong(&number);
    if (what == QLatin1String("frame")) {
        followFrame(rest);
    } else if (what == QLatin1String("open")) {
        m_open.insert(
            {rest.section(QLatin1Char(':'), 0, 0).toInt(), rest.section(QLatin1Char(':'), 1).toInt()});
        showStacks();
    } else if (what == QLatin1String("fold")) {
        setFrameworkHidden(false);
    } else if (what == QLatin1String("event") && number) {
        m_view.pushHistory();
        m_view.setCursor(stateOf(static_cast<Moment>(value)));
    } else if (what == QLatin1String("allocation") && number) {
        m_view.selectAllocation(static_cast<AllocationId>(value));
    } else if (what == QLatin1String("segment") && number) {
        Selection selection;
        selection.kind = Selection::Kind::Segment;
        selection.address = value;
        m_view.select(selection);
    }
}

void DetailsView::followFrame(const QString& place)
{
    const auto stack = place.section(QLatin1Char(':'), 0, 0).toUInt();
    const auto at = place.section(QLatin1Char(':'), 1).toUInt();
    if (!m_snapshot || stack >= m_sheet.stacks.size())
        return;
    const auto frames = m_snapshot->stacks[m_sheet.stacks[stack].stack];
    if (at >= frames.size())
        return;
    const Frame& frame = m_snapshot->frames[frames[at]];
    if (QGuiApplication::keyboardModifiers() & Qt::ControlModifier) {
        if (valid(frame.file)) {
            const std::string_view file = m_snapshot->strings.view(frame.file);
            emit m_view.editorRequested(QString::fromUtf8(file.data(), static_cast<qsizetype>(file.size())),
                static_cast<int>(frame.line));
        }
        return;
    }
    const ShownFrame shown = shownFrame(*m_snapshot, frames[at]);
    const QString text = shown.place.isEmpty() ? shown.name : shown.name + QLatin1Char('@') + shown.place;
    emit m_view.searchRequested(QString::fromStdString(filterTerm({}, text.toStdString())));
}

void DetailsView::hoverLink(const QUrl& url)
{
    const QString link = url.toString();
    if (!link.startsWith(QLatin1String("frame:")) || !m_snapshot) {
        QToolTip::hideText();
        emit m_view.hoverTextChanged({});
        return;
    }
    const QString place = link.section(QLatin1Char(':'), 1);
    const auto stack = place.section(QLatin1Char(':'), 0, 0).toUInt();
    const auto at = place.section(QLatin1Char(':'), 1).toUInt();
    if (stack >= m_sheet.stacks.size() || at >= m_snapshot->stacks[m_sheet.stacks[stack].stack].size())
        return;
    const ShownFrame frame = shownFrame(*m_snapshot, m_snapshot->stacks[m_sheet.stacks[stack].stack][at]);
    emit m_view.hoverTextChanged(
        frame.name + QStringLiteral("  ") + frame.path + tr(" · click filters, Ctrl+click opens the editor"));
    showSource(m_snapshot->frames[m_snapshot->stacks[m_sheet.stacks[stack].stack][at]]);
}

/// The lines around a frame's, where its file is here; read on a thread, for folders may be far away.
void DetailsView::showSource(const Frame& frame)
{
    const std::string_view recorded = m_snapshot->strings.view(frame.file);
    const QString file = mappedPath(
        QString::fromUtf8(recorded.data(), static_cast<qsizetype>(recorded.size())), m_view.pathRules());
    m_source.request([file, line = static_cast<int>(frame.line)](
                         const Job&) { return std::pair(line, sourceSnippet(file, line, linesAround)); });
}

void DetailsView::showSnippet(int line, const SourceSnippet& snippet)
{
    if (snippet.lines.isEmpty() || !underMouse()) {
        QToolTip::hideText();
        return;
    }
    QString html = QStringLiteral("<pre style='margin:0'>");
    for (qsizetype i = 0; i < snippet.lines.size(); ++i) {
        const int number = snippet.firstLine + static_cast<int>(i);
        const QString text = QStringLiteral("%1  %2").arg(number, 5).arg(snippet.lines[i]).toHtmlEscaped();
        html += (number == line ? QStringLiteral("<b>%1</b>").arg(text) : text) + QLatin1Char('\n');
    }
    QToolTip::showText(QCursor::pos(), html + QStringLiteral("</pre>"), this);
}

} // namespace tidemark
