// The largest windows, strides and paddings that operators accept: numbers of 30 bits that libraries and kernels multiply with others.
// What a backend takes gives what the reference gives.

#include <cmath>

#include "mote/backends/testing/hostile_blobs.h"
#include "mote/core/size.h"
#include "mote/ops/adaptive_avg_pool/adaptive_avg_pool.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/max_pool/max_pool.h"

namespace mote::backends {
namespace {

constexpr int32_t kLarge = 1 << 29, kLimit = 1 << 30, kChannels = 8;

// One spatial dimension of a window. A transposed one's numbers are others: its paddings crop.
struct Axis {
  int32_t in, kernel, stride, dilation, begin, end;
};
constexpr Axis kPlainAxis = {3, 2, 1, 1, 0, 1};
constexpr Axis kAxes[] = {
    {64, 2, 1, kLarge, kLarge, 0},  // far apart, padding in front
    {64, 2, 1, kLarge, 0, kLarge},  // behind
    {64, 2, 1, kLarge, kLarge / 2, kLarge / 2},
    {64, 2, kLarge, 1, kLimit - 64, 0},  // windows in the padding alone, and the last at the input's begin
    {64, 2, kLarge, 1, 0, kLimit - 64},  // and behind it
    {2, 1 << 11, 1, 1, 1 << 11, 0},      // many taps
    {2, 1 << 11, 1, 1, 0, 1 << 11},
    {2, 2, kLimit - 2, kLimit - 1, kLimit - 2, 0},
};
constexpr Axis kTransposedAxes[] = {
    {4, 2, 1, kLarge, kLarge, 0},
    {4, 2, 1, kLarge, 0, kLarge},
    {4, 2, 1, kLarge, kLarge / 2, kLarge / 2},
    {2, 2, kLarge, 1, kLarge, 0},
    {2, 2, kLarge, 1, 0, kLarge},
    {2, 1 << 11, 1, 1, 1 << 11, 0},
    {2, 1 << 11, 1, 1, 0, 1 << 11},
    {2, 2, kLarge, kLarge - 1, kLarge, kLarge - 4},
};

template <class A>
A attributes_of(const Axis& h, const Axis& w) {
  A a{};
  const Axis* axes[] = {&h, &w};
  for (int i = 0; i < 2; ++i) {
    a.strides[i] = axes[i]->stride, a.dilations[i] = axes[i]->dilation;
    a.pads_begin[i] = axes[i]->begin, a.pads_end[i] = axes[i]->end;
  }
  return a;
}
template <class A>
A pool_of(const Axis& h, const Axis& w) {
  A a = attributes_of<A>(h, w);
  a.kernel[0] = h.kernel, a.kernel[1] = w.kernel;
  return a;
}

class HostileWindows : public HostileBlobs {
 protected:
  // From x to y, in memory that ends where a tensor does.
  struct Tensors {
    Tensors(const TensorDesc& x, const TensorDesc& y) : in(dense_bytes(x)), out(dense_bytes(y)) {
      for (int i = 0; i < 4; ++i)
        in_dims[i] = x.dims[i], in_strides[i] = x.strides[i], out_dims[i] = y.dims[i], out_strides[i] = y.strides[i];
      count = dense_bytes(y) / 4;
      for (uint64_t i = 0; i < dense_bytes(x) / 4; ++i) {
        const float v = static_cast<float>(i % 7) - 3;
        std::memcpy(in.data() + 4 * i, &v, 4);
      }
    }
    std::vector<mote_backend_tensor> inputs() const { return {{in.data(), in_dims, in_strides, kF32, 4, 0}}; }
    std::vector<mote_backend_tensor> outputs() const { return {{out.data(), out_dims, out_strides, kF32, 4, 0}}; }
    float result(uint64_t i) const {
      float v = 0;
      std::memcpy(&v, out.data() + 4 * i, 4);
      return v;
    }
    int32_t in_dims[4], in_strides[4], out_dims[4], out_strides[4];
    uint64_t count;
    Fenced in, out;
  };

  // Whether the backend took the operator.
  bool compare(ProgramBuilder& b, TensorId x, TensorId y) {
    EXPECT_GE(y, 0) << b.error();
    if (y < 0) return true;
    b.output("y", y);
    const Tensors here(b.desc(x), b.desc(y)), expected(b.desc(x), b.desc(y));
    const emit::FileBytes piece = finished(b);
    const bool taken = init(piece, here.inputs(), here.outputs()) == 0;
    if (!taken) return false;
    EXPECT_EQ(execute(here.inputs(), here.outputs()), 0u);
    run_reference(piece, expected);
    for (uint64_t i = 0; i < here.count; ++i) {
      const float a = here.result(i), e = expected.result(i);
      EXPECT_TRUE(a == e || std::fabs(a - e) <= 1e-5f * std::fabs(e)) << a << " instead of " << e << " at " << i;
    }
    backend_->destroy(handle_);
    handle_ = nullptr;
    return true;
  }

