// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session.hpp"

#include <QFuture>
#include <QPointer>
#include <QThreadPool>
#include <QtConcurrent>

namespace tidemark {

namespace {

/// Fewer allocations than this cost less than a thread's answer.
constexpr std::size_t atOnce = 100'000;

} // namespace

Session::Session(QObject* parent)
    : QObject(parent)
    , m_pool(std::make_unique<QThreadPool>())
{
    m_pool->setMaxThreadCount(1);
}

Session::~Session()
{
    m_pool->clear();
    m_pool->waitForDone();
}

void Session::setRank(std::shared_ptr<const Rank> rank)
{
    m_rank = std::move(rank);
    m_device = m_rank ? m_rank->mainDevice() : 0;
    m_groupings.clear();
    m_colourings.clear();
    m_cardSize.reset();
    m_diagnosis.reset();
    m_prediction.reset();
    m_sharedAxis.reset();
    m_sharedColouring.reset();
    m_sharedHeight = 0;
    takeOffer();
    emit opened();
    emit deviceChanged();
}

void Session::setDevice(std::size_t deviceIndex)
{
    if (!m_rank || deviceIndex >= m_rank->devices.size() || deviceIndex == m_device)
        return;
    m_device = deviceIndex;
    m_prediction.reset();
    m_sharedAxis.reset();
    m_sharedColouring.reset();
    m_sharedHeight = 0;
    emit deviceChanged();
    emit predictionChanged();
}

std::shared_ptr<const Replay> Session::replay() const
{
    if (!m_rank || m_device >= m_rank->devices.size())
        return nullptr;
    return m_rank->devices[m_device];
}

const std::vector<Mark>& Session::marks() const
{
    static const std::vector<Mark> none;
    return m_rank && m_device < m_rank->marks.size() ? m_rank->marks[m_device] : none;
}

void Session::setSiteMode(SiteMode mode)
{
    if (mode == m_siteMode)
        return;
    m_siteMode = mode;
    m_groupings.clear();
    m_colourings.clear();
    emit siteModeChanged();
}

std::shared_ptr<const Sites> Session::sites() const
{
    if (!m_rank)
        return nullptr;
    return m_siteMode == SiteMode::User ? m_rank->sites : m_rank->rawSites;
}

std::shared_ptr<const Grouping> Session::grouping(GroupBy by) const
{
    const auto current = replay();
    if (!current)
        return nullptr;
    auto& slot = m_groupings[{m_device, static_cast<int>(by)}];
    if (!slot)
        slot = Grouping::build(*current, *sites(), by, labels().get());
    return slot;
}

std::shared_ptr<const Colouring> Session::colouring(ColourBy by) const
{
    const auto current = replay();
    if (!current)
        return nullptr;
    if (m_sharedColouring)
        return m_sharedColouring;
    auto& slot = m_colourings[{m_device, static_cast<int>(by)}];
    if (!slot)
        slot = Colouring::build(*current, *sites(), by, labels().get());
    return slot;
}

void Session::setDiagnosis(std::shared_ptr<const Diagnosis> diagnosis)
{
    if (diagnosis && diagnosis->rank != m_rank)
        return;
    m_diagnosis = std::move(diagnosis);
    m_prediction.reset();
    // What was made of the former labels, or without any.
    std::erase_if(m_groupings, [](const auto& each) {
        return each.first.second == static_cast<int>(GroupBy::Label)
            || each.first.second == static_cast<int>(GroupBy::Role);
    });
    std::erase_if(m_colourings, [](const auto& each) {
        return each.first.second == static_cast<int>(ColourBy::Label)
            || each.first.second == static_cast<int>(ColourBy::Role);
    });
    takeOffer();
    emit diagnosisChanged();
    emit predictionChanged();
}

LookupSource Session::lookupSource() const
{
    return {replay(), sites(), labels()};
}

LookupWish Session::missing(const LookupWish& wish) const
{
    LookupWish out;
    for (const GroupBy by : wish.groupings)
        if (const auto found = m_groupings.find({m_device, static_cast<int>(by)});
            found == m_groupings.end() || !found->second)
            out.groupings.push_back(by);
    for (const ColourBy by : wish.colourings)
        if (const auto found = m_colourings.find({m_device, static_cast<int>(by)});
            !m_sharedColouring && (found == m_colourings.end() || !found->second))
            out.colourings.push_back(by);
    return out;
}

/// Those that are made from what is open now.
void Session::keep(const Lookups& made)
{
    const LookupSource now = lookupSource();
    if (!now.replay || made.source.replay != now.replay || made.source.sites != now.sites)
        return;
    const bool labelled = made.source.labels == now.labels;
    for (const auto& [by, grouping] : made.groupings)
        if (labelled || !needsLabels(by))
            m_groupings[{m_device, static_cast<int>(by)}] = grouping;
    for (const auto& [by, colouring] : made.colourings)
        if (labelled || !needsLabels(by))
            m_colourings[{m_device, static_cast<int>(by)}] = colouring;
}

bool Session::isPrepared(const LookupWish& wish) const
{
    const auto current = replay();
    if (!current || current->timeline.allocations().count() < atOnce)
        return true;
    const LookupWish wanted = missing(wish);
    return wanted.groupings.empty() && wanted.colourings.empty();
}

void Session::prepare(const QObject& context, const LookupWish& wish, std::function<void()> then)
{
    if (isPrepared(wish)) {
        then();
        return;
    }
    const LookupSource source = lookupSource();
    LookupWish wanted = missing(wish);
    // What was asked for before will be there before this answers: one thread, one after the other.
    for (const auto& [of, made] : m_beingMade) {
        if (!(of == source))
            continue;
        for (const GroupBy by : made.groupings)
            std::erase(wanted.groupings, by);
        for (const ColourBy by : made.colourings)
            std::erase(wanted.colourings, by);
    }
    m_beingMade.emplace_back(source, wanted);
    QtConcurrent::run(
        m_pool.get(), [source, wanted = std::move(wanted)] { return Lookups::make(source, wanted); })
        .then(this,
            [this, then = std::move(then), asker = QPointer<const QObject>(&context)](
                const std::shared_ptr<const Lookups>& made) {
                m_beingMade.erase(m_beingMade.begin());
                keep(*made);
                if (asker && made->source == lookupSource())
                    then();
            });
}

void Session::offer(std::shared_ptr<const Lookups> made)
{
    const std::scoped_lock lock(m_offering);
    m_offered = std::move(made);
}

void Session::takeOffer()
{
    std::shared_ptr<const Lookups> made;
    {
        const std::scoped_lock lock(m_offering);
        made.swap(m_offered);
    }
    if (made)
        keep(*made);
}

std::shared_ptr<const Phases> Session::phases() const
{
    return m_diagnosis && m_device < m_diagnosis->devices.size() ? m_diagnosis->devices[m_device].phases
                                                                 : nullptr;
}

void Session::setShared(
    std::shared_ptr<const AxisKnots> axis, std::shared_ptr<const Colouring> colouring, std::int64_t highest)
{
    m_sharedAxis = std::move(axis);
    m_sharedColouring = std::move(colouring);
    m_sharedHeight = highest;
    emit sharedChanged();
}

std::shared_ptr<const AxisKnots> Session::stepsAxis() const
{
    const auto steps = phases();
    const auto device = replay();
    if (!steps || !device)
        return nullptr;
    if (steps != m_axisOf) {
        m_axisOf = steps;
        m_stepsAxis = stepAxis(*steps, device->states());
    }
    return m_stepsAxis;
}

std::shared_ptr<const Labels> Session::labels() const
{
    return m_diagnosis && m_device < m_diagnosis->devices.size() ? m_diagnosis->devices[m_device].labels
                                                                 : nullptr;
}

std::shared_ptr<const std::vector<std::uint8_t>> Session::flagsOf(const Finding& finding) const
{
    const auto current = replay();
    if (!current || finding.deviceIndex != m_device || finding.allocations.empty())
        return nullptr;
    std::vector<std::uint8_t> flags(current->timeline.allocations().count());
    for (const AllocationId id : finding.allocations)
        flags[index(id)] = 1;
    return std::make_shared<const std::vector<std::uint8_t>>(std::move(flags));
}

void Session::setPrediction(std::shared_ptr<const Prediction> prediction)
{
    if (prediction == m_prediction)
        return;
    m_prediction = std::move(prediction);
    emit predictionChanged();
}

void Session::setCardSize(std::optional<std::uint64_t> bytes)
{
    if (bytes == m_cardSize)
        return;
    m_cardSize = bytes;
    emit cardSizeChanged();
}

std::optional<std::uint64_t> Session::capacity() const
{
    if (m_cardSize)
        return m_cardSize;
    const auto current = replay();
    if (!current || !current->segments.reservedKnown())
        return statedCardSize();
    std::optional<std::uint64_t> usable;
    for (const OomEvent& oom : current->device().ooms) {
        if (!oom.deviceFree || *oom.deviceFree < 0)
            continue;
        const std::int64_t reserved
            = current->segments.reserved().at(stateOf(static_cast<Moment>(index(oom.event))));
        const std::uint64_t sum
            = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reserved) + *oom.deviceFree);
        usable = std::max(usable.value_or(0), sum);
    }
    return usable ? usable : statedCardSize();
}

std::optional<std::uint64_t> Session::statedCardSize() const
{
    const auto bytes = m_diagnosis ? m_diagnosis->config.number("hardware.device_total_bytes") : std::nullopt;
    return bytes && *bytes > 0 ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

} // namespace tidemark
