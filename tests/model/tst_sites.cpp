// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/sites.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::string_view linear
    = "forward@/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:134";
constexpr std::string_view call
    = "_call_impl@/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py:1787";
constexpr std::string_view gather = "torch::CapturedTraceback::gather(bool, bool, bool)@??:0";
constexpr std::string_view mallocFrame
    = "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, signed char)";
constexpr std::string_view engine
    = "torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)@??:0";

} // namespace

class TestSites : public QObject {
    Q_OBJECT
private slots:
    void frames_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<bool>("framework");
        const auto row = [](const char* name, const char* file, bool framework) {
            QTest::addRow("%s in %s", name, file) << QByteArray(name) << QByteArray(file) << framework;
        };
        row("forward", "/home/me/train/model.py", false);
        row("forward", "D:\\me\\train\\model.py", false);
        row("forward", "D:\\me\\.venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py", true);
        row("_call_impl", "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", true);
        row("forward", "torch/nn/modules/module.py", true);
        row("train", "/home/me/torch/train.py", false);
        row("fused", "/usr/lib/python3.10/site-packages/transformer_engine/pytorch/optimizers/fused_adam.py",
            false);
        row("run", "/usr/lib/python3.10/threading.py", true);
        row("inner", "/usr/lib/python3.10/contextlib.py", true);
        row("inner", "C:\\Program Files\\Python312\\Lib\\contextlib.py", true);
        row("<module>", "/tmp/ipykernel_4242/1531601865.py", false);
        row("einsum", "/opt/lib/python3.12/site-packages/einops/einops.py", true);
        row("call", "/tmp/torchinductor_me/bp/cfynmy2umdm.py", true);
        row("forward", "<eval_with_key>.3", true);
        row("<module>", "<string>", false);
        row("c10::TensorImpl::~TensorImpl()", "TensorImpl.cpp", true);
        row("pthread_condattr_setpshared", "??", true);
        row("_PyEval_EvalFrameDefault", "/usr/local/src/conda/python-3.12.3/Python/bytecodes.c", true);
        row("aten::mm", "", true);
        row("slot_tp_call", "", true);
        row("method_vectorcall.llvm.12275804309777372242", "", true);
        row("nn.Module: Linear_0", "", false);
        row("slot_tp_call", "/home/me/train/calls.py", false);
        row("nn.Module: Linear_0", "none", false);
    }

    void frames()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, file);
        QFETCH(bool, framework);
        QCOMPARE(isFrameworkFrame({name.data(), static_cast<std::size_t>(name.size())},
                     {file.data(), static_cast<std::size_t>(file.size())}),
            framework);
    }

    void innermostOwnFrame()
    {
        checkSite({gather, mallocFrame, "at::_ops::mm::call(at::Tensor const&)", linear, call,
                      "forward@/home/me/proj/model.py:39", "main@/home/me/proj/train.py:9"},
            "forward@model.py:39", "at::_ops::mm::call");
        checkSite({linear, call, "forward@/home/me/proj/model.py:39"}, "forward@model.py:39",
            "forward@linear.py:134");
    }

    void backwardThread()
    {
        checkSite({gather, mallocFrame, "at::_ops::div_Tensor::call(at::Tensor const&)",
                      "torch::autograd::generated::DivBackward0::apply(std::vector<at::Tensor>&&)", engine},
            "DivBackward0 (backward)", "at::_ops::div_Tensor::call");
        checkSite(
            {gather, "torch::autograd::generated::MulBackward0_apply_functional(std::vector<at::Tensor>&&)",
                engine},
            "MulBackward0 (backward)", "torch::autograd::generated::MulBackward0_apply_functional");
        checkSite(
            {gather,
                "void torch::autograd::AccumulateGrad::accumulateGrad<std::function<void ()> >(at::Tensor)",
                engine},
            "AccumulateGrad", "void torch::autograd::AccumulateGrad::accumulateGrad");
        checkSite({gather, "at::native::sum(at::Tensor const&)", "at::_ops::sum_dim_IntList::redispatch(int)",
                      "at::_ops::sum::call(at::Tensor const&)", engine},
            "aten::sum (backward)", "at::native::sum");
        // A custom function runs Python in the backward thread.
        checkSite({"empty@/x/site-packages/torch/_refs/__init__.py:1", "backward@/home/me/ops.py:5",
                      "apply@/x/site-packages/torch/autograd/function.py:311", engine},
            "backward@ops.py:5", "empty@__init__.py:1");
        // Compiled graphs leave only generated code.
        checkSite({"call@/tmp/torchinductor_me/bp/cfy.py:456",
                      "apply@/x/site-packages/torch/autograd/function.py:311"},
            "call@cfy.py:456", "call@cfy.py:456");
    }

    void framesWithoutAPlace()
    {
        TraceMaker maker;
        const StackId stack = maker.stack({"nn.Module: Linear_0", "model.py(7): forward"});
        const StackId bad = maker.stack({"a\xff\nb@/x/m.py:3"});
        const StackId empty = maker.stack({});
        const auto snapshot = maker.finish();
        const Sites sites = Sites::build(*snapshot, SiteMode::User);
        QCOMPARE(sites.name(sites.of(stack)), std::string("nn.Module: Linear_0"));
        QCOMPARE(sites.name(sites.of(bad)),
            std::string("a\xef\xbf\xbd\xe2\x90\x8a"
                        "b@m.py:3"));
        QCOMPARE(sites.of(empty), SiteId::none);
        QCOMPARE(sites.of(StackId::none), SiteId::none);
    }

    void oneSiteForManyStacks()
    {
        TraceMaker maker;
        const StackId a = maker.stack({linear, "f@/one/model.py:3", "main@t.py:1"});
        const StackId b = maker.stack({call, "f@/two/model.py:3", "main@t.py:2"});
        const auto snapshot = maker.finish();
        const Sites sites = Sites::build(*snapshot, SiteMode::User);
        QCOMPARE(sites.of(a), sites.of(b));
        QCOMPARE(sites.count(), std::size_t(1));
        QCOMPARE(sites.ownFrames(*snapshot, a), (std::vector<std::uint32_t>{1, 2}));
        QCOMPARE(Sites::build(*snapshot, SiteMode::Raw).count(), std::size_t(2));
    }

    void predatingAllocations()
    {
        TraceMaker maker;
        const StackId stack = maker.stack({"free_it@/x/opt.py:73"});
        const StackId own = maker.stack({"load@/x/load.py:2"});
        maker.event(Action::FreeRequested, 0x9000, 5, stack);
        maker.event(Action::FreeCompleted, 0x9000, 5, stack);
        maker.free(0xa000, 5);
        maker.alloc(0xb000, 5);
        maker.segment(0x1000, 0x2000);
        maker.block(BlockState::Allocated, 0x1000, 8);
        maker.block(BlockState::Allocated, 0x1000, 8, own);
        const auto replay = Replay::build(maker.finish(), 0, {}).value();
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        QStringList names;
        for (std::uint32_t id = 0; id < replay->timeline.allocations().count(); ++id)
            names << QString::fromStdString(allocationSite(*replay, sites, AllocationId{id}));
        QCOMPARE(names,
            (QStringList{"before recording → end", "load@load.py:2", "before recording → freed",
                "before recording → free_it@opt.py:73", "no stack"}));
    }

private:
    static void checkSite(std::initializer_list<std::string_view> frames, const char* user, const char* raw)
    {
        TraceMaker maker;
        const StackId stack = maker.stack(frames);
        const auto snapshot = maker.finish();
        const Sites own = Sites::build(*snapshot, SiteMode::User);
        QCOMPARE(own.name(own.of(stack)), std::string(user));
        const Sites innermost = Sites::build(*snapshot, SiteMode::Raw);
        QCOMPARE(innermost.name(innermost.of(stack)), std::string(raw));
    }
};

QTEST_GUILESS_MAIN(TestSites)
#include "tst_sites.moc"
