#include "mote/ops/embedding/embedding.h"

#include "mote/ops/common/moves.h"

namespace mote::ops::embedding {
namespace {

template <class W>
struct Embedding {
  static Status run(const OpContext& c) noexcept {
    const Tensor &table = c.input(0), &indices = c.input(1), &y = c.output(0);
    const Weights<W> rows(table);
    const Tensor* scales = c.has_input(2) ? &c.input(2) : nullptr;
    const Tensor* zeros = c.has_input(3) ? &c.input(3) : nullptr;
    const int32_t width = table.dim(1), group_size = c.attrs<Attrs>().group_size;
    const auto beside = [&](const Tensor& t, int32_t row, int32_t k) {
      return row * t.stride(0) + (group_size > 0 ? k / group_size * t.stride(1) : 0);
    };
    GridWalk<2> walk(indices.rank(), indices.desc->dims, {{indices.desc->strides, y.desc->strides}});
    while (walk.next()) {
      const int32_t row = index_in(load_int(indices.dtype(), indices.at<uint8_t>(walk.offset[0])), table.dim(0));
      if (row < 0) return {Status::kInvalidArgument, Why::kIndexRange};
      float* out = y.at<float>(walk.offset[1]);
      for (int32_t k = 0; k < width; ++k) {
        float v = static_cast<float>(rows(row, k));
        if (zeros != nullptr) v -= static_cast<float>(*zeros->at<const int8_t>(beside(*zeros, row, k)));
        out[k] = scales != nullptr ? v * scale_at(*scales, beside(*scales, row, k)) : v;
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::embedding, Embedding>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::embedding
