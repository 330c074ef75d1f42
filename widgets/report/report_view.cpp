// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/report_view.hpp"

#include "widgets/common/footer.hpp"
#include "widgets/report/page_preview.hpp"
#include "widgets/report/removed_list.hpp"
#include "widgets/report/report_options.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedLayout>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double zoomStep = 1.2;
constexpr int columnWidth = 300;

} // namespace

ReportView::ReportView(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_options(new ReportOptions(style, this))
    , m_column(new QScrollArea(this))
    , m_export(new QPushButton(tr("Exp&ort…"), this))
    , m_copy(new QPushButton(tr("&Copy as Markdown"), this))
    , m_preview(new PagePreview(style, this))
    , m_footer(new Footer(style, this))
    , m_place(new QLabel(m_footer))
    , m_state(new QLabel(m_footer))
    , m_smaller(new QToolButton(m_footer))
    , m_larger(new QToolButton(m_footer))
    , m_fit(new QToolButton(m_footer))
    , m_body(new QWidget(this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout(this))
    , m_refresher(*this, [this] { m_rest.start(); })
    , m_task([this](Made&& made) { take(std::move(made)); })
    , m_removedTask([this](std::vector<report::Replacement>&& removed) {
        if (m_removed != nullptr)
            m_removed->show(removed);
    })
{
    setAccessibleName(tr("Report"));
    setFocusProxy(m_preview);
    m_rest.setSingleShot(true);
    m_rest.setInterval(restMs);
    connect(&m_rest, &QTimer::timeout, this, &ReportView::refresh);
    buildLayout();

    connect(m_options, &ReportOptions::changed, this, [this] {
        schedule();
        emit wishChanged();
    });
    connect(m_options, &ReportOptions::removedRequested, this, &ReportView::showRemoved);
    connect(m_export, &QPushButton::clicked, this, &ReportView::exportRequested);
    connect(m_copy, &QPushButton::clicked, this, &ReportView::copyMarkdownRequested);
    connect(m_preview, &PagePreview::placeChanged, this, &ReportView::showPlace);
    connect(m_smaller, &QToolButton::clicked, this, [this] { m_preview->zoomBy(1 / zoomStep); });
    connect(m_larger, &QToolButton::clicked, this, [this] { m_preview->zoomBy(zoomStep); });
    connect(m_fit, &QToolButton::clicked, this, [this] { m_preview->setZoom(std::nullopt); });
    connect(&style, &Style::changed, this, &ReportView::restyle);
    restyle();
    showPlace();
}

ReportView::~ReportView() = default;

void ReportView::buildLayout()
{
    m_column->setWidget(m_options);
    m_column->setWidgetResizable(true);
    m_column->setFrameShape(QFrame::NoFrame);
    m_column->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_column->setFocusPolicy(Qt::NoFocus);
    makePrimary(*m_export, m_style);
    m_export->setToolTip(tr("As HTML, PDF, Markdown or JSON"));
    m_copy->setToolTip(tr("To paste into an issue"));

    m_smaller->setAccessibleName(tr("Smaller pages"));
    m_larger->setAccessibleName(tr("Larger pages"));
    m_fit->setAccessibleName(tr("Pages as wide as the view"));
    for (QToolButton* button : {m_smaller, m_larger, m_fit}) {
        button->setToolTip(button->accessibleName());
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::TabFocus);
    }
    auto* foot = new QHBoxLayout(m_footer);
    foot->setSpacing(0);
    foot->addWidget(m_place);
    foot->addWidget(m_state, 1);
    for (QToolButton* button : {m_smaller, m_larger, m_fit})
        foot->addWidget(button);

    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_copy);
    buttons->addStretch(1);
    buttons->addWidget(m_export);
    auto* left = new QVBoxLayout;
    left->setSpacing(0);
    left->addWidget(m_column, 1);
    left->addLayout(buttons);
    auto* right = new QVBoxLayout;
    right->setSpacing(0);
    right->addWidget(m_preview, 1);
    right->addWidget(m_footer);
    auto* row = new QHBoxLayout(m_body);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addLayout(left);
    row->addLayout(right, 1);

    EmptyState::Content content;
    content.icon = QStringLiteral("report");
    content.heading = tr("No file is open");
    content.sentence = tr("Open a memory snapshot to write a report about it.");
    content.actions
        = {{tr("Open a file…"), QStringLiteral("open"), [this] { emit openFileRequested(); }, true}};
    m_empty->setContent(std::move(content));
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->setContentsMargins(0, 0, 0, 0);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_body);
}

