// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/report_options.hpp"

#include "widgets/style/controls.hpp"
#include "widgets/style/style.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int mostRows = 1000;
constexpr int mostTitle = 300;

} // namespace

QString partTitle(report::Part part)
{
    using report::Part;
    switch (part) {
    case Part::Verdict:
        return ReportOptions::tr("What to do");
    case Part::Figures:
        return ReportOptions::tr("Figures");
    case Part::Quality:
        return ReportOptions::tr("What the file cannot tell");
    case Part::Timeline:
        return ReportOptions::tr("Live memory over time");
    case Part::Segments:
        return ReportOptions::tr("Where the free memory is");
    case Part::Findings:
        return ReportOptions::tr("Findings");
    case Part::Live:
        return ReportOptions::tr("Live at the peak");
    case Part::Tree:
        return ReportOptions::tr("Who asked for it");
    case Part::Comparison:
        return ReportOptions::tr("Comparison");
    case Part::Ranks:
        return ReportOptions::tr("Ranks");
    case Part::Settings:
        return ReportOptions::tr("Settings");
    case Part::Annotations:
        return ReportOptions::tr("Notes");
    case Part::Reproduce:
        return ReportOptions::tr("How to get this again");
    case Part::Trust:
        return ReportOptions::tr("How far to trust this");
    case Part::Glossary:
        return ReportOptions::tr("Words");
    }
    return {};
}

