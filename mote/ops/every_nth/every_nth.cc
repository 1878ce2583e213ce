#include "mote/ops/every_nth/every_nth.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::every_nth {
namespace {

template <class T>
struct Counter {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &next = c.output(0), &due = c.output(1);
    const T last = c.attrs<Attrs>().count - 1;
    RowWalk<3> walk(*x.desc, {{x.desc, next.desc, due.desc}});
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = next.at<T>(walk.offset[1]);
      bool* flags = due.at<bool>(walk.offset[2]);
      for (int32_t i = 0; i < walk.length; ++i) {
        flags[i] = in[i] < 0 || in[i] >= last;
        out[i] = flags[i] ? 0 : in[i] + 1;
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::every_nth, Counter>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::every_nth
