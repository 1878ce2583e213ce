#include "mote/ops/audio_log/audio_log.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::audio_log {
namespace {

template <class Y>
void rows(const OpContext& c, const audio::Log& log) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  RowWalk<2> walk(*y.desc, {{x.desc, y.desc}});
  while (walk.next()) {
    const uint32_t* in = x.at<const uint32_t>(walk.offset[0]);
    Y* out = y.at<Y>(walk.offset[1]);
    for (int32_t i = 0; i < walk.length; ++i) out[i] = static_cast<Y>(audio::log_of(log, in[i]));
  }
}

template <class T>
struct Logarithm {
  static Status run(const OpContext& c) noexcept {
    const audio::Log log = log_of(c.attrs<Attrs>());
    switch (c.output(0).dtype()) {
      case DType::s8: rows<int8_t>(c, log); break;
      case DType::u8: rows<uint8_t>(c, log); break;
      default: rows<int16_t>(c, log); break;
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::audio_log, Logarithm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::audio_log