  void run_reference(const emit::FileBytes& piece, const Tensors& t) {
    const mote_backend* reference = reference_backend();
    const mote_backend_blob view = {piece.data(), piece.size, reference->version, "", 0};
    uint32_t release = 0;
    void* handle = nullptr;
    const std::vector<mote_backend_tensor> in = t.inputs(), out = t.outputs();
    ASSERT_EQ(reference->init(&view, in.data(), 1, out.data(), 1, &handle, &release), 0u);
    EXPECT_EQ(reference->execute(handle, in.data(), 1, out.data(), 1), 0u);
    reference->destroy(handle);
  }

  // make(builder, x, h, w) adds the operator: each of these along each dimension, and along both.
  template <size_t kCount, class Make>
  void all(const Axis (&axes)[kCount], const Axis& plain, Make make) {
    int taken = 0;
    for (const Axis& axis : axes) {
      for (int which = 0; which < 3; ++which) {
        SCOPED_TRACE("case " + std::to_string(&axis - axes) + ", dimension " + std::to_string(which));
        const Axis &h = which == 1 ? plain : axis, &w = which == 0 ? plain : axis;
        if (which == 2 && axis.kernel > 2) continue;  // products of many taps take minutes
        ProgramBuilder b;
        b.begin_method("main");
        const TensorId x = b.input("x", DType::f32, {1, h.in, w.in, kChannels});
        taken += compare(b, x, make(b, x, h, w)) ? 1 : 0;
      }
    }
    // XNNPACK counts positions in 32 bits and is not asked about these.
    EXPECT_GE(taken, std::string(GetParam()) == "xnnpack" ? 0 : static_cast<int>(kCount)) << "of those that are not refused";
  }
};

std::vector<float> weights_of(const Axis& h, const Axis& w) {
  std::vector<float> values(static_cast<size_t>(kChannels) * kChannels * static_cast<size_t>(h.kernel) * static_cast<size_t>(w.kernel));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5) - 2;
  return values;
}

TEST_P(HostileWindows, OfMaxima) {
  all(kAxes, kPlainAxis, [](ProgramBuilder& b, TensorId x, const Axis& h, const Axis& w) {
    return b.op(OpId::max_pool, pool_of<ops::max_pool::Attrs>(h, w), {x});
  });
}

TEST_P(HostileWindows, OfMeans) {
  for (const uint32_t padding_counts : {0u, 1u}) {
    all(kAxes, kPlainAxis, [&](ProgramBuilder& b, TensorId x, const Axis& h, const Axis& w) {
      auto a = pool_of<ops::avg_pool::Attrs>(h, w);
      a.count_include_pad = padding_counts;
      return b.op(OpId::avg_pool, a, {x});
    });
  }
}

TEST_P(HostileWindows, OfConvolutions) {
  for (const int32_t groups : {1, kChannels}) {
    all(kAxes, kPlainAxis, [&](ProgramBuilder& b, TensorId x, const Axis& h, const Axis& w) {
      auto a = attributes_of<ops::conv::Attrs>(h, w);
      a.groups = groups;
      const TensorId weights = b.constant(DType::f32, {kChannels, h.kernel, w.kernel, kChannels / groups}, weights_of(h, w).data());
      return b.op(OpId::conv, a, {x, weights});
    });
  }
}

TEST_P(HostileWindows, OfTransposedConvolutions) {
  constexpr Axis kPlain = {3, 2, 2, 1, 0, 1};
  for (const int32_t groups : {1, kChannels}) {
    all(kTransposedAxes, kPlain, [&](ProgramBuilder& b, TensorId x, const Axis& h, const Axis& w) {
      auto a = attributes_of<ops::conv_transpose::Attrs>(h, w);
      a.groups = groups;
      const TensorId weights = b.constant(DType::f32, {kChannels, h.kernel, w.kernel, kChannels / groups}, weights_of(h, w).data());
      return b.op(OpId::conv_transpose, a, {x, weights});
    });
  }
}

// A product of an input's and an output's size that 32 bits do not hold: windows began in front of the input.
TEST_P(HostileWindows, OfMeansOverEvenParts) {
  for (const int32_t out : {5, 50000}) {
    ProgramBuilder b;
    b.begin_method("main");
    ops::adaptive_avg_pool::Attrs a{};
    a.size[0] = out, a.size[1] = 1;
    const TensorId x = b.input("x", DType::f32, {1, 60000, 1, 1});
    const bool taken = compare(b, x, b.op(OpId::adaptive_avg_pool, a, {x}));
    const std::string name = GetParam();
    EXPECT_EQ(taken, name == "reference" || (name == "opencl" && out == 5));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, HostileWindows, all_backends(), name_of);

}  // namespace
}  // namespace mote::backends
