// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/identities.hpp"

#include "model/playbook/run_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

namespace tidemark {

namespace {

/// Longer ones are no names.
constexpr std::size_t longestName = 255;
constexpr std::size_t longestList = 65536;
constexpr std::size_t mostHosts = 1024;

constexpr std::string_view userKey = "identity.user.";
constexpr std::string_view hostKey = "identity.host.";

constexpr std::array users{"USER", "LOGNAME", "USERNAME", "SLURM_JOB_USER", "SUDO_USER", "NB_USER",
    "JUPYTERHUB_USER", "PBS_O_LOGNAME", "LSFUSER", "GITHUB_ACTOR"};
constexpr std::array homes{"HOME", "PBS_O_HOME", "USERPROFILE", "MAIL"};
constexpr std::array hosts{"HOSTNAME", "HOST", "COMPUTERNAME", "NODENAME", "NODE_NAME", "POD_NAME",
    "SLURMD_NODENAME", "SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST", "SLURM_SUBMIT_HOST",
    "SLURM_LAUNCH_NODE_IPADDR", "SLURM_TOPOLOGY_ADDR", "MASTER_ADDR", "PET_MASTER_ADDR", "LSB_HOSTS",
    "LSB_SUB_HOST", "PBS_O_HOST", "SSH_CLIENT", "SSH_CONNECTION", "KUBERNETES_SERVICE_HOST"};

bool isOneOf(std::string_view name, std::span<const char* const> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool isNumber(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void addHost(std::string_view name, Identities& identities)
{
    // Ports and counts stand among addresses.
    if (name.empty() || name.size() > longestName || isNumber(name) || identities.hosts.size() >= mostHosts)
        return;
    identities.hosts.emplace(name);
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.size() == name.size() || isNumber(label))
        return;
    identities.hosts.emplace(label);
    // Other machines of the same place may be named too.
    if (const std::string_view place = name.substr(label.size() + 1);
        place.find('.') != std::string_view::npos)
        identities.hosts.emplace(place);
}

/// "gpu[01-03]x" into its names, the first bracket at a time.
void addNodes(std::string_view pattern, Identities& identities)
{
    const std::size_t open = pattern.find('[');
    const std::size_t close = pattern.find(']', std::min(open, pattern.size()));
    if (open == std::string_view::npos || close == std::string_view::npos) {
        addHost(pattern, identities);
        return;
    }
    const std::string before(pattern.substr(0, open));
    const std::string after(pattern.substr(close + 1));
    std::string_view ranges = pattern.substr(open + 1, close - open - 1);
    while (!ranges.empty() && identities.hosts.size() < mostHosts) {
        const std::string_view range = ranges.substr(0, ranges.find(','));
        ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
        const std::string_view low = range.substr(0, range.find('-'));
        const std::string_view high = low.size() < range.size() ? range.substr(low.size() + 1) : low;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        if (low.empty() || !isNumber(low) || !isNumber(high)
            || std::from_chars(low.data(), low.data() + low.size(), first).ec != std::errc()
            || std::from_chars(high.data(), high.data() + high.size(), last).ec != std::errc())
            continue;
        for (std::uint32_t i = first; i <= last && identities.hosts.size() < mostHosts; ++i) {
            std::string digits = std::to_string(i);
            digits.insert(0, low.size() - std::min(low.size(), digits.size()), '0');
            addNodes(before + digits + after, identities);
        }
    }
}

/// Names a comma or a blank apart, but for commas inside brackets.
void addHosts(std::string_view list, Identities& identities)
{
    std::size_t from = 0;
    bool inside = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        const char c = i < list.size() ? list[i] : ',';
        inside = (inside || c == '[') && c != ']' && i < list.size();
        if (inside || (c != ',' && c != ' ' && c != '\t'))
            continue;
        addNodes(list.substr(from, i - from), identities);
        from = i + 1;
    }
}

} // namespace

void addIdentities(std::string_view variable, std::string_view value, Identities& identities)
{
    if (value.empty() || value.size() > longestList)
        return;
    if (isOneOf(variable, hosts)) {
        addHosts(value, identities);
    } else if (isOneOf(variable, users)) {
        if (value.size() <= longestName)
            identities.users.emplace(value);
    } else if (isOneOf(variable, homes)) {
        while (value.size() > 1 && (value.back() == '/' || value.back() == '\\'))
            value.remove_suffix(1);
        const std::string_view name = value.substr(value.find_last_of("/\\") + 1);
        if (!name.empty() && name.size() <= longestName)
            identities.users.emplace(name);
    }
}

Identities identitiesOf(const RunConfig& config)
{
    Identities out;
    for (const auto& [key, value] : config.values())
        if (key.starts_with(userKey))
            out.users.emplace(key.substr(userKey.size()));
        else if (key.starts_with(hostKey))
            out.hosts.emplace(key.substr(hostKey.size()));
    return out;
}

bool isIdentityKey(std::string_view key)
{
    return key.starts_with(userKey) || key.starts_with(hostKey);
}

std::string identityKey(bool host, std::string_view name)
{
    return std::string(host ? hostKey : userKey) += name;
}

} // namespace tidemark
