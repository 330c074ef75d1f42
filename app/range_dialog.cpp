// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/range_dialog.hpp"

#include "model/core/limits.hpp"
#include "widgets/style/text.hpp"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileInfo>
#include <QFormLayout>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

/// Measured on recordings of training runs: bytes of an event in a plain pickle, and of memory once it is
/// open.
constexpr std::uint64_t bytesInFile = 170;
constexpr std::uint64_t bytesOpen = 110;
constexpr std::uint64_t bytesAnyway = 60U << 20;
constexpr double firstGuess = 1'000'000;

/// Packed files do not tell by their size how many events they hold.
bool isPacked(const QByteArray& head)
{
    return head.startsWith("\x1f\x8b") || head.startsWith("\x28\xb5\x2f\xfd") || head.startsWith("PK");
}

} // namespace

RangeDialog::RangeDialog(const Style& style, QWidget* parent)
    : QDialog(parent)
    , m_style(style)
    , m_name(new QLabel(this))
    , m_size(new QLabel(this))
    , m_all(new QRadioButton(tr("&All events"), this))
    , m_first(new QRadioButton(tr("The &first"), this))
    , m_last(new QRadioButton(tr("The &last"), this))
    , m_between(new QRadioButton(tr("F&rom event"), this))
    , m_firstCount(new QDoubleSpinBox(this))
    , m_lastCount(new QDoubleSpinBox(this))
    , m_from(new QDoubleSpinBox(this))
    , m_to(new QDoubleSpinBox(this))
    , m_need(new QLabel(this))
    , m_buttons(new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this))
{
    setWindowTitle(tr("Open a part – Tidemark"));
    m_name->setTextFormat(Qt::PlainText);
    m_name->setFont(style.font(FontRole::Strong));
    m_name->setWordWrap(true);
    auto* other = new QPushButton(tr("&Another file…"), this);
    other->setAutoDefault(false);
    for (QDoubleSpinBox* each : {m_firstCount, m_lastCount, m_from, m_to}) {
        each->setDecimals(0);
        each->setRange(each == m_from || each == m_to ? 0 : 1, static_cast<double>(limits::maxEvents));
        each->setGroupSeparatorShown(true);
        each->setMinimumWidth(style.metrics().px(130));
    }
    m_firstCount->setAccessibleName(tr("How many of the first events"));
    m_lastCount->setAccessibleName(tr("How many of the last events"));
    m_from->setAccessibleName(tr("First event"));
    m_to->setAccessibleName(tr("Last event"));
    m_need->setWordWrap(true);
    auto* remark = new QLabel(tr("Live and reserved memory of the events opened are those of the whole file: "
                                 "what was allocated before "
                                 "them is counted, with its stacks. Everything else is not loaded."),
        this);
    remark->setWordWrap(true);
    remark->setMinimumWidth(style.metrics().px(380));

    auto* grid = new QGridLayout;
    grid->addWidget(m_all, 0, 0);
    grid->addWidget(m_first, 1, 0);
    grid->addWidget(m_firstCount, 1, 1);
    grid->addWidget(new QLabel(tr("events"), this), 1, 2);
    grid->addWidget(m_last, 2, 0);
    grid->addWidget(m_lastCount, 2, 1);
    grid->addWidget(new QLabel(tr("events"), this), 2, 2);
    grid->addWidget(m_between, 3, 0);
    grid->addWidget(m_from, 3, 1);
    grid->addWidget(new QLabel(tr("to"), this), 3, 2);
    grid->addWidget(m_to, 3, 3);
    grid->setColumnStretch(4, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_name);
    layout->addWidget(m_size);
    layout->addWidget(other, 0, Qt::AlignLeft);
    layout->addLayout(grid);
    layout->addWidget(m_need);
    layout->addWidget(remark);
    layout->addWidget(m_buttons);

    const auto choosing = [this](QRadioButton* choice, QDoubleSpinBox* number) {
        connect(number, &QDoubleSpinBox::valueChanged, this, [this, choice] {
            choice->setChecked(true);
            update();
        });
    };
    choosing(m_first, m_firstCount);
    choosing(m_last, m_lastCount);
    choosing(m_between, m_from);
    choosing(m_between, m_to);
    for (QRadioButton* each : {m_all, m_first, m_last, m_between})
        connect(each, &QRadioButton::toggled, this, &RangeDialog::update);
    connect(other, &QPushButton::clicked, this, &RangeDialog::otherFileRequested);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_buttons, &QDialogButtonBox::accepted, this, [this] {
        accept();
        emit chosen(m_file.path, wish());
    });
}

