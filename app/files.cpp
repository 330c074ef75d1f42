// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/files.hpp"

#include "model/playbook/run_config.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_source.hpp"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

QString sampleName()
{
    const QStringList names = QDir(QStringLiteral(":/samples")).entryList(QDir::Files, QDir::Name);
    return names.isEmpty() ? QString() : names.front();
}

/// States there are to look at, and the one to look at first: the peak, where the questions are.
struct Extent {
    StateIndex states = 1;
    StateIndex first = 0;
};

Extent extentOf(const Session& session)
{
    if (const auto replay = session.replay())
        return {replay->states(), replay->timeline.requested().total().maxState};
    const auto rank = session.rank();
    const auto categories = rank ? categorySource(rank->snapshot) : nullptr;
    return categories ? Extent{categories->states(), categories->requested().total().maxState} : Extent{};
}

/// What reload puts back when the file has not changed in length.
struct Place {
    StateIndex states;
    StateIndex cursor;
    XWindow window;
    XAxis axis;
    std::size_t device;
};

} // namespace

Files::Files(Session& session, ViewState& state, Loader& loader, RecentFiles& recent, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_state(state)
    , m_loader(loader)
    , m_recent(recent)
{
    connect(&loader, &Loader::loaded, this, &Files::loaded);
    connect(&loader, &Loader::failed, this, &Files::failed);
    connect(&loader, &Loader::cancelled, this, [this] {
        if (m_former) {
            m_entries = std::move(m_former->first);
            m_former.reset();
            emit listChanged();
        }
    });
    connect(&session, &Session::cardSizeChanged, this, [this] {
        if (!m_session.rank() || m_shownPath.isEmpty())
            return;
        m_recent.setCardSize(m_shownPath, m_session.cardSize());
        emit cardSizeGiven(m_session.cardSize());
    });
    connect(&state, &ViewState::deviceRequested, this, &Files::setDevice);
    // Sites are numbered anew: a selected one would mean another.
    connect(&session, &Session::siteModeChanged, this, [this] {
        const Selection& selection = m_state.selection();
        if (selection.kind == Selection::Kind::Group && selection.groupBy == GroupBy::Site)
            m_state.clearSelection();
    });
    connect(&session, &Session::diagnosisChanged, this, [this] {
        const Selection& selection = m_state.selection();
        if (selection.kind == Selection::Kind::Group
            && (selection.groupBy == GroupBy::Label || selection.groupBy == GroupBy::Role))
            m_state.clearSelection();
    });
}

void Files::open(const QStringList& paths, const ReadOptions& options)
{
    std::vector<std::filesystem::path> given;
    for (const QString& path : paths)
        given.emplace_back(QFile::encodeName(path).toStdString());
    const auto expanded = expandPaths(given);
    if (!expanded) {
        setProblem(FileProblem{paths.value(0), shownText(expanded.error().message), false, false});
        return;
    }
    if (expanded.value().empty()) {
        setProblem(FileProblem{paths.value(0), tr("There is no file in this folder."), false, false});
        return;
    }
    // Settings beside snapshots in a folder are no snapshots: the diagnosis reads them.
    const bool folder = std::any_of(given.begin(), given.end(), [](const auto& path) {
        std::error_code ignored;
        return std::filesystem::is_directory(path, ignored);
    });
    std::vector<std::filesystem::path> files = expanded.value();
    if (folder && !std::all_of(files.begin(), files.end(), isConfigFile))
        std::erase_if(files, isConfigFile);
    QStringList names;
    for (const auto& path : files)
        names << QFile::decodeName(path.string().c_str());
    openList(names, 0, options);
}

void Files::openList(const QStringList& files, std::size_t first, const ReadOptions& options)
{
    if (files.isEmpty())
        return;
    replaceEntries(files);
    m_tryNext = m_entries.size() > 1;
    m_firstTried = std::min(first, m_entries.size() - 1);
    m_options = options;
    load(m_firstTried, m_options, false);
}

void Files::replaceEntries(const QStringList& files)
{
    m_loader.cancel();
    m_former.emplace(std::move(m_entries), m_current.value_or(0));
    m_entries.clear();
    for (const QString& file : files)
        m_entries.push_back({file, {}, {}});
}

// What comes next is of the same list: the former one comes back only when that fails or is cancelled too.
void Files::dropLoad()
{
    auto former = std::exchange(m_former, std::nullopt);
    m_loader.cancel();
    m_former = std::move(former);
}

void Files::relocate(std::size_t index, const QString& path)
{
    if (index >= m_entries.size())
        return;
    m_entries[index] = {path, {}, {}};
    emit listChanged();
}

void Files::show(std::size_t index)
{
    if (index >= m_entries.size())
        return;
    dropLoad();
    m_tryNext = false;
    load(index, m_options, false);
}

void Files::reload()
{
    if (!m_current)
        return;
    // A load under way has put its own list of files here: back to the one that is shown.
    m_loader.cancel();
    ReadOptions options = m_options;
    options.partial |= m_session.rank() && m_session.rank()->snapshot->source.partial;
    m_tryNext = false;
    load(*m_current, options, true);
}

void Files::openPartially(const QString& path)
{
    dropLoad();
    ReadOptions options = m_options;
    options.partial = true;
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        if (m_entries[i].path == path) {
            m_tryNext = false;
            load(i, options, false);
            return;
        }
    replaceEntries({path});
    m_tryNext = false;
    load(0, options, false);
}

bool Files::hasSample()
{
    return !sampleName().isEmpty();
}

bool Files::isSample(const QString& path) const
{
    return m_sampleFolder && path.startsWith(m_sampleFolder->path());
}

QString Files::sampleFor(const QString& path)
{
    if (sampleName().isEmpty() || QFileInfo(path).fileName() != sampleName())
        return {};
    const QString target = unpackSample();
    return QFile::exists(target) ? target : QString();
}

/// Readers map files: the bundled bytes need a place on disk.
QString Files::unpackSample()
{
    if (!m_sampleFolder)
        m_sampleFolder = std::make_unique<QTemporaryDir>();
    QString target = m_sampleFolder->filePath(sampleName());
    if (!QFile::exists(target))
        QFile::copy(QStringLiteral(":/samples/") + sampleName(), target);
    return target;
}

void Files::openSample()
{
    const QString target = unpackSample();
    if (!QFile::exists(target)) {
        setProblem(FileProblem{target, tr("The sample cannot be written to %1.").arg(target), false, false});
        return;
    }
    open({target});
}

void Files::close()
{
    m_loader.cancel();
    m_former.reset();
    m_entries.clear();
    m_current.reset();
    m_shownPath.clear();
    setProblem(std::nullopt);
    m_state.reset(1, 0);
    m_session.setRank(nullptr);
    emit listChanged();
    emit closed();
}

std::size_t Files::add(const QString& path)
{
    m_entries.push_back({path, {}, {}});
    emit listChanged();
    return m_entries.size() - 1;
}

// Ranks of one job run on cards of one size.
std::optional<std::uint64_t> Files::cardSizeOf(const QString& path) const
{
    std::optional<std::uint64_t> card = m_recent.cardSize(path);
    for (std::size_t i = 0; !card && m_entries.size() > 1 && i < m_entries.size(); ++i) {
        const QString whole = QFileInfo(m_entries[i].path).absoluteFilePath();
        for (const RecentFiles::Entry& recent : m_recent.entries())
            if (recent.path == whole && recent.cardSize)
                card = recent.cardSize;
    }
    return card;
}

void Files::setDevice(std::size_t deviceIndex)
{
    if (deviceIndex == m_session.deviceIndex())
        return;
    // State 0 is valid for the old device and for the new one.
    m_state.reset(1, 0);
    m_session.setDevice(deviceIndex);
    const Extent extent = extentOf(m_session);
    m_state.reset(extent.states, extent.first);
}

void Files::load(std::size_t index, const ReadOptions& options, bool reload)
{
    m_wanted = index;
    setProblem(std::nullopt);
    LoadRequest request;
    request.path = m_entries[index].path;
    request.options = options;
    request.reload = reload;
    m_loader.open(request);
}

void Files::loaded(const LoadRequest& request, const std::shared_ptr<const Rank>& rank)
{
    const Place place{
        m_state.states(), m_state.cursor(), m_state.window(), m_state.axis(), m_session.deviceIndex()};
    // Open menus speak of what is shown until now.
    while (QWidget* const menu = QApplication::activePopupWidget())
        menu->close();
    m_former.reset();
    m_entries[m_wanted].problem.clear();
    m_entries[m_wanted].outOfMemory = std::any_of(rank->devices.begin(), rank->devices.end(),
        [](const auto& replay) { return !replay->device().ooms.empty(); });
    m_current = m_wanted;
    m_shownPath.clear();
    m_state.reset(1, 0);
    m_session.setRank(rank);
    if (!isSample(request.path))
        m_recent.add(request.path);
    m_session.setCardSize(cardSizeOf(request.path));
    m_shownPath = request.path;
    if (request.reload)
        m_session.setDevice(place.device);
    const Extent extent = extentOf(m_session);
    const bool same = request.reload && extent.states == place.states;
    // For a category timeline the timeline has already chosen the time axis and its window.
    if (m_session.replay() || m_state.states() != extent.states)
        m_state.reset(extent.states, same ? place.cursor : extent.first);
    if (same) {
        m_state.setAxis(place.axis);
        m_state.setWindow(place.window);
    }
    emit listChanged();
}

void Files::failed(const LoadRequest& request, const Error& error)
{
    const QString name = shownText(QFileInfo(request.path).fileName().toStdString());
    QString sentence = shownText(error.message);
    if (!sentence.contains(name))
        sentence = QStringLiteral("%1: %2").arg(name, sentence);
    m_entries[m_wanted].problem = sentence;
    if (const std::size_t next = (m_wanted + 1) % m_entries.size(); m_tryNext && next != m_firstTried) {
        load(next, request.options, false);
        emit listChanged();
        return;
    }
    FileProblem problem{request.path, sentence, false, false};
    problem.canOpenPartially = error.partial && !request.options.partial;
    problem.canOpenRange = error.code == ErrorCode::TooLarge;
    if (m_tryNext)
        problem.sentence = tr("None of these %1 files can be read. The last one: %2")
                               .arg(countText(static_cast<std::uint64_t>(m_entries.size())), sentence);
    if (m_former && m_session.rank()) {
        m_entries = std::move(m_former->first);
        m_former.reset();
    } else if (m_former) {
        m_entries.clear();
        m_former.reset();
    }
    setProblem(problem);
    emit listChanged();
}

void Files::dismissProblem()
{
    setProblem(std::nullopt);
}

void Files::setProblem(std::optional<FileProblem> problem)
{
    if (!problem && !m_problem)
        return;
    m_problem = std::move(problem);
    emit problemChanged();
}

} // namespace tidemark
