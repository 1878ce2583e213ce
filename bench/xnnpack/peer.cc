#include "bench/xnnpack/peer.h"

#include <xnnpack.h>

#include <cmath>

namespace mote::bench {
namespace {

class Operator : public Peer {
 public:
  explicit Operator(xnn_operator_t op) : op_(op) {}
  ~Operator() override { xnn_delete_operator(op_); }
  void run() override { xnn_run_operator(op_, nullptr); }

 private:
  xnn_operator_t op_;
};

bool ready() {
  static const bool ok = xnn_initialize(nullptr) == xnn_status_success;
  return ok;
}

struct Sizes {
  uint32_t before, behind, kernel, stride, groups;
  size_t group_inputs, group_outputs, channels, outputs, size;
  explicit Sizes(const Layer& l)
      : before(static_cast<uint32_t>(l.pad_begin())),
        behind(static_cast<uint32_t>(l.pad_end())),
        kernel(static_cast<uint32_t>(l.kernel)),
        stride(static_cast<uint32_t>(l.stride)),
        groups(static_cast<uint32_t>(l.groups())),
        group_inputs(static_cast<size_t>(l.channels / l.groups())),
        group_outputs(static_cast<size_t>(l.outputs / l.groups())),
        channels(static_cast<size_t>(l.channels)),
        outputs(static_cast<size_t>(l.outputs)),
        size(static_cast<size_t>(l.size)) {}
};

}  // namespace

std::unique_ptr<Peer> make_peer(const Layer& l, const float* x, const float* weights, const float* bias, float* y) {
  const Sizes s(l);
  const float lo = l.relu6() ? 0 : -INFINITY, hi = l.relu6() ? 6 : INFINITY;
  xnn_operator_t op = nullptr;
  if (!ready()) return nullptr;
  if (l.size == 1) {
    if (xnn_create_fully_connected_nc_f32(s.channels, s.outputs, s.channels, s.outputs, weights, bias, lo, hi, 0, &op) !=
            xnn_status_success ||
        xnn_setup_fully_connected_nc_f32(op, 1, x, y, nullptr) != xnn_status_success)
      return nullptr;
    return std::make_unique<Operator>(op);
  }
  if (xnn_create_convolution2d_nhwc_f32(s.before, s.behind, s.behind, s.before, s.kernel, s.kernel, s.stride, s.stride, 1, 1, s.groups,
                                        s.group_inputs, s.group_outputs, s.channels, s.outputs, weights, bias, lo, hi, 0,
                                        &op) != xnn_status_success ||
      xnn_setup_convolution2d_nhwc_f32(op, 1, s.size, s.size, x, y, nullptr) != xnn_status_success)
    return nullptr;
  return std::make_unique<Operator>(op);
}

std::unique_ptr<Peer> make_peer(const Layer& l, const Scales& q, const int8_t* x, const int8_t* weights, const int32_t* bias, int8_t* y) {
  const Sizes s(l);
  const auto narrow = [](int32_t v) { return static_cast<int8_t>(v); };
  xnn_operator_t op = nullptr;
  if (!ready()) return nullptr;
  if (l.size == 1) {
    if (xnn_create_fully_connected_nc_qs8(s.channels, s.outputs, s.channels, s.outputs, narrow(q.input_zero), q.input, q.weights[0],
                                          weights, bias, narrow(q.output_zero), q.output, narrow(q.lo), narrow(q.hi), 0,
                                          &op) != xnn_status_success ||
        xnn_setup_fully_connected_nc_qs8(op, 1, x, y, nullptr) != xnn_status_success)
      return nullptr;
    return std::make_unique<Operator>(op);
  }
  if (xnn_create_convolution2d_nhwc_qc8(s.before, s.behind, s.behind, s.before, s.kernel, s.kernel, s.stride, s.stride, 1, 1, s.groups,
                                        s.group_inputs, s.group_outputs, s.channels, s.outputs, narrow(q.input_zero), q.input,
                                        q.weights.data(), weights, bias, narrow(q.output_zero), q.output, narrow(q.lo), narrow(q.hi), 0,
                                        &op) != xnn_status_success ||
      xnn_setup_convolution2d_nhwc_qc8(op, 1, s.size, s.size, x, y, nullptr) != xnn_status_success)
    return nullptr;
  return std::make_unique<Operator>(op);
}

}  // namespace mote::bench
