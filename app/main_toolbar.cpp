// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_toolbar.hpp"

#include "app/short_names.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFileInfo>
#include <QLabel>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QToolButton>

namespace tidemark {

namespace {

/// What the list of files says of one beside its name.
struct FileMark {
    const char* icon = "";
    Tone tone = Tone::Text;
    QString words;
};

FileMark markOf(const Files::Entry& entry)
{
    if (!entry.problem.isEmpty())
        return {"sev-critical", Tone::Crit, entry.problem};
    if (entry.outOfMemory)
        return *entry.outOfMemory
            ? FileMark{"oom", Tone::Crit, MainToolbar::tr("It records an out-of-memory event.")}
            : FileMark{};
    if (QFileInfo(entry.path).fileName().contains(QStringLiteral("oom"), Qt::CaseInsensitive))
        return {"oom", Tone::Text2,
            MainToolbar::tr("By its name it ran out of memory; it has not been read yet.")};
    return {};
}

} // namespace

MainToolbar::MainToolbar(Session& session, ViewState& state, Files& files, Search& search,
    const Commands& commands, const Style& style, QWidget* parent)
    : QToolBar(tr("Toolbar"), parent)
    , m_session(session)
    , m_state(state)
    , m_files(files)
    , m_style(style)
    , m_file(new QComboBox(this))
    , m_device(new QComboBox(this))
    , m_colourLabel(new QLabel(tr("Colour"), this))
    , m_colour(new QComboBox(this))
    , m_axis(new Segmented(style, {tr("Events"), tr("Time"), tr("Steps")}, this))
    , m_filter(new SearchField(search, style, this))
{
    setObjectName(QStringLiteral("toolbar"));
    setMovable(false);
    setFloatable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    m_file->setAccessibleName(tr("File"));
    m_file->setToolTip(tr("File on screen"));
    m_file->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_device->setAccessibleName(tr("Device"));
    m_device->setToolTip(tr("Device on screen"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_colour->setAccessibleName(tr("Colour by"));
    m_colour->setToolTip(tr("What the colours mean (C)"));
    m_colour->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_axis->setAccessibleName(tr("X axis"));
    m_axis->setPartToolTip(0, tr("Equal width for every event (X)"));
    for (QComboBox* combo : {m_file, m_device, m_colour})
        combo->setFocusPolicy(Qt::TabFocus);

    for (const char* id : {"file.open", "file.reload"})
        addCommand(commands, id);
    addSeparator();
    for (const char* id : {"go.back", "go.forward"})
        addCommand(commands, id);
    addSeparator();
    m_fileAction = addWidget(m_file);
    addWidget(m_device);
    m_colourLabelAction = addWidget(m_colourLabel);
    m_colourAction = addWidget(m_colour);
    addWidget(m_axis);
    addSeparator();
    for (const char* id : {"go.previousPeak", "go.peak", "go.nextPeak", "go.oom"})
        addCommand(commands, id);
    addSeparator();
    for (const char* id : {"tools.pointer", "tools.ruler", "tools.note"})
        addCommand(commands, id);
    addSeparator();
    for (const char* id : {"view.zoomRange", "view.fit", "window.compare", "window.report"})
        addCommand(commands, id);
    auto* spacer = new QWidget(this);
    spacer->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(spacer);
    addWidget(m_filter);

    connect(m_device, &QComboBox::activated, this,
        [this](int row) { m_files.setDevice(static_cast<std::size_t>(row)); });
    connect(m_file, &QComboBox::activated, this, [this](int row) {
        m_files.show(static_cast<std::size_t>(row));
        fillFiles();
    });
    connect(m_colour, &QComboBox::activated, this, [this](int row) {
        const auto by = static_cast<ColourBy>(m_colour->itemData(row).toInt());
        m_session.prepare(*this, {{}, {by}}, [this, by] { m_state.setColourBy(by); });
    });
    connect(
        m_axis, &Segmented::chosen, this, [this](int part) { emit axisChosen(static_cast<XAxis>(part)); });
    connect(&files, &Files::listChanged, this, &MainToolbar::fillFiles);
    connect(&session, &Session::opened, this, &MainToolbar::fillDevices);
    connect(&session, &Session::deviceChanged, this, [this] {
        m_device->setCurrentIndex(m_session.replay() ? static_cast<int>(m_session.deviceIndex()) : 0);
        fillColours();
        followAxis();
    });
    connect(&state, &ViewState::colourByChanged, this, &MainToolbar::fillColours);
    connect(&m_session, &Session::diagnosisChanged, this, &MainToolbar::fillColours);
    connect(&m_session, &Session::diagnosisChanged, this, &MainToolbar::followAxis);
    connect(&state, &ViewState::axisChanged, this, &MainToolbar::followAxis);
    connect(&style, &Style::changed, this, &MainToolbar::restyle);
    fillFiles();
    fillDevices();
    fillColours();
    followAxis();
    restyle();
}

void MainToolbar::addCommand(const Commands& commands, const char* id)
{
    QAction* action = commands[id];
    addAction(action);
    if (auto* button = qobject_cast<QToolButton*>(widgetForAction(action))) {
        button->setFocusPolicy(Qt::TabFocus);
        button->setAccessibleName(action->text().remove(QLatin1Char('&')));
    }
}

void MainToolbar::restyle()
{
    const Metrics& m = m_style.metrics();
    setIconSize(QSize(m.icon, m.icon));
    setMinimumHeight(m.toolbar);
    setContentsMargins(m.unit, 0, m.unit, 0);
    // A toolbar would give it the colour of buttons.
    m_colourLabel->setForegroundRole(QPalette::WindowText);
    m_colourLabel->setFont(m_style.font(FontRole::Small));
    m_colourLabel->setContentsMargins(m.unit, 0, 0, 0);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_colourLabel->setPalette(quiet);
    for (QAction* action : actions())
        if (auto* button = qobject_cast<QToolButton*>(widgetForAction(action)))
            button->setFixedSize(m.toolButton, m.toolButton);
}

void MainToolbar::setNarrow(bool narrow)
{
    m_narrow = narrow;
    m_colourLabelAction->setVisible(!narrow);
    m_colourAction->setVisible(!narrow);
    m_axis->setPartShown(2, !narrow);
    m_filter->setNarrow(narrow);
    m_filter->setFixedWidth(m_filter->sizeHint().width());
}

void MainToolbar::fillFiles()
{
    const QSignalBlocker block(m_file);
    m_file->clear();
    QStringList paths;
    for (const Files::Entry& entry : m_files.entries())
        paths << entry.path;
    const QStringList names = shortNames(paths);
    for (const Files::Entry& entry : m_files.entries()) {
        const FileMark mark = markOf(entry);
        const QString icon = QString::fromLatin1(mark.icon);
        m_file->addItem(icon.isEmpty() ? QIcon() : m_style.icon(icon, mark.tone), names[m_file->count()]);
        m_file->setItemData(m_file->count() - 1,
            mark.words.isEmpty() ? entry.path : entry.path + QLatin1Char('\n') + mark.words, Qt::ToolTipRole);
    }
    const auto current = m_files.current();
    m_file->setCurrentIndex(current ? static_cast<int>(*current) : -1);
    m_file->setToolTip(current ? m_files.entries()[*current].path : tr("File on screen"));
    m_file->setMaximumWidth(m_style.metrics().px(220));
    // The open list shows the names whole.
    m_file->view()->setTextElideMode(Qt::ElideMiddle);
    m_file->view()->setMinimumWidth(
        std::min(m_style.metrics().px(600), m_file->view()->sizeHintForColumn(0) + m_style.metrics().px(30)));
    m_fileAction->setVisible(m_files.entries().size() > 1);
}

void MainToolbar::fillDevices()
{
    const QSignalBlocker block(m_device);
    m_device->clear();
    const auto rank = m_session.rank();
    if (rank)
        for (const auto& replay : rank->devices) {
            const DeviceTrace& device = replay->device();
            m_device->addItem(m_style.icon(QStringLiteral("gpu"), Tone::Text2),
                QString::fromStdString(deviceName(device.ordinal)));
            const auto events = static_cast<std::uint64_t>(device.events.count());
            const auto segments = static_cast<std::uint64_t>(device.segments.size());
            m_device->setItemData(m_device->count() - 1,
                tr("%1 events · %2 segments at the end").arg(countText(events), countText(segments)),
                Qt::ToolTipRole);
        }
    if (m_device->count() == 0)
        m_device->addItem(
            m_style.icon(QStringLiteral("gpu"), Tone::Text2), rank ? tr("No device") : tr("Device"));
    else
        m_device->setCurrentIndex(static_cast<int>(m_session.deviceIndex()));
    m_device->setEnabled(rank && !rank->devices.empty());
}

std::vector<ColourBy> MainToolbar::colourings(const Replay* replay, bool labelled)
{
    std::vector<ColourBy> out{ColourBy::Site};
    if (labelled)
        for (const ColourBy by : {ColourBy::Label, ColourBy::Role})
            out.push_back(by);
    for (const ColourBy by :
        {ColourBy::Size, ColourBy::Age, ColourBy::Stream, ColourBy::Pool, ColourBy::SegmentKind})
        out.push_back(by);
    if (replay && !replay->device().events.category.empty())
        out.push_back(ColourBy::Category);
    return out;
}

QString MainToolbar::colourName(ColourBy by)
{
    switch (by) {
    case ColourBy::Site:
        return tr("Call site");
    case ColourBy::Size:
        return tr("Size");
    case ColourBy::Age:
        return tr("Age");
    case ColourBy::Stream:
        return tr("Stream");
    case ColourBy::Pool:
        return tr("Private pool");
    case ColourBy::Category:
        return tr("Category");
    case ColourBy::SegmentKind:
        return tr("Segment kind");
    case ColourBy::Label:
        return tr("Module");
    case ColourBy::Role:
        return tr("Role");
    }
    return {};
}

void MainToolbar::fillColours()
{
    const QSignalBlocker block(m_colour);
    m_colour->clear();
    const auto replay = m_session.replay();
    for (const ColourBy by : colourings(replay.get(), m_session.labels() != nullptr)) {
        m_colour->addItem(colourName(by), static_cast<int>(by));
        if (by == m_state.colourBy())
            m_colour->setCurrentIndex(m_colour->count() - 1);
    }
    m_colour->setEnabled(replay != nullptr);
}

bool MainToolbar::hasTimes(const Replay* replay)
{
    return replay && replay->originUs().has_value();
}

void MainToolbar::followAxis()
{
    const auto rank = m_session.rank();
    const auto replay = m_session.replay();
    const bool categories = rank && !replay && rank->snapshot->categories;
    const bool times = categories || hasTimes(replay.get());
    m_axis->setEnabled(rank != nullptr);
    m_axis->setPartEnabled(1, times);
    m_axis->setPartToolTip(
        1, times ? tr("Seconds since the first event (X)") : tr("The events of this file carry no times"));
    const bool steps = m_session.stepsAxis() != nullptr;
    m_axis->setPartEnabled(2, steps);
    m_axis->setPartToolTip(2,
        steps                       ? tr("Equal width for every step (Shift+X)")
            : m_session.diagnosis() ? tr("No steps are known in this trace")
                                    : tr("Steps are not known yet"));
    m_axis->setCurrent(static_cast<int>(m_state.axis()));
}

} // namespace tidemark