QPushButton* RangeDialog::openButton() const
{
    return m_buttons->button(QDialogButtonBox::Open);
}

RangeDialog::File RangeDialog::fileOf(const QString& path)
{
    File file;
    file.path = path;
    file.bytes = static_cast<std::uint64_t>(QFileInfo(path).size());
    QFile head(path);
    if (head.open(QIODevice::ReadOnly) && !isPacked(head.read(4)))
        file.events = file.bytes / bytesInFile;
    return file;
}

void RangeDialog::ask(const File& file, const ReadOptions& current)
{
    m_file = file;
    m_options = current;
    m_name->setText(shownText(QFileInfo(file.path).fileName().toStdString()));
    const QString events = !file.events ? tr("how many events is not known before it is read")
        : file.counted                  ? tr("%1 events").arg(countText(*file.events))
                       : tr("about %1 events by its size").arg(countText(*file.events / 1000 * 1000));
    m_size->setText(QStringLiteral("%1, %2").arg(bytesText(static_cast<std::int64_t>(file.bytes)), events));
    const double guess
        = file.events ? std::max(1.0, std::min(firstGuess, static_cast<double>(*file.events))) : firstGuess;
    {
        const QSignalBlocker blockers[]{QSignalBlocker(m_firstCount), QSignalBlocker(m_lastCount),
            QSignalBlocker(m_from), QSignalBlocker(m_to)};
        m_firstCount->setValue(guess);
        m_lastCount->setValue(current.lastEvents ? static_cast<double>(*current.lastEvents) : guess);
        m_from->setValue(current.events ? static_cast<double>(current.events->first) : 0);
        m_to->setValue(current.events ? static_cast<double>(current.events->second) : guess - 1);
    }
    (current.events ? m_between : m_last)->setChecked(true);
    update();
    show();
    raise();
    activateWindow();
    (current.events ? m_from : m_lastCount)->setFocus();
    (current.events ? m_from : m_lastCount)->selectAll();
}

ReadOptions RangeDialog::wish() const
{
    const auto number = [](const QDoubleSpinBox* box) { return static_cast<std::uint64_t>(box->value()); };
    ReadOptions options;
    options.partial = m_options.partial;
    if (m_first->isChecked())
        options.events = std::pair<std::uint64_t, std::uint64_t>{0, number(m_firstCount) - 1};
    else if (m_last->isChecked())
        options.lastEvents = number(m_lastCount);
    else if (m_between->isChecked())
        options.events = std::pair<std::uint64_t, std::uint64_t>{number(m_from), number(m_to)};
    return options;
}

std::optional<std::uint64_t> RangeDialog::wishedEvents() const
{
    const ReadOptions options = wish();
    std::optional<std::uint64_t> count = m_file.events;
    if (options.lastEvents)
        count = std::min(*options.lastEvents, count.value_or(*options.lastEvents));
    if (options.events && options.events->second >= options.events->first) {
        const std::uint64_t wished = options.events->second - options.events->first + 1;
        count = std::min(wished, count.value_or(wished));
    }
    return count;
}

void RangeDialog::update()
{
    const bool backwards = m_between->isChecked() && m_to->value() < m_from->value();
    const bool beyond = m_between->isChecked() && m_file.counted && m_file.events
        && m_from->value() >= static_cast<double>(*m_file.events);
    openButton()->setEnabled(!backwards && !beyond);
    if (backwards)
        m_need->setText(tr("The last event lies before the first."));
    else if (beyond)
        m_need->setText(tr("The file has %1 events.").arg(countText(*m_file.events)));
    else if (const auto events = wishedEvents())
        m_need->setText(tr("Takes about %1 of memory.")
                            .arg(bytesText(static_cast<std::int64_t>(*events * bytesOpen + bytesAnyway))));
    else
        m_need->setText(tr("How much memory it takes is not known before it is read."));
}

} // namespace tidemark
