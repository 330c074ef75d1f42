// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/label_rules_window.hpp"

#include "widgets/style/text.hpp"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

namespace tidemark {

namespace {

enum Column { Label, Allocations, Bytes, Overlaps, Remark, columns };

} // namespace

LabelRulesWindow::LabelRulesWindow(
    Session& session, Diagnoser& diagnoser, Settings& settings, Style& style, QWidget* parent)
    : QDialog(parent)
    , m_session(session)
    , m_diagnoser(diagnoser)
    , m_settings(settings)
    , m_style(style)
    , m_file(new QLabel(this))
    , m_problem(new QLabel(this))
    , m_table(new QTableWidget(0, columns, this))
    , m_sum(new QLabel(this))
    , m_reload(new QPushButton(tr("Read again"), this))
    , m_forget(new QPushButton(tr("Do not use"), this))
{
    setWindowTitle(tr("Label rules – Tidemark"));
    auto* choose = new QPushButton(tr("Choose…"), this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_file, 1);
    row->addWidget(choose);
    row->addWidget(m_reload);
    row->addWidget(m_forget);
    m_file->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_file->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_problem->setWordWrap(true);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_table->setHorizontalHeaderLabels(
        {tr("Rule, in order"), tr("Allocations"), tr("Bytes through"), tr("Also fits"), tr("Remark")});
    m_table->horizontalHeaderItem(Overlaps)->setToolTip(
        tr("Allocations that this rule would take if an earlier one did not"));
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->verticalHeader()->hide();
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setWordWrap(false);
    m_sum->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close | QDialogButtonBox::Help, this);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row);
    layout->addWidget(m_problem);
    layout->addWidget(m_table, 1);
    layout->addWidget(m_sum);
    layout->addWidget(buttons);
    resize(style.metrics().px(720), style.metrics().px(400));

    connect(choose, &QPushButton::clicked, this, &LabelRulesWindow::choose);
    connect(m_reload, &QPushButton::clicked, this, [this] { use(m_diagnoser.rulesFile()); });
    connect(m_forget, &QPushButton::clicked, this, [this] { use({}); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(buttons, &QDialogButtonBox::helpRequested, this,
        [this] { emit helpRequested(QStringLiteral("labels")); });
    for (const auto signal : {&Session::diagnosisChanged, &Session::deviceChanged})
        connect(&session, signal, this, &LabelRulesWindow::fill);
    connect(&diagnoser, &Diagnoser::finished, this, &LabelRulesWindow::fill);
    connect(&style, &Style::changed, this, &LabelRulesWindow::fill);
}

void LabelRulesWindow::open()
{
    fill();
    show();
    raise();
    activateWindow();
}

void LabelRulesWindow::choose()
{
    const QString folder = QFileInfo(m_diagnoser.rulesFile()).path();
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Label rules"), folder, tr("Rules (*.json *.yaml *.yml);;All files (*)"));
    if (!file.isEmpty())
        use(file);
}

void LabelRulesWindow::use(const QString& file)
{
    m_settings.set(setting::labelRules, file);
    m_diagnoser.setRulesFile(file);
    fill();
}

void LabelRulesWindow::fill()
{
    if (!isVisible() && m_table->rowCount() == 0 && m_diagnoser.rulesFile().isEmpty())
        return;
    const QString file = m_diagnoser.rulesFile();
    m_file->setText(file.isEmpty()
            ? tr(
                "No rules of your own: the built-in ones decide. A JSON or YAML file puts yours before them.")
            : shownText(file.toStdString()));
    m_file->setToolTip(m_file->text());
    m_reload->setEnabled(!file.isEmpty());
    m_forget->setEnabled(!file.isEmpty());
    m_problem->setText(m_diagnoser.rulesProblem());
    m_problem->setVisible(!m_problem->text().isEmpty());
    QPalette red = m_problem->palette();
    red.setColor(QPalette::WindowText, m_style.color(Tone::Crit));
    m_problem->setPalette(red);
    m_table->setRowCount(0);
    m_sum->clear();
    const auto labels = m_session.labels();
    if (file.isEmpty() || !m_problem->text().isEmpty())
        return;
    if (!labels)
        m_sum->setText(m_session.rank() ? tr("Looking at the open trace…")
                                        : tr("Open a snapshot to see what the rules do in it."));
    else
        fillRows(*labels);
}

void LabelRulesWindow::fillRows(const Labels& labels)
{
    m_table->setRowCount(static_cast<int>(labels.ownUse.size()));
    std::size_t never = 0;
    std::size_t overlapping = 0;
    for (std::size_t i = 0; i < labels.ownUse.size(); ++i) {
        const LabelRule& rule = labels.rules->rules()[i];
        const RuleUse& use = labels.ownUse[i];
        const bool neverFits = use.allocations == 0 && use.overlapping == 0;
        never += neverFits ? 1 : 0;
        overlapping += use.overlapping > 0 ? 1 : 0;
        const QString remark = neverFits ? tr("never matches")
            : use.allocations == 0       ? tr("earlier rules take all of it")
            : use.overlapping > 0        ? tr("overlaps earlier rules")
                                         : QString();
        const QStringList cells{shownText(rule.label), countText(use.allocations), bytesText(use.bytes),
            use.overlapping > 0 ? countText(use.overlapping) : QString(), remark};
        for (int column = 0; column < columns; ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            if (column == Allocations || column == Bytes || column == Overlaps)
                item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            if (column == Bytes)
                item->setToolTip(exactBytesText(use.bytes));
            if (column == Label && rule.colour)
                item->setIcon(QIcon(m_style.swatch(*rule.colour, false, devicePixelRatioF())));
            m_table->setItem(static_cast<int>(i), column, item);
        }
    }
    m_table->resizeColumnsToContents();
    QStringList sums{tr("%1 rules").arg(labels.ownUse.size())};
    if (never > 0)
        sums << tr("%1 never match").arg(never);
    if (overlapping > 0)
        sums << tr("%1 overlap earlier ones").arg(overlapping);
    sums << tr("%1 of %2 allocations with a stack fit none of them")
                .arg(countText(labels.withoutOwn), countText(labels.withStack));
    m_sum->setText(sums.join(QStringLiteral(" · ")));
}

QString LabelRulesWindow::fileText() const
{
    return m_file->text();
}

QString LabelRulesWindow::sumText() const
{
    return m_sum->text();
}

} // namespace tidemark
