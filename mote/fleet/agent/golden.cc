#include "mote/fleet/agent/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace mote::fleet::agent {
namespace {

template <class T>
T load(const uint8_t* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

double from_bits(uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias) : sign * std::ldexp(1 + fraction, exponent - bias);
}

// The i-th element of a dense tensor as a number.
double element(mote_dtype dtype, const uint8_t* data, uint64_t i) {
  switch (dtype) {
    case MOTE_F32: return static_cast<double>(load<float>(data + i * 4));
    case MOTE_F64: return load<double>(data + i * 8);
    case MOTE_F16: return from_bits(load<uint16_t>(data + i * 2), 5);
    case MOTE_BF16: return from_bits(load<uint16_t>(data + i * 2), 8);
    case MOTE_S8: return load<int8_t>(data + i);
    case MOTE_S16: return load<int16_t>(data + i * 2);
    case MOTE_U16: return load<uint16_t>(data + i * 2);
    case MOTE_S32: return load<int32_t>(data + i * 4);
    case MOTE_U32: return load<uint32_t>(data + i * 4);
    case MOTE_S64: return static_cast<double>(load<int64_t>(data + i * 8));
    case MOTE_U64: return static_cast<double>(load<uint64_t>(data + i * 8));
    case MOTE_S4:
    case MOTE_U4: {
      const int nibble = data[i / 2] >> (i % 2 * 4) & 15;
      return dtype == MOTE_S4 && nibble > 7 ? nibble - 16 : nibble;
    }
    default: return data[i];
  }
}

// Is every element within `tolerance` of the largest expected magnitude? 0: the same bits.
bool close_enough(mote_dtype dtype, const uint8_t* found, const uint8_t* expected, uint64_t bytes, float tolerance) {
  if (tolerance == 0) return std::memcmp(found, expected, bytes) == 0;
  const uint64_t count = bytes * 8 / std::max(mote_dtype_bits(dtype), 1u);
  double largest = 0, error = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double a = element(dtype, found, i), b = element(dtype, expected, i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      return false;
    }
    largest = std::max(largest, std::fabs(b));
    error = std::max(error, std::fabs(a - b));
  }
  return error <= static_cast<double>(tolerance) * largest;
}

struct Free {
  void operator()(mote_error* e) const { mote_error_destroy(e); }
  void operator()(mote_program* p) const { mote_program_release(p); }
  void operator()(mote_instance* i) const { mote_instance_destroy(i); }
};

class Session {
 public:
  Session(const void* data, size_t bytes, uint64_t memory_limit) : error_(mote_error_create()) {
    mote_open_options open{};
    open.struct_size = sizeof open;
    open.flags = MOTE_OPEN_VERIFY_DIGESTS;
    mote_program* program = nullptr;
    if (!good(mote_program_open_memory(data, bytes, &open, &program, error_.get()))) return;
    program_.reset(program);
    mote_instance_options options{};
    options.struct_size = sizeof options;
    options.memory_limit_bytes = memory_limit;
    mote_instance* instance = nullptr;
    if (good(mote_instance_create(program, &options, &instance, error_.get()))) instance_.reset(instance);
  }

  bool ready() const { return instance_ != nullptr; }
  const std::string& failure() const { return failure_; }
  mote_code code() const { return code_; }
  const std::string& op() const { return op_; }
  uint64_t ram_bytes() const { return mote_program_allocated_bytes(program_.get()) + mote_instance_allocated_bytes(instance_.get()); }

  // (method, example) -> its tensors
  using Examples = std::map<std::pair<uint32_t, uint32_t>, std::vector<mote_golden>>;
  bool examples(Examples* out) {
    for (uint32_t i = 0; i < mote_program_golden_count(program_.get()); ++i) {
      mote_golden g{};
      g.struct_size = sizeof g;
      if (!good(mote_program_golden(program_.get(), i, &g))) return false;
      (*out)[{g.method, g.example}].push_back(g);
    }
    return true;
  }

