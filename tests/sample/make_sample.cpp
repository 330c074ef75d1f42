// SPDX-License-Identifier: GPL-3.0-or-later
// usage: tidemark_make_sample FILE.pickle.gz
// Writes the bundled sample; run it after a change to tests/support/sample_training.cpp and check the file
// in.
#include "tests/support/sample_training.hpp"

#include <cstdio>
#include <fstream>

int main(int argc, char** argv)
{
    using namespace tidemark::test;
    if (argc != 2) {
        std::fputs("usage: tidemark_make_sample FILE.pickle.gz\n", stderr);
        return 2;
    }
    const std::string packed = gzipped(writePickle(recordSampleTraining()));
    std::ofstream file(argv[1], std::ios::binary);
    if (!file.write(packed.data(), static_cast<std::streamsize>(packed.size())).flush()) {
        std::fprintf(stderr, "%s: cannot be written\n", argv[1]);
        return 1;
    }
    return 0;
}
