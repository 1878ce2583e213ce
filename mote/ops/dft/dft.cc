#include "mote/ops/dft/dft.h"

#include "mote/ops/common/axis_walk.h"

namespace mote::ops::dft {
namespace {

int axis_of(const OpContext& c) noexcept {
  const int32_t axis = c.attrs<Attrs>().axis;
  return axis < 0 ? axis + c.input(0).rank() : axis;
}

template <class T>
struct Dft {
  using C = Compute<T>;

  static void load(const Attrs& a, const T* line, int32_t stride, int32_t size, bool complex, Complex<C>* in, int32_t n) noexcept {
    const bool mirror = a.onesided != 0 && a.inverse != 0;
    const int32_t given = mirror ? n / 2 + 1 : n;
    for (int32_t i = 0; i < given; ++i) {
      in[i] = {C(0), C(0)};
      if (i >= size) continue;
      const T* p = &line_at(line, i, stride);
      in[i] = {static_cast<C>(p[0]), complex ? static_cast<C>(p[1]) : C(0)};
    }
    for (int32_t i = given; i < n; ++i) in[i] = {in[n - i].re, -in[n - i].im};
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int axis = axis_of(c), last = x.rank() - 1;
    if (y.count() == 0) return Status::kOk;
    const int32_t n = static_cast<int32_t>(points(a, x.dim(axis)));
    Fourier<C> fourier(n, a.inverse != 0, c.scratch.data);
    const C factor = a.inverse != 0 ? C(1) / static_cast<C>(n) : C(1);
    TensorDesc lines = *y.desc;  // both parts of a number belong to one line
    lines.dims[last] = 1;
    AxisWalk<2> walk(lines, axis, {x.desc, y.desc});
    while (walk.next()) {
      load(a, x.at<const T>(walk.offset[0]), walk.stride[0], x.dim(axis), x.dim(last) == 2, fourier.input(), n);
      const Complex<C>* result = fourier.transform();
      T* out = y.at<T>(walk.offset[1]);
      for (int32_t i = 0; i < y.dim(axis); ++i) {
        T* p = &line_at(out, i, walk.stride[1]);
        p[0] = static_cast<T>(result[i].re * factor);
        if (y.dim(last) == 2) p[1] = static_cast<T>(result[i].im * factor);
      }
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  return scratch_numbers(Fourier<float>::scratch_numbers(points(c.attrs<Attrs>(), c.input(0).dim(axis_of(c)))), c.input(0).dtype());
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::dft, Dft>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::dft