  bool set_inputs(const std::vector<mote_golden>& tensors) {
    (void)mote_instance_reset_state(instance_.get());
    for (const mote_golden& g : tensors) {
      if (g.is_output != 0) continue;
      const mote_tensor_info info = about(g);
      if (info.dynamic != 0 && !good(mote_instance_set_input_dims(instance_.get(), g.method, g.index, g.dims, info.rank, error_.get())))
        return false;
      if (!good(mote_instance_set_input(instance_.get(), g.method, g.index, g.data, g.bytes, error_.get()))) return false;
    }
    return tensors.empty() || good(mote_instance_own_io(instance_.get(), tensors[0].method, error_.get()));
  }

  bool run(uint32_t method) { return good(mote_instance_run(instance_.get(), method, nullptr, error_.get())); }

  bool compare(const mote_golden& g) {
    const mote_tensor_info info = about(g);
    std::vector<uint8_t> found(std::max<uint64_t>(info.bytes, 1));
    uint64_t bytes = 0;
    if (!good(mote_instance_get_output(instance_.get(), g.method, g.index, found.data(), found.size(), &bytes, error_.get()))) return false;
    if (bytes == g.bytes && close_enough(info.dtype, found.data(), static_cast<const uint8_t*>(g.data), bytes, g.tolerance)) return true;
    failure_ = "golden example " + std::to_string(g.example) + ": output " + info.name + " is not what it must be";
    return false;
  }

 private:
  mote_tensor_info about(const mote_golden& g) const {
    mote_tensor_info info{};
    info.struct_size = sizeof info;
    (void)(g.is_output != 0 ? mote_program_output_info(program_.get(), g.method, g.index, &info)
                            : mote_program_input_info(program_.get(), g.method, g.index, &info));
    return info;
  }
  bool good(mote_status status) {
    if (status == 0) return true;
    const char* text = error_ ? mote_error_message(error_.get()) : "";
    code_ = mote_status_code(status);
    op_ = error_ ? mote_error_op(error_.get()) : "";
    failure_ = text[0] != '\0' ? text : mote_code_text(code_);
    return false;
  }

  std::unique_ptr<mote_error, Free> error_;
  std::unique_ptr<mote_program, Free> program_;
  std::unique_ptr<mote_instance, Free> instance_;
  std::string failure_, op_;
  mote_code code_ = MOTE_OK;
};

bool run_examples(Session& s, const Session::Examples& examples, GoldenReport* report) {
  for (const auto& [name, tensors] : examples) {
    if (!s.set_inputs(tensors) || !s.run(name.first)) return false;
    for (const mote_golden& g : tensors) {
      if (g.is_output == 0) continue;
      if (!s.compare(g)) return false;
      ++report->outputs;
    }
  }
  return true;
}

bool take_times(Session& s, const Session::Examples& examples, int64_t budget_ms, GoldenReport* report) {
  if (examples.empty() || budget_ms <= 0) return true;
  const auto& [name, tensors] = *examples.begin();
  if (!s.set_inputs(tensors)) return false;
  std::vector<uint64_t> times;
  const uint64_t end = mote_clock_ns() + static_cast<uint64_t>(budget_ms) * 1000000;
  while (times.size() < 1000 && (times.size() < 3 || mote_clock_ns() < end)) {
    const uint64_t start = mote_clock_ns();
    if (!s.run(name.first)) return false;
    times.push_back((mote_clock_ns() - start) / 1000);
  }
  std::sort(times.begin(), times.end());
  report->runs = static_cast<uint32_t>(times.size());
  report->p99_us = times[(times.size() * 99 + 99) / 100 - 1];
  return true;
}

}  // namespace

GoldenReport run_golden(const void* data, size_t bytes, uint64_t memory_limit, int64_t budget_ms) {
  GoldenReport report;
  Session s(data, bytes, memory_limit);
  Session::Examples examples;
  if (s.ready() && s.examples(&examples) && run_examples(s, examples, &report)) (void)take_times(s, examples, budget_ms, &report);
  if (s.ready()) report.ram_bytes = s.ram_bytes();
  report.failure = s.failure();
  report.code = s.code();
  report.op = s.op();
  report.opened = s.ready();
  return report;
}

}  // namespace mote::fleet::agent
