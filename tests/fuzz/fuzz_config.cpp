// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of a run: YAML, JSON, environment and printed arguments. The first byte picks the name.
#include "model/core/allocator_conf.hpp"
#include "model/job/parallel_roles.hpp"
#include "model/playbook/config_checks.hpp"
#include "model/playbook/config_text.hpp"
#include "model/playbook/config_tree.hpp"
#include "model/playbook/estimator.hpp"
#include "model/simulate/allocator_settings.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <array>

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    constexpr std::array names{"run_config.yaml", "run.json", "env.txt", "train.log", "settings"};
    const char* name = names[data[0] % names.size()];
    const std::string_view text = textOf(data + 1, size - 1);

    RunConfig config;
    checkResult(config.add(text, name));
    for (const auto& [key, value] : config.values())
        configText(value);
    for (const ConfigCheck& check : checkConfig(config, {}))
        checkText(check.text);
    estimateMemory(config);
    if (const auto sizes = parallelSizes(config, std::nullopt))
        for (const int rank : {0, 1, 7, 4095})
            checkText(roleOfRank(rank, *sizes).detail);

    if (const auto tree = parseYamlConfig(text, name))
        checkResult(jsonOfConfig(*tree, name));
    else
        checkError(tree.error());
    checkResult(parseJsonConfig(text, name));
    environmentLines(text);
    printedArguments(text);
    listOfWords(text);
    allocatorOptions(text);
    AllocatorSettings settings;
    if (const auto done = settings.apply(text); !done)
        checkError(done.error());
    else
        require(static_cast<bool>(settings.apply(settings.conf())), "settings read what they write");
    return 0;
}
