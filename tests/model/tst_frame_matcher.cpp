// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/frame_matcher.hpp"

#include "model/findings/metrics.hpp"
#include "model/findings/stack_facts.hpp"
#include "model/lens/stack_kinds.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

/// Labels, phases and rules read function names with one matcher: as Python up to 3.10 records them, and with
/// their classes as later versions do.
class TestFrameMatcher : public QObject {
    Q_OBJECT
private slots:
    void bareNames()
    {
        QCOMPARE(bareName("forward"), std::string_view("forward"));
        QCOMPARE(bareName("MLP.forward"), std::string_view("forward"));
        QCOMPARE(bareName("checkpoint.<locals>.recompute_fn"), std::string_view("recompute_fn"));
        QCOMPARE(bareName("at::native::foo.bar"), std::string_view("at::native::foo.bar"));
        QCOMPARE(bareName(""), std::string_view(""));
        QCOMPARE(bareName("odd."), std::string_view(""));
    }

    void groupsTakeQualifiedNames()
    {
        TraceMaker maker;
        maker.stack({"MLP.forward@/x/megatron/core/transformer/mlp.py:1", "forward@mlp.py:2",
            "MLP.backward@/x/megatron/core/transformer/mlp.py:3",
            "_multi_tensor_adam.<locals>._multi_tensor_step@/x/torch/optim/adam.py:4",
            "foo::forward@/x/megatron/core/transformer/mlp.py:5"});
        const auto snapshot = maker.finish();
        const std::vector<FramePattern> forward{{"megatron/core/transformer/mlp.py", {"forward"}}};
        const std::vector<FramePattern> starred{{"torch/optim/*.py", {"_multi_tensor_*"}}};
        FrameMatcher matcher;
        const std::size_t one = matcher.add(forward);
        const std::size_t two = matcher.add(starred);
        matcher.build(*snapshot);
        const bool inOne[] = {true, false, false, false, false};
        const bool inTwo[] = {false, false, false, true, false};
        for (std::uint32_t i = 0; i < 5; ++i) {
            QCOMPARE(matcher.in(FrameId{i}, one), inOne[i]);
            QCOMPARE(matcher.in(FrameId{i}, two), inTwo[i]);
        }
    }

    void factsOfOldAndNewNames()
    {
        for (const bool qualified : {false, true}) {
            TraceMaker maker;
            const auto name
                = [&](std::string_view old, std::string_view fresh) { return qualified ? fresh : old; };
            const StackId mlp = maker.stack({name("forward@/x/megatron/core/transformer/mlp.py:1",
                "MLP.forward@/x/megatron/core/transformer/mlp.py:1")});
            const StackId own = maker.stack({name("scaled_dot_product_attention@app/model.py:4",
                "Attention.scaled_dot_product_attention@app/model.py:4")});
            const StackId flash
                = maker.stack({"_flash_attn_forward@/x/flash_attn/flash_attn_interface.py:9"});
            const StackId replay = maker.stack({name("recompute_fn@/x/torch/utils/checkpoint.py:3",
                "_checkpoint_without_reentrant_generator.<locals>.recompute_fn@/x/torch/utils/"
                "checkpoint.py:3")});
            const StackId capture = maker.stack(
                {name("__enter__@/x/torch/cuda/graphs.py:3", "graph.__enter__@/x/torch/cuda/graphs.py:3")});
            const auto snapshot = maker.finish();
            const StackFacts facts(*snapshot);
            QCOMPARE(facts.of(mlp), std::uint64_t(in::DenseMlp | in::MegatronCore));
            QCOMPARE(facts.of(own), std::uint64_t(in::PlainAttention));
            QCOMPARE(facts.of(flash), std::uint64_t(in::FusedAttention));
            QCOMPARE(facts.of(replay), std::uint64_t(in::Replay));
            QVERIFY(capturesGraph(*snapshot, capture));
            QCOMPARE(StackKinds(*snapshot).of(mlp), StackKind::Forward);
        }
    }
};

QTEST_GUILESS_MAIN(TestFrameMatcher)
#include "tst_frame_matcher.moc"
