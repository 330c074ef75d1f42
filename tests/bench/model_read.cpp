// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long reading a snapshot takes and how much memory: bench_model_read [--python] FILE...
// With --python the file is also loaded by CPython's pickle.load, in turn with ours, and the ratio is
// printed. Only for files you made yourself: loading a pickle with Python runs whatever is in it.
#include "model/formats/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tidemark;

namespace {

constexpr int rounds = 5;

struct Took {
    double wall = 0;
    double processor = 0;
    double mebibytes = 0;
    bool ok = false;
};

/// Runs `work` in a process of its own, so that its memory and processor time are its alone.
template <typename Work>
Took inChild(Work work)
{
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(work());
    int status = 0;
    struct rusage usage { };
    ::wait4(child, &status, 0, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + (static_cast<double>(t.tv_usec) / 1e6);
    };
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
        seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024,
        WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

Took ours(const char* path)
{
    return inChild([path] {
        const auto snapshot = readSnapshot(path, {}, {});
        if (!snapshot)
            std::fprintf(stderr, "%s\n", snapshot.error().message.c_str());
        return snapshot ? 0 : 1;
    });
}

Took python(const char* path)
{
    return inChild([path] {
        const char* program = "import pickle, sys\nwith open(sys.argv[1], 'rb') as f: d = "
                              "pickle.load(f)\nimport os; os._exit(0)";
        ::execlp("python3", "python3", "-c", program, path, nullptr);
        return 1;
    });
}

Took median(std::vector<Took> all)
{
    std::ranges::sort(all, {}, &Took::processor);
    return all[all.size() / 2];
}

void print(const char* who, const Took& t, double bytes)
{
    std::printf("  %-12s %7.3f s wall  %7.3f s processor  %6.3f GB/s  %7.1f MiB  (%.2f x the file)\n", who,
        t.wall, t.processor, bytes / t.processor / 1e9, t.mebibytes, t.mebibytes * 1048576 / bytes);
}

} // namespace

int main(int argc, char** argv)
{
    const bool compare = argc > 1 && std::strcmp(argv[1], "--python") == 0;
    for (int i = compare ? 2 : 1; i < argc; ++i) {
        const auto bytes = static_cast<double>(std::filesystem::file_size(argv[i]));
        std::vector<Took> own;
        std::vector<Took> other;
        for (int round = 0; round < rounds; ++round) {
            own.push_back(ours(argv[i]));
            if (!own.back().ok)
                return 1;
            if (compare)
                other.push_back(python(argv[i]));
        }
        std::printf("%s: %.1f MB, median of %d\n", argv[i], bytes / 1e6, rounds);
        print("tidemark", median(own), bytes);
        if (compare && other.front().ok) {
            print("pickle.load", median(other), bytes);
            std::printf(
                "  %.1f times as fast (processor time)\n", median(other).processor / median(own).processor);
        }
    }
    return argc > (compare ? 2 : 1) ? 0 : 2;
}