ReportOptions::ReportOptions(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_title(new QLineEdit(this))
    , m_summary(new QPlainTextEdit(this))
    , m_parts(new QListWidget(this))
    , m_hint(new QLabel(
          tr("Drag to reorder, or Alt+↑ and Alt+↓. Parts with nothing to tell are left out."), this))
    , m_rows(new QSpinBox(this))
    , m_paper(new Segmented(style, {tr("A4"), tr("Letter")}, this))
    , m_redact(new QCheckBox(tr("Re&dact before sharing"), this))
{
    auto* column = new QVBoxLayout(this);
    addCaption(*column, tr("T&itle"), m_title);
    column->addWidget(m_title);
    m_title->setMaxLength(mostTitle);
    m_title->setAccessibleName(tr("Title of the report"));
    addCaption(*column, tr("Su&mmary"), m_summary);
    column->addWidget(m_summary);
    m_summary->setTabChangesFocus(true);
    m_summary->setAccessibleName(tr("Summary of the report"));

    addCaption(*column, tr("&Parts"), m_parts);
    column->addWidget(m_parts);
    m_parts->setAccessibleName(tr("Parts of the report, in their order"));
    m_parts->setDragDropMode(QAbstractItemView::InternalMove);
    m_parts->setDefaultDropAction(Qt::MoveAction);
    m_parts->setSelectionMode(QAbstractItemView::SingleSelection);
    m_parts->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_parts->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_parts->setUniformItemSizes(true);
    m_parts->installEventFilter(this);
    m_hint->setWordWrap(true);
    column->addWidget(m_hint);

    auto* numbers = new QFormLayout;
    m_rows->setRange(1, mostRows);
    m_rows->setAccessibleName(tr("Rows of a table"));
    m_rows->setToolTip(tr("Rows of a table; what is left out is summed up"));
    numbers->addRow(tr("&Rows of a table"), m_rows);
    m_paper->setAccessibleName(tr("Paper"));
    m_paper->setLogicalHeight(22);
    numbers->addRow(tr("Paper"), m_paper);
    column->addLayout(numbers);
    column->addWidget(m_redact);
    column->addWidget(makeRedaction());
    column->addStretch(1);

    setWish([] {
        report::ReportWish wish;
        wish.redaction = report::Redaction::standard();
        return wish;
    }());
    const auto told = [this] {
        if (!m_filling)
            emit changed();
    };
    connect(m_title, &QLineEdit::textChanged, this, told);
    connect(m_summary, &QPlainTextEdit::textChanged, this, told);
    connect(m_parts, &QListWidget::itemChanged, this, told);
    connect(m_parts->model(), &QAbstractItemModel::rowsMoved, this, told);
    connect(m_rows, &QSpinBox::valueChanged, this, told);
    connect(m_paper, &Segmented::chosen, this, told);
    for (QCheckBox* each : {m_redact, m_functions, m_identities, m_metadata})
        connect(each, &QCheckBox::toggled, this, [this, told] {
            followRedact();
            told();
        });
    connect(m_paths, &QComboBox::currentIndexChanged, this, told);
    connect(m_removed, &QPushButton::clicked, this, &ReportOptions::removedRequested);
    connect(&style, &Style::changed, this, &ReportOptions::restyle);
    restyle();
}

QLabel* ReportOptions::addCaption(QVBoxLayout& column, const QString& text, QWidget* of)
{
    auto* caption = new QLabel(text, this);
    caption->setBuddy(of);
    column.addWidget(caption);
    m_captions.push_back(caption);
    return caption;
}

QWidget* ReportOptions::makeRedaction()
{
    m_details = new QWidget(this);
    auto* column = new QVBoxLayout(m_details);
    m_paths = new QComboBox(m_details);
    m_paths->addItems(
        {tr("Paths as they are"), tr("File names without folders"), tr("File names hashed too")});
    m_paths->setAccessibleName(tr("Paths"));
    m_functions = new QCheckBox(tr("Hash fu&nction names"), m_details);
    m_functions->setToolTip(
        tr("Functions outside known libraries become fn_3f2a, the same name always the same"));
    m_identities = new QCheckBox(tr("&Users, hosts, values of settings"), m_details);
    m_identities->setToolTip(
        tr("Names of users and hosts, and settings that say where or for whom a run is"));
    m_metadata = new QCheckBox(tr("Te&xts the program attached"), m_details);
    m_metadata->setToolTip(tr("User metadata, compile contexts, names of ranges"));
    m_removed = new QPushButton(tr("What is removed…"), m_details);
    for (QWidget* each :
        std::initializer_list<QWidget*>{m_paths, m_functions, m_identities, m_metadata, m_removed})
        column->addWidget(each);
    return m_details;
}

void ReportOptions::restyle()
{
    const Metrics& m = m_style.metrics();
    auto* column = qobject_cast<QVBoxLayout*>(layout());
    column->setContentsMargins(m.padding, m.padding, m.padding, m.padding);
    column->setSpacing(m.unit);
    m_details->layout()->setContentsMargins(m.px(20), 0, 0, 0);
    m_details->layout()->setSpacing(m.unit);
    setFont(m_style.font(FontRole::Base));
    m_hint->setFont(m_style.font(FontRole::Small));
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_hint->setPalette(quiet);
    for (QLabel* caption : m_captions) {
        caption->setFont(m_style.font(FontRole::Strong));
        caption->setContentsMargins(0, caption == m_captions.front() ? 0 : m.unit, 0, 0);
    }
    const QFontMetrics font(m_style.font(FontRole::Base));
    m_summary->setFixedHeight(4 * font.lineSpacing() + m.px(12));
    // All parts are seen at once, so that dragging goes from anywhere to anywhere.
    for (int i = 0; i < m_parts->count(); ++i)
        m_parts->item(i)->setSizeHint({0, m.row});
    m_parts->setFixedHeight(m_parts->count() * m.row + 2 * m_parts->frameWidth() + 2);
}

void ReportOptions::setVerdict(const QString& title, const QString& why)
{
    m_title->setPlaceholderText(title);
    m_title->setToolTip(title);
    // No more than there is room for: the page shows all of it.
    constexpr qsizetype mostShown = 110;
    const QString shown = why.size() <= mostShown ? why : why.left(why.lastIndexOf(u' ', mostShown)) + u'…';
    m_summary->setPlaceholderText(why.isEmpty() ? tr("Paragraphs below the title") : shown);
}

void ReportOptions::fillParts(const std::vector<report::Part>& wanted)
{
    m_parts->clear();
    std::vector<report::Part> order = wanted;
    for (const report::Part part : report::allParts())
        if (std::find(wanted.begin(), wanted.end(), part) == wanted.end())
            order.push_back(part);
    for (std::size_t i = 0; i < order.size(); ++i) {
        auto* item = new QListWidgetItem(partTitle(order[i]), m_parts);
        item->setData(Qt::UserRole, static_cast<int>(order[i]));
        item->setFlags(
            Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemIsDragEnabled);
        item->setCheckState(i < wanted.size() ? Qt::Checked : Qt::Unchecked);
        item->setSizeHint({0, m_style.metrics().row});
    }
    m_parts->setCurrentRow(0);
}

report::ReportWish ReportOptions::wish() const
{
    report::ReportWish wish;
    wish.title = m_title->text().trimmed().toStdString();
    wish.summary = m_summary->toPlainText().trimmed().toStdString();
    wish.parts.clear();
    for (int i = 0; i < m_parts->count(); ++i)
        if (m_parts->item(i)->checkState() == Qt::Checked)
            wish.parts.push_back(static_cast<report::Part>(m_parts->item(i)->data(Qt::UserRole).toInt()));
    wish.topRows = static_cast<std::size_t>(m_rows->value());
    wish.redaction = redaction();
    return wish;
}

void ReportOptions::setWish(const report::ReportWish& wish)
{
    m_filling = true;
    m_title->setText(QString::fromStdString(wish.title));
    m_summary->setPlainText(QString::fromStdString(wish.summary));
    fillParts(wish.parts);
    m_rows->setValue(static_cast<int>(std::min<std::size_t>(wish.topRows, mostRows)));
    setRedaction(wish.redaction);
    m_filling = false;
}

report::Redaction ReportOptions::redaction() const
{
    if (!m_redact->isChecked())
        return {};
    return {static_cast<report::Redaction::Paths>(m_paths->currentIndex()), m_functions->isChecked(),
        m_identities->isChecked(), m_metadata->isChecked()};
}

void ReportOptions::setRedaction(const report::Redaction& redaction)
{
    // Switched off, the usual choice waits for being switched on.
    const report::Redaction shown = redaction.any() ? redaction : report::Redaction::standard();
    m_redact->setChecked(redaction.any());
    m_paths->setCurrentIndex(static_cast<int>(shown.paths));
    m_functions->setChecked(shown.functions);
    m_identities->setChecked(shown.identities);
    m_metadata->setChecked(shown.metadata);
    followRedact();
}

void ReportOptions::followRedact()
{
    m_details->setEnabled(m_redact->isChecked());
}

Paper ReportOptions::paper() const
{
    return m_paper->current() == 1 ? Paper::Letter : Paper::A4;
}

void ReportOptions::setPaper(Paper paper)
{
    m_paper->setCurrent(paper == Paper::Letter ? 1 : 0);
}

void ReportOptions::moveCurrent(int by)
{
    const int from = m_parts->currentRow();
    const int to = from + by;
    if (from < 0 || to < 0 || to >= m_parts->count())
        return;
    m_filling = true;
    QListWidgetItem* item = m_parts->takeItem(from);
    m_parts->insertItem(to, item);
    m_parts->setCurrentRow(to);
    m_filling = false;
    emit changed();
}

bool ReportOptions::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_parts
        && (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool up = key->key() == Qt::Key_Up;
        if (key->modifiers() == Qt::AltModifier && (up || key->key() == Qt::Key_Down)) {
            if (event->type() == QEvent::KeyPress)
                moveCurrent(up ? -1 : 1);
            event->accept();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace tidemark
