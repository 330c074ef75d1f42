// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/comparer.hpp"

#include "widgets/style/text.hpp"

#include <QFileInfo>

namespace tidemark {

namespace {

QString pathOf(const Session& session)
{
    const auto rank = session.rank();
    return rank ? QString::fromStdString(rank->snapshot->source.path) : QString();
}

} // namespace

Comparer::Comparer(
    Session& main, const Loader::Opener& opener, const Diagnoser::Rules& rules, QObject* parent)
    : QObject(parent)
    , m_main(main)
    , m_opener(opener)
{
    for (const Which side : {Which::A, Which::B}) {
        Half& half = m_halves[side == Which::A ? 0 : 1];
        half.loader = std::make_unique<Loader>(opener);
        half.diagnoser = std::make_unique<Diagnoser>(m_state.session(side), rules);
        half.search = std::make_unique<Search>(m_state.session(side), m_state.view(side));
        // What the window diagnoses is not diagnosed twice.
        half.diagnoser->setWanted([this, side] { return m_state.session(side).rank() != m_main.rank(); });
        connect(half.loader.get(), &Loader::started, this, [this](const LoadRequest& request) {
            emit loading(shownText(QFileInfo(request.path).fileName().toStdString()));
        });
        connect(half.loader.get(), &Loader::loaded, this,
            [this, side](const LoadRequest& request, const std::shared_ptr<const Rank>& rank) {
                emit loading({});
                show(side, rank);
                emit opened(request.path);
            });
        connect(half.loader.get(), &Loader::failed, this, [this](const LoadRequest&, const Error& error) {
            emit loading({});
            emit failed(shownText(error.message));
        });
        connect(half.loader.get(), &Loader::cancelled, this, [this] { emit loading({}); });
    }
    connect(&main, &Session::opened, this, &Comparer::followMain);
    connect(&main, &Session::deviceChanged, this, &Comparer::followMain);
    connect(&main, &Session::diagnosisChanged, this, &Comparer::takeDiagnosis);
}

void Comparer::setActive(bool active)
{
    m_active = active;
    followMain();
}

void Comparer::followMain()
{
    const Session& side = m_state.session(Which::A);
    // A file that was closed is let go of at once; one that was opened waits until somebody looks.
    if (!m_follows || (!m_active && m_main.rank())
        || (side.rank() == m_main.rank() && side.deviceIndex() == m_main.deviceIndex()))
        return;
    m_state.setRank(Which::A, m_main.rank(), m_main.deviceIndex());
    takeDiagnosis();
}

void Comparer::takeDiagnosis()
{
    const auto diagnosis = m_main.diagnosis();
    for (const Which side : {Which::A, Which::B}) {
        Session& session = m_state.session(side);
        if (diagnosis && session.rank() == m_main.rank() && session.diagnosis() != diagnosis)
            session.setDiagnosis(diagnosis);
    }
}

void Comparer::show(Which side, const std::shared_ptr<const Rank>& rank)
{
    m_state.setRank(side, rank);
    takeDiagnosis();
}

void Comparer::open(Which side, const QString& path, const ReadOptions& options)
{
    loader(side).cancel();
    if (side == Which::A)
        m_follows = path == pathOf(m_main);
    if (path == pathOf(m_main) && m_main.rank()) {
        m_state.setRank(side, m_main.rank(), m_main.deviceIndex());
        takeDiagnosis();
        return;
    }
    loader(side).open({path, options, false});
}

void Comparer::setRulesFile(const QString& file)
{
    for (const Half& half : m_halves)
        half.diagnoser->setRulesFile(file);
}

void Comparer::setFilter(const QString& text)
{
    for (const Half& half : m_halves)
        half.search->setText(text);
}

void Comparer::swap()
{
    m_follows = false;
    m_state.swap();
}

void Comparer::compareInstants(StateIndex a, StateIndex b)
{
    for (const Which side : {Which::A, Which::B}) {
        loader(side).cancel();
        m_state.setLabel(side, {});
        m_state.setRank(side, m_main.rank(), m_main.deviceIndex());
    }
    m_follows = true;
    takeDiagnosis();
    m_state.setInstants(a, b);
}

} // namespace tidemark
