// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/evidence_units.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

struct Row {
    std::string_view key;
    EvidenceUnit unit;
};

/// In alphabetical order.
constexpr std::array rows{
    Row{"above_peers", EvidenceUnit::Bytes},
    Row{"above_steps", EvidenceUnit::Bytes},
    Row{"activations", EvidenceUnit::Bytes},
    Row{"activations_per_layer", EvidenceUnit::Bytes},
    Row{"allocated", EvidenceUnit::Bytes},
    Row{"allocated_on_stream", EvidenceUnit::Count},
    Row{"allocated_peak", EvidenceUnit::Bytes},
    Row{"asked", EvidenceUnit::Count},
    Row{"block_bytes", EvidenceUnit::Bytes},
    Row{"blocks", EvidenceUnit::Count},
    Row{"bytes_each", EvidenceUnit::Bytes},
    Row{"bytes_per_element", EvidenceUnit::Factor},
    Row{"bytes_per_step", EvidenceUnit::Bytes},
    Row{"casts", EvidenceUnit::Count},
    Row{"delayed_frees", EvidenceUnit::Count},
    Row{"deviating_ranks", EvidenceUnit::Count},
    Row{"device_free", EvidenceUnit::Bytes},
    Row{"device_total", EvidenceUnit::Bytes},
    Row{"dropout_outputs", EvidenceUnit::Count},
    Row{"elsewhere_default_pool", EvidenceUnit::Bytes},
    Row{"elsewhere_private_pools", EvidenceUnit::Bytes},
    Row{"elsewhere_streams", EvidenceUnit::Bytes},
    Row{"equal_tensors", EvidenceUnit::Count},
    Row{"estimate", EvidenceUnit::Bytes},
    Row{"estimated_saved", EvidenceUnit::Bytes},
    Row{"expert_bytes", EvidenceUnit::Bytes},
    Row{"experts", EvidenceUnit::Count},
    Row{"external_fragmentation", EvidenceUnit::Share},
    Row{"failed_ranks", EvidenceUnit::Count},
    Row{"first_forward_event", EvidenceUnit::Event},
    Row{"floor", EvidenceUnit::Bytes},
    Row{"flushes", EvidenceUnit::Count},
    Row{"freed_at", EvidenceUnit::Count},
    Row{"gathered_bytes_each", EvidenceUnit::Bytes},
    Row{"gradients", EvidenceUnit::Bytes},
    Row{"growth_unit", EvidenceUnit::Bytes},
    Row{"headroom", EvidenceUnit::Bytes},
    Row{"held_by_pools", EvidenceUnit::Bytes},
    Row{"holes", EvidenceUnit::Count},
    Row{"idle_by_pool", EvidenceUnit::Bytes},
    Row{"idle_bytes", EvidenceUnit::Bytes},
    Row{"idle_since_event", EvidenceUnit::Event},
    Row{"in_flight", EvidenceUnit::Count},
    Row{"in_reach", EvidenceUnit::Bytes},
    Row{"inactive_ratio", EvidenceUnit::Share},
    Row{"inputs", EvidenceUnit::Count},
    Row{"key", EvidenceUnit::Count},
    Row{"label", EvidenceUnit::Count},
    Row{"largest_hole", EvidenceUnit::Bytes},
    Row{"largest_site_bytes", EvidenceUnit::Bytes},
    Row{"layer_activations", EvidenceUnit::Count},
    Row{"layers", EvidenceUnit::Count},
    Row{"live", EvidenceUnit::Bytes},
    Row{"live_at_that_moment", EvidenceUnit::Bytes},
    Row{"live_growth", EvidenceUnit::Bytes},
    Row{"masks", EvidenceUnit::Count},
    Row{"max_over_mean_activations", EvidenceUnit::Factor},
    Row{"max_split_size", EvidenceUnit::Bytes},
    Row{"new_peak", EvidenceUnit::Bytes},
    Row{"new_peak_owner", EvidenceUnit::Count},
    Row{"one_percent_of_usable", EvidenceUnit::Bytes},
    Row{"optimizer", EvidenceUnit::Bytes},
    Row{"optimizer_state", EvidenceUnit::Bytes},
    Row{"output", EvidenceUnit::Bytes},
    Row{"output_bytes_not_counted", EvidenceUnit::Bytes},
    Row{"outputs_not_counted", EvidenceUnit::Count},
    Row{"outside", EvidenceUnit::Bytes},
    Row{"parameters", EvidenceUnit::Count},
    Row{"peak_moved", EvidenceUnit::Count},
    Row{"peak_of_steps", EvidenceUnit::Bytes},
    Row{"peak_pending", EvidenceUnit::Bytes},
    Row{"peak_without_bursts", EvidenceUnit::Bytes},
    Row{"peers", EvidenceUnit::Count},
    Row{"peers_expert_bytes", EvidenceUnit::Bytes},
    Row{"peers_median", EvidenceUnit::Bytes},
    Row{"peers_median_allocated_peak", EvidenceUnit::Bytes},
    Row{"pending", EvidenceUnit::Bytes},
    Row{"pending_at_end", EvidenceUnit::Bytes},
    Row{"per_layer", EvidenceUnit::Bytes},
    Row{"per_layer_from", EvidenceUnit::Count},
    Row{"pin_leverage", EvidenceUnit::Factor},
    Row{"pinned_free", EvidenceUnit::Bytes},
    Row{"pinned_holes", EvidenceUnit::Count},
    Row{"pinned_segments", EvidenceUnit::Count},
    Row{"pinning_bytes", EvidenceUnit::Bytes},
    Row{"pins", EvidenceUnit::Count},
    Row{"pool_ids", EvidenceUnit::Count},
    Row{"pools", EvidenceUnit::Count},
    Row{"pytorch_hint_moot", EvidenceUnit::Count},
    Row{"r_squared", EvidenceUnit::Factor},
    Row{"ranks", EvidenceUnit::Count},
    Row{"removed_at_peak", EvidenceUnit::Bytes},
    Row{"replayed_allocations", EvidenceUnit::Count},
    Row{"request", EvidenceUnit::Bytes},
    Row{"requested", EvidenceUnit::Bytes},
    Row{"reserved", EvidenceUnit::Bytes},
    Row{"reserved_at_end", EvidenceUnit::Bytes},
    Row{"reserved_at_start", EvidenceUnit::Bytes},
    Row{"reserved_by_pool", EvidenceUnit::Bytes},
    Row{"retained", EvidenceUnit::Bytes},
    Row{"retained_at_peak", EvidenceUnit::Bytes},
    Row{"retained_surfaces", EvidenceUnit::Count},
    Row{"rising_share", EvidenceUnit::Share},
    Row{"saved", EvidenceUnit::Bytes},
    Row{"saved_activations", EvidenceUnit::Bytes},
    Row{"segment_events", EvidenceUnit::Count},
    Row{"segments", EvidenceUnit::Count},
    Row{"shard_bytes", EvidenceUnit::Bytes},
    Row{"shards_not_kept", EvidenceUnit::Count},
    Row{"share", EvidenceUnit::Share},
    Row{"share_of_peak", EvidenceUnit::Share},
    Row{"shared", EvidenceUnit::Bytes},
    Row{"sizes", EvidenceUnit::Bytes},
    Row{"slack", EvidenceUnit::Bytes},
    Row{"stage", EvidenceUnit::Count},
    Row{"stage_peaks", EvidenceUnit::Bytes},
    Row{"stages", EvidenceUnit::Count},
    Row{"steps", EvidenceUnit::Count},
    Row{"steps_confidence", EvidenceUnit::Factor},
    Row{"steps_found_by", EvidenceUnit::Count},
    Row{"steps_held", EvidenceUnit::Count},
    Row{"steps_until_full", EvidenceUnit::Count},
    Row{"steps_until_full_grade", EvidenceUnit::Count},
    Row{"steps_with_flush", EvidenceUnit::Count},
    Row{"streams", EvidenceUnit::Count},
    Row{"surfaces_linear_fc1", EvidenceUnit::Count},
    Row{"surfaces_linear_qkv", EvidenceUnit::Count},
    Row{"surfaces_other", EvidenceUnit::Count},
    Row{"targets", EvidenceUnit::Count},
    Row{"temporaries", EvidenceUnit::Bytes},
    Row{"tensor_parallel", EvidenceUnit::Count},
    Row{"tensors_per_layer", EvidenceUnit::Count},
    Row{"throughput_percent", EvidenceUnit::Percent},
    Row{"unusable_index", EvidenceUnit::Share},
    Row{"usable", EvidenceUnit::Bytes},
    Row{"values", EvidenceUnit::Count},
    Row{"verdict", EvidenceUnit::Count},
    Row{"waited_us", EvidenceUnit::Microseconds},
    Row{"weights", EvidenceUnit::Bytes},
    Row{"whatif_empty_cache_fits", EvidenceUnit::Count},
    Row{"whatif_empty_cache_flushes", EvidenceUnit::Count},
    Row{"whatif_empty_cache_peak_reserved", EvidenceUnit::Bytes},
    Row{"whatif_expandable_fits", EvidenceUnit::Count},
    Row{"whatif_expandable_flushes", EvidenceUnit::Count},
    Row{"whatif_expandable_peak_reserved", EvidenceUnit::Bytes},
    Row{"whatif_expandable_refused", EvidenceUnit::Count},
    Row{"whatif_fidelity", EvidenceUnit::Share},
    Row{"whatif_pins_first_fits", EvidenceUnit::Count},
    Row{"whatif_pins_first_flushes", EvidenceUnit::Count},
    Row{"whatif_pins_first_peak_reserved", EvidenceUnit::Bytes},
    Row{"within_peers", EvidenceUnit::Count},
};
static_assert(
    std::is_sorted(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; }));

