// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/settings_panel.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int lineRole = Qt::UserRole;

void colour(QLabel* label, const QFont& font, const QColor& ink)
{
    label->setFont(font);
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, ink);
    label->setPalette(palette);
}

QLabel* wrapping(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

/// "fits", "runs out", "not here".
QString outcome(const SettingTrial& trial)
{
    if (!trial.barred.empty())
        return SettingsPanel::tr("not here");
    if (!trial.fits)
        return SettingsPanel::tr("runs out");
    return SettingsPanel::tr("fits");
}

} // namespace

SettingsPanel::SettingsPanel(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_title(new QLabel(tr("Allocator settings"), this))
    , m_variable(new QLabel(this))
    , m_line(new QLineEdit(this))
    , m_problem(wrapping(this))
    , m_rank(new QPushButton(this))
    , m_asRecorded(new QPushButton(tr("As recorded"), this))
    , m_note(wrapping(this))
    , m_model(new QStandardItemModel(this))
    , m_table(new CopyTable([this] { return copyText(); }, this))
{
    m_line->setPlaceholderText(tr("PyTorch's defaults"));
    m_line->setAccessibleName(tr("Allocator settings to try"));
    m_line->setToolTip(tr("Settings to try instead of the recorded ones, such as "
                          "expandable_segments:True,max_split_size_mb:256. Enter replays the recording."));
    m_rank->setToolTip(tr("Replays the recording under one changed setting after the other"));
    m_table->setModel(m_model);
    m_table->setAccessibleName(tr("Single settings, best first"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_title);
    column->addWidget(m_variable);
    column->addWidget(m_line);
    column->addWidget(m_problem);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_rank);
    buttons->addWidget(m_asRecorded);
    buttons->addStretch(1);
    column->addLayout(buttons);
    column->addWidget(m_note);
    column->addWidget(m_table);
    connect(m_line, &QLineEdit::editingFinished, this, &SettingsPanel::accept);
    connect(m_asRecorded, &QPushButton::clicked, this,
        [this] { setLine(m_recorded ? QString::fromStdString(m_recorded->conf()) : QString()); });
    connect(m_rank, &QPushButton::clicked, this, [this] {
        if (m_ranking)
            emit rankingStopped();
        else
            emit rankingWanted();
    });
    const auto take = [this](const QModelIndex& at) {
        const QVariant line = at.siblingAtColumn(0).data(lineRole);
        if (line.isValid())
            setLine(line.toString());
    };
    connect(m_table, &QTableView::clicked, this, take);
    connect(m_table, &QTableView::activated, this, take);
    setRanking(false);
    setRecorded({}, {});
    restyle();
}

void SettingsPanel::restyle()
{
    const QColor soft = m_style.color(Tone::Text2);
    colour(m_title, m_style.font(FontRole::Strong), m_style.color(Tone::Text));
    colour(m_variable, m_style.font(FontRole::Fixed), soft);
    colour(m_problem, m_style.font(FontRole::Small), m_style.color(Tone::Crit));
    colour(m_note, m_style.font(FontRole::Small), soft);
    m_line->setFont(m_style.font(FontRole::Fixed));
    m_table->setFont(m_style.font(FontRole::Small));
    m_table->verticalHeader()->setDefaultSectionSize(
        QFontMetrics(m_style.font(FontRole::Base)).height() + m_style.metrics().px(4));
    const int rows = m_model->rowCount();
    m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height()
        + rows * m_table->verticalHeader()->defaultSectionSize() + 2);
}

void SettingsPanel::setRecorded(const std::optional<AllocatorSettings>& settings, const QString& variable)
{
    m_variable->setText(variable.isEmpty() ? QString() : variable + QStringLiteral(" ="));
    m_recorded = settings;
    m_conf.reset();
    m_line->setText(settings ? QString::fromStdString(settings->conf()) : QString());
    m_line->setCursorPosition(0);
    m_problem->hide();
    m_asRecorded->setEnabled(false);
    clearTrials();
    setEnabled(settings.has_value());
}

