// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/pickle_forge.hpp"

#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::fuzz {

/// The value of a plain pickle (what pickled() writes, any protocol from 2 on); absent for others, and for
/// values that contain themselves.
std::optional<test::Py> treeOf(std::string_view pickle);

/// Changes some places of a snapshot's tree: absurd numbers, wrong types, reused addresses, lost, renamed and
/// repeated fields, events in another order, more devices, single forbidden opcodes.
void disturb(test::Py& tree, std::mt19937& random);

/// The tree as a pickle of a random protocol, or as JSON.
std::string written(const test::Py& tree, std::mt19937& random);
/// Keys and words that mean something in a snapshot.
std::span<const std::string_view> snapshotWords();

/// The tree as JSON; what JSON does not have becomes null.
std::string jsonText(const test::Py& tree);

} // namespace tidemark::fuzz