/// Keys that do not read well by themselves.
struct Words {
    std::string_view key;
    const char* name;
    const char* yes = nullptr; ///< null: no yes or no
    const char* no = nullptr;
};
constexpr std::array words{
    Words{"new_peak_owner", "phase of the new peak"},
    Words{"one_percent_of_usable", "1 % of what was usable"},
    Words{"peak_moved", "highest point after the fix", "elsewhere: the peak would move", "where it is now"},
    Words{"per_layer_from", "a layer's share from"},
    Words{"pytorch_hint_moot", "the hint in PyTorch's error text",
        "moot: expandable segments were on already", "worth a try"},
    Words{"r_squared", "R² of the line"},
    Words{"steps_until_full_grade", "grade of that"},
    Words{"verdict", "case (Help, out of memory)"},
    Words{"waited_us", "waited"},
    Words{"whatif_empty_cache_fits", "cache emptied in time: the request fits"},
    Words{"whatif_empty_cache_flushes", "– flushes"},
    Words{"whatif_empty_cache_peak_reserved", "– peak reserved"},
    Words{"whatif_expandable_fits", "expandable segments: the request fits"},
    Words{"whatif_expandable_flushes", "– flushes"},
    Words{"whatif_expandable_peak_reserved", "– peak reserved"},
    Words{"whatif_expandable_refused", "expandable segments: not replayed, since"},
    Words{"whatif_fidelity", "fidelity of the replay"},
    Words{"whatif_pins_first_fits", "long-lived blocks first: the request fits"},
    Words{"whatif_pins_first_flushes", "– flushes"},
    Words{"whatif_pins_first_peak_reserved", "– peak reserved"},
};

} // namespace

std::optional<EvidenceUnit> evidenceUnit(std::string_view key)
{
    const auto row = std::lower_bound(
        rows.begin(), rows.end(), key, [](const Row& r, std::string_view k) { return r.key < k; });
    return row != rows.end() && row->key == key ? std::optional(row->unit) : std::nullopt;
}

std::string evidenceName(std::string_view key)
{
    for (const Words& each : words)
        if (each.key == key)
            return each.name;
    std::string name(key);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

std::string evidenceAnswer(std::string_view key, bool yes)
{
    for (const Words& each : words)
        if (each.key == key && each.yes != nullptr)
            return yes ? each.yes : each.no;
    return yes ? "yes" : "no";
}

} // namespace tidemark