void ReportView::restyle()
{
    const Metrics& m = m_style.metrics();
    m_column->setFixedWidth(m.px(columnWidth));
    auto* left = m_body->layout()->itemAt(0)->layout();
    left->itemAt(1)->layout()->setContentsMargins(m.padding, m.unit, m.padding, m.padding);
    m_footer->setFixedHeight(m.header);
    m_footer->layout()->setContentsMargins(m.padding, 1, 0, 0);
    for (QLabel* label : {m_place, m_state})
        label->setFont(m_style.font(FontRole::Small));
    m_state->setContentsMargins(m.padding * 2, 0, 0, 0);
    m_state->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_smaller->setIcon(m_style.icon(QStringLiteral("zoom-out")));
    m_larger->setIcon(m_style.icon(QStringLiteral("zoom-in")));
    m_fit->setIcon(m_style.icon(QStringLiteral("zoom-fit")));
}

void ReportView::setSource(Input input, Draw draw)
{
    m_source = std::move(input);
    m_draw = std::move(draw);
    inputChanged();
}

void ReportView::inputChanged()
{
    ++m_generation;
    m_drawn = {};
    schedule();
}

void ReportView::schedule()
{
    m_due = true;
    m_refresher.schedule();
}

report::ReportWish ReportView::wish() const
{
    return m_options->wish();
}

void ReportView::setWish(const report::ReportWish& wish)
{
    m_options->setWish(wish);
    schedule();
}

Paper ReportView::paper() const
{
    return m_options->paper();
}

bool ReportView::busy() const
{
    return m_due || m_preparing || m_task.busy();
}

QString ReportView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

void ReportView::refresh()
{
    m_refresher.done();
    m_due = false;
    m_preparing = false;
    m_input = m_source ? m_source() : std::nullopt;
    if (!m_input || !m_input->rank) {
        m_input.reset();
        m_task.cancel();
        m_document = nullptr;
        m_preview->setPages(nullptr);
        m_stack->setCurrentWidget(m_empty);
        showPlace();
        return;
    }
    m_stack->setCurrentWidget(m_body);
    if (m_input->diagnosis && m_input->device < m_input->rank->devices.size()) {
        const report::VerdictText verdict = report::verdictOf(*m_input->diagnosis, m_input->device);
        m_options->setVerdict(shownText(verdict.title), shownText(verdict.why));
    } else {
        m_options->setVerdict(tr("The verdict"), {});
    }
    m_preparing = true;
    drawNext();
    showPlace();
}

std::optional<report::PictureKind> ReportView::missingPicture() const
{
    return m_draw && m_input ? m_drawn.missing(*m_input, m_options->wish().parts) : std::nullopt;
}

// Drawing may run the event loop: whatever comes meanwhile waits for its end.
void ReportView::drawNext()
{
    if (m_drawing || !m_preparing)
        return;
    const auto kind = missingPicture();
    if (!kind) {
        make();
        return;
    }
    m_drawing = true;
    const std::uint64_t generation = m_generation;
    const report::ReportInput input = *m_input;
    std::vector<report::Picture> pictures = ReadyPictures::draw(*kind, input, m_draw);
    m_drawing = false;
    if (generation == m_generation)
        m_drawn.put(*kind, std::move(pictures));
    QMetaObject::invokeMethod(this, &ReportView::drawNext, Qt::QueuedConnection);
}

void ReportView::make()
{
    m_preparing = false;
    m_task.request(
        [input = *m_input, wish = wish(), paper = paper(), pictures = m_drawn](const Job& job) mutable {
            Made made;
            made.document = report::buildReport(input, wish, &pictures, job);
            if (made.document)
                made.pages = PagedReport::layOut(*made.document, paper, job);
            return made;
        });
    showPlace();
}

void ReportView::take(Made&& made)
{
    if (made.pages && m_input) {
        m_document = std::move(made.document);
        m_preview->setPages(std::move(made.pages));
    }
    showPlace();
}

void ReportView::showPlace()
{
    const auto& pages = m_preview->pages();
    m_place->setText(pages ? tr("Page %1 of %2 · %3 %")
                                 .arg(m_preview->currentPage() + 1)
                                 .arg(pages->pageCount())
                                 .arg(std::lround(m_preview->scale() * 100))
                           : QString());
    m_state->setText(!m_task.busy() ? QString() : pages ? tr("Updating…") : tr("Making the report…"));
    m_fit->setEnabled(pages && !m_preview->fitsWidth());
    for (QWidget* each : std::initializer_list<QWidget*>{m_smaller, m_larger, m_export, m_copy})
        each->setEnabled(pages != nullptr);
}

void ReportView::showRemoved()
{
    if (!m_input)
        return;
    if (m_removed == nullptr)
        m_removed = new RemovedList(m_style, this);
    m_removed->setBusy();
    m_removed->show();
    m_removed->raise();
    m_removedTask.request([input = *m_input, redaction = wish().redaction](const Job&) {
        return report::Redactor::build(report::redactionInput(input), redaction).replacements();
    });
}

} // namespace tidemark