QString SettingsPanel::line() const
{
    return m_line->text();
}

QString SettingsPanel::problem() const
{
    return m_problem->isHidden() ? QString() : m_problem->text();
}

std::optional<std::string> SettingsPanel::conf() const
{
    return m_conf;
}

void SettingsPanel::setLine(const QString& line)
{
    m_line->setText(line);
    m_line->setCursorPosition(0);
    accept();
}

void SettingsPanel::accept()
{
    if (!m_recorded)
        return;
    QString text = m_line->text().trimmed();
    // Whole lines are pasted, too.
    for (const char* before : {"export ", "PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_ALLOC_CONF=",
             "PYTORCH_HIP_ALLOC_CONF=", "PYTORCH_NPU_ALLOC_CONF="})
        if (text.startsWith(QLatin1String(before)))
            text = text.mid(static_cast<int>(qstrlen(before))).trimmed();
    while (text.size() > 1 && (text.front() == u'"' || text.front() == u'\'') && text.back() == text.front())
        text = text.mid(1, text.size() - 2);
    const auto wanted = m_recorded->withConf(text.toStdString());
    m_problem->setVisible(!wanted);
    std::optional<std::string> conf;
    if (!wanted)
        m_problem->setText(shownText(wanted.error().message));
    else if (!(*wanted == *m_recorded))
        conf = text.toStdString();
    m_asRecorded->setEnabled(!wanted || conf);
    if (conf == m_conf)
        return;
    m_conf = std::move(conf);
    emit changed();
}

void SettingsPanel::setRanking(bool ranking)
{
    m_ranking = ranking;
    m_rank->setText(ranking ? tr("Stop") : tr("Which setting is best?"));
    if (ranking) {
        clearTrials();
        m_note->setText(tr("Replaying the recording under one changed setting after the other…"));
        m_note->show();
    }
}

void SettingsPanel::clearTrials()
{
    m_model->clear();
    m_table->hide();
    m_note->hide();
}

void SettingsPanel::setTrialsRefused(const QString& why)
{
    setRanking(false);
    clearTrials();
    m_note->setText(why);
    m_note->setVisible(!why.isEmpty());
}

void SettingsPanel::setTrials(const std::vector<SettingTrial>& trials)
{
    setRanking(false);
    clearTrials();
    m_model->setHorizontalHeaderLabels({tr("Best first"), tr("Needs"), tr("Outcome")});
    for (const SettingTrial& trial : trials) {
        const bool barred = !trial.barred.empty();
        auto* name = new QStandardItem(
            trial.unchanged() ? tr("as recorded") : QString::fromStdString(trial.change.text));
        name->setData(QString::fromStdString(trial.change.settings.conf()), lineRole);
        auto* peak = new QStandardItem(barred || !trial.fits ? QString() : bytesText(trial.needs));
        auto* end = new QStandardItem(outcome(trial));
        QString tip = barred ? shownText(trial.barred)
                             : tr("%1 flushes of the cache, the driver is asked %2 times")
                                   .arg(countText(trial.counts.flushes), countText(trial.growths()));
        if (!barred)
            tip += QLatin1Char('\n') + tr("peak reserved %1").arg(bytesText(trial.peakReserved));
        if (trial.headroom)
            tip += QLatin1Char('\n') + tr("%1 to spare").arg(bytesText(*trial.headroom));
        tip = name->text() + QLatin1Char('\n') + tip;
        for (QStandardItem* item : {name, peak, end}) {
            item->setToolTip(tip);
            item->setEnabled(!barred);
        }
        for (QStandardItem* item : {peak, end})
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        m_model->appendRow({name, peak, end});
    }
    QHeaderView* const header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(0, QHeaderView::Stretch);
    m_table->show();
    restyle();
}

QString SettingsPanel::copyText() const
{
    QStringList lines;
    for (int row = -1; row < m_model->rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < m_model->columnCount(); ++column)
            cells << (row < 0 ? m_model->headerData(column, Qt::Horizontal).toString()
                              : m_model->item(row, column)->text());
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
