// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tidemark {

class RunConfig;

/// Names of people and machines that an environment states. They are no settings: kept to be taken out of
/// what is shared, shown nowhere and written nowhere.
struct Identities {
    std::set<std::string> users;
    std::set<std::string> hosts; ///< names and addresses; of "gpu-17.lab.example" its two parts too
};

/// Adds what a variable of the environment says of who ran it and where; nothing for other variables. Lists
/// of nodes as Slurm writes them, "gpu-[01-04,07]", are taken apart, up to 1024 names.
void addIdentities(std::string_view variable, std::string_view value, Identities& identities);

/// Those of all files that a configuration was read from.
Identities identitiesOf(const RunConfig& config);
/// RunConfig keeps them under keys of their own: whoever shows, compares or writes all settings passes these
/// over.
bool isIdentityKey(std::string_view key);
/// Under which one is kept.
std::string identityKey(bool host, std::string_view name);

} // namespace tidemark
