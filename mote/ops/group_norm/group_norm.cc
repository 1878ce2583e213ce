#include "mote/ops/group_norm/group_norm.h"

namespace mote::ops::group_norm {
namespace {

// Narrows an operand to the channels [first, first + size) of its last dimension.
template <class T>
void take_channels(NormOperands::Operand& o, int32_t first, int32_t size) noexcept {
  if (o.data == nullptr || o.desc.rank == 0) return;
  o.desc.dims[o.desc.rank - 1] = size;
  o.data = o.at<T>(first * static_cast<int32_t>(sizeof(T)));
}

template <class T>
struct GroupNorm {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& x = c.input(0);
    const int32_t size = size_along(*x.desc, x.rank() - 1) / a.groups;
    if (size == 0) return Status::kOk;
    for (int32_t g = 0; g < a.groups; ++g) {
      NormOperands group(x, c.output(0));
      group.scale = optional_operand(c, 1, x.rank());
      group.bias = optional_operand(c, 2, x.rank());
      take_channels<T>(group.x, g * size, size);
      take_channels<T>(group.y, g * size, size);
      take_channels<T>(group.scale, g * size, size);
      take_channels<T>(group.bias, g * size, size);
      normalize_slices<T>(group, axes_from(x.rank() >= 2 ? 1 : 0), true, InverseDeviation{a.epsilon});
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::group_norm, GroupNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::group_norm
