// Running: whole, in steps, with limits.

#include "mote/api/impl/instance.h"
#include "mote/api/impl/options.h"
#include "mote/platform/clock.h"

struct mote_cancel {
  std::atomic<bool> requested{false};
};

namespace mote::api {
namespace {

bool read_limits(const mote_run_options* options, RunLimits* out) noexcept {
  mote_run_options o;
  if (!read_struct(options, &o)) return false;
  out->max_steps = o.max_steps;
  out->deadline = o.deadline_ns;
  out->now = &clock_for_limits;
  if (o.cancel != nullptr) out->cancel = &o.cancel->requested;
  return true;
}

}  // namespace
}  // namespace mote::api

using namespace mote;
using mote::api::report;

extern "C" {

mote_cancel* mote_cancel_create(void) { return mote::api::make<mote_cancel>(); }
void mote_cancel_request(mote_cancel* cancel) {
  if (cancel != nullptr) cancel->requested.store(true, std::memory_order_relaxed);
}
void mote_cancel_reset(mote_cancel* cancel) {
  if (cancel != nullptr) cancel->requested.store(false, std::memory_order_relaxed);
}
void mote_cancel_destroy(mote_cancel* cancel) { mote::api::destroy(cancel); }

uint64_t mote_clock_ns(void) { return clock_now_ns(); }

mote_status mote_instance_run(mote_instance* instance, uint32_t method, const mote_run_options* options, mote_error* error) {
  static const char kDoing[] = "run";
  RunLimits limits;
  if (instance == nullptr || !mote::api::read_limits(options, &limits))
    return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  const Status s = instance->instance.run(method, limits);
  return s.ok() ? mote_status{MOTE_OK} : report(error, kDoing, instance->instance.diagnostic(), instance->program->names());
}

mote_status mote_instance_begin(mote_instance* instance, uint32_t method, mote_error* error) {
  static const char kDoing[] = "begin a run";
  if (instance == nullptr) return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  const Status s = instance->instance.begin(method);
  return s.ok() ? mote_status{MOTE_OK} : report(error, kDoing, instance->instance.diagnostic(), instance->program->names());
}

mote_status mote_instance_step(mote_instance* instance, uint32_t instructions, const mote_run_options* options, mote_error* error) {
  static const char kDoing[] = "step";
  RunLimits limits;
  if (instance == nullptr || !mote::api::read_limits(options, &limits))
    return report(error, kDoing, {Status::kInvalidArgument, Why::kApiArgument});
  const Status s = instance->instance.step(instructions, limits);
  // A pause is how stepping goes, no error.
  if (s.ok() || s.code() == Status::kPaused) return s.bits();
  return report(error, kDoing, instance->instance.diagnostic(), instance->program->names());
}

uint32_t mote_instance_position(const mote_instance* instance) { return instance != nullptr ? instance->instance.position() : 0; }

mote_status mote_instance_reset_state(mote_instance* instance) {
  if (instance == nullptr) return mote::api::invalid_argument();
  instance->instance.reset_state();
  return MOTE_OK;
}

}  // extern "C"
