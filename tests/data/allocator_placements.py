#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what the Python reference of the allocator does with made-up programs: one line each.

usage: allocator_placements.py TOOLS_FOLDER FIRST_SEED COUNT > tests/data/allocator_placements.txt

A program follows from its seed alone; tests/support/made_up_program.cpp makes the same one. A line holds the seed, the
final figures and a checksum of everything that happened after every 40 steps: addresses and sizes of blocks, memory
asked of the driver and given back, bytes reserved, allocated and waiting.
"""
import sys

MASK = (1 << 64) - 1
MIB = 1 << 20
OTHER_STREAM = 11
STEPS = 400
CHECK = 40


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) & MASK) % limit


class Checksum:
    """FNV-1a over 64-bit words."""

    def __init__(self):
        self.value = 0xCBF29CE484222325

    def add(self, *words):
        for word in words:
            self.value = ((self.value ^ word) * 0x100000001B3) & MASK


ACTIONS = {"segment_alloc": 1, "segment_free": 2, "segment_map": 3, "segment_unmap": 4}


class Program:
    def __init__(self, model, seed):
        self.m, self.rng, self.sum = model, Random(seed), Checksum()
        rng = self.rng
        config = model.AllocatorConfig()
        config.expandable_segments = rng.below(2) == 1
        config.max_split_size = (model.UNLIMITED, model.UNLIMITED, 20 * MIB, 64 * MIB)[rng.below(4)]
        config.max_non_split_rounding = (20 * MIB, 64 * MIB)[rng.below(2)]
        config.large_segment = config.large_page = (20 * MIB, 20 * MIB, 32 * MIB)[rng.below(3)]
        config.roundup_power2_divisions = ((0,) * 16, (0,) * 16, (4,) * 16, (1, 2, 4, 8) * 4)[rng.below(4)]
        capacity = (600 + rng.below(3000)) * MIB
        if rng.below(3) == 0:
            config.memory_limit = int(0.75 * capacity)
            config.garbage_collection_threshold = (0.0, 0.5, 0.8)[rng.below(3)]
        if rng.below(8) == 0:
            config.size_padding, config.base_align = 32, 16 << 10
        config.expandable_private_pools = rng.below(2) == 1
        self.pools = rng.below(2) == 1
        self.allocator = model.CachingAllocator(capacity, config, self.event)
        self.pool, self.opened, self.live = 1, False, []

    def event(self, action, addr, size, stream, pool, context):
        if action in ACTIONS:
            self.sum.add(ACTIONS[action], addr, size)

    def begin(self):
        self.allocator.begin_pool((self.pool, 0))
        self.opened = True

    def end(self):
        self.allocator.end_pool((self.pool, 0))

    def size(self):
        rng = self.rng
        kind = rng.below(5)
        return 1 + rng.below((5000, MIB, 12 * MIB, 90 * MIB, 12 * MIB)[kind])

    def allocate(self):
        size, stream = self.size(), (0, 0, 0, 0, 0, 0, 3, 7)[self.rng.below(8)]
        private = self.pools and self.rng.below(6) == 0
        if private:
            self.begin()
        try:
            block = self.allocator.malloc(size, stream)
            self.sum.add(block.addr, block.size)
            self.live.append(block)
        except self.m.OutOfMemory as oom:
            self.sum.add(99, oom.size)
            if private:
                self.end()
                private = False
            for block in self.live[::2]:
                self.allocator.free(block)
            self.live = self.live[1::2]
        if private:
            self.end()

    def free(self):
        i = self.rng.below(len(self.live))
        block, self.live[i] = self.live[i], self.live[-1]
        self.live.pop()
        if self.rng.below(5) == 0:
            self.allocator.record_stream(block, OTHER_STREAM)
        scoped = self.pools and self.rng.below(10) == 0
        if scoped:
            self.begin()
        self.allocator.free(block)
        if scoped:
            self.end()
        done = self.rng.below(10)
        if done < 3:
            self.allocator.gpu_done(OTHER_STREAM, None if done else 1)

    def step(self):
        choice = self.rng.below(100)
        if choice < 2:
            self.allocator.empty_cache()
        elif choice < 3 and self.opened:
            pool = self.allocator.private[(self.pool, 0)]
            while pool.uses > 0:
                self.allocator.release_pool((self.pool, 0))
            self.pool, self.opened = self.pool + 1, False
        elif choice < 57 or not self.live:
            self.allocate()
        else:
            self.free()
        a = self.allocator
        self.sum.add(a.reserved, a.allocated, a.pending, a.requested)

    def run(self):
        sums = []
        for i in range(STEPS):
            self.step()
            if (i + 1) % CHECK == 0:
                sums.append("%x" % (self.sum.value & 0xFFFFFFFF))
        a = self.allocator
        return [a.peak_reserved, a.reserved, a.allocated, a.flushes, a.ooms, len(a.segments())], sums


def main():
    sys.path.insert(0, sys.argv[1])
    import allocator_model
    for seed in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
        figures, sums = Program(allocator_model, seed).run()
        print(seed, *figures, *sums)


if __name__ == "__main__":
    main()
