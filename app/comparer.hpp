// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/diagnoser.hpp"
#include "app/loader.hpp"
#include "app/search.hpp"
#include "widgets/compare/compare_state.hpp"

#include <QObject>

#include <array>
#include <memory>
#include <optional>

namespace tidemark {

/// Brings files to the two sides of a comparison. A is what the window has open until another file is chosen
/// for it; each side reads and diagnoses by itself. GUI thread.
class Comparer : public QObject {
    Q_OBJECT
public:
    using Which = compare::Which;

    /// `main`: what the window has open.
    Comparer(Session& main, const Loader::Opener& opener, const Diagnoser::Rules& rules,
        QObject* parent = nullptr);

    CompareState& state() { return m_state; }
    const Loader::Opener& opener() const { return m_opener; }
    /// Whether the comparison is looked at: A follows the window only then, and catches up.
    void setActive(bool active);
    /// Shows a file on a side; what is open in the window is not read again.
    void open(Which side, const QString& path, const ReadOptions& options = {});
    void swap();
    /// Two instants of what the window has open.
    void compareInstants(StateIndex a, StateIndex b);
    /// The user's label rules hold on both sides.
    void setRulesFile(const QString& file);
    /// What matches keeps its colour in both stacks, the rest fades.
    void setFilter(const QString& text);
    /// A follows what the window has open.
    bool followsMain() const { return m_follows; }
    bool isLoading() const { return loader(Which::A).isLoading() || loader(Which::B).isLoading(); }

signals:
    /// A side is being read: its name; "" when it is over.
    void loading(const QString& name);
    /// A file could not be read: one sentence.
    void failed(const QString& sentence);
    /// A side was read.
    void opened(const QString& path);

private:
    struct Half {
        std::unique_ptr<Loader> loader;
        std::unique_ptr<Diagnoser> diagnoser;
        std::unique_ptr<Search> search;
    };
    const Loader& loader(Which side) const { return *m_halves[side == Which::A ? 0 : 1].loader; }
    Loader& loader(Which side) { return *m_halves[side == Which::A ? 0 : 1].loader; }
    void followMain();
    void takeDiagnosis();
    void show(Which side, const std::shared_ptr<const Rank>& rank);

    Session& m_main;
    Loader::Opener m_opener;
    CompareState m_state;
    std::array<Half, 2> m_halves;
    bool m_follows = true;
    bool m_active = false;
};

} // namespace tidemark
