// The golden examples of a program on an instance: the same backends and kernels that will run it.

#include <cstring>

#include "mote/api/impl/instance.h"
#include "mote/api/impl/options.h"
#include "mote/core/half.h"

namespace mote::api {
namespace {

const char kTest[] = "test the program";

template <class T>
double load(const uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <class T>
T load_half(const uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The i-th element of a dense tensor as a number.
double element(mote_dtype dtype, const uint8_t* data, uint64_t i) noexcept {
  switch (dtype) {
    case MOTE_F32: return load<float>(data + i * 4);
    case MOTE_F64: return load<double>(data + i * 8);
    case MOTE_F16: return static_cast<double>(static_cast<float>(load_half<f16>(data + i * 2)));
    case MOTE_BF16: return static_cast<double>(static_cast<float>(load_half<bf16>(data + i * 2)));
    case MOTE_S8: return load<int8_t>(data + i);
    case MOTE_S16: return load<int16_t>(data + i * 2);
    case MOTE_U16: return load<uint16_t>(data + i * 2);
    case MOTE_S32: return load<int32_t>(data + i * 4);
    case MOTE_U32: return load<uint32_t>(data + i * 4);
    case MOTE_S64: return load<int64_t>(data + i * 8);
    case MOTE_U64: return load<uint64_t>(data + i * 8);
    case MOTE_S4:
    case MOTE_U4: {
      const int nibble = data[i / 2] >> (i % 2 * 4) & 15;
      return dtype == MOTE_S4 && nibble > 7 ? nibble - 16 : nibble;
    }
    default: return data[i];
  }
}

bool finite(double v) noexcept { return v - v == 0; }
double magnitude(double v) noexcept { return v < 0 ? -v : v; }

// The largest error as a part of the largest expected magnitude; infinite where NaN or infinities differ.
double error_of(mote_dtype dtype, const uint8_t* found, const uint8_t* expected, uint64_t bytes) noexcept {
  const double infinity = static_cast<double>(__builtin_inff());
  const uint32_t bits = mote_dtype_bits(dtype);
  double largest = 0, error = 0;
  for (uint64_t i = 0; bits != 0 && i < bytes * 8 / bits; ++i) {
    const double a = element(dtype, found, i), b = element(dtype, expected, i);
    if (finite(a) && finite(b)) {
      if (magnitude(b) > largest) largest = magnitude(b);
      if (magnitude(a - b) > error) error = magnitude(a - b);
    } else if (a != b && (a == a || b == b)) {
      return infinity;
    }
  }
  return error == 0 ? 0 : largest > 0 ? error / largest : infinity;
}

class SelfTest {
 public:
  SelfTest(mote_instance* instance, mote_error* error) : i_(*instance), error_(error) { std::memset(&result_, 0, sizeof result_); }
  ~SelfTest() { give_back(); }

  mote_status run() noexcept {
    const uint32_t count = mote_program_golden_count(i_.program);
    if (count == 0) return report(error_, kTest, {Status::kNotFound, Why::kNoSuchRecord}, 1, 0, "golden example");
    for (uint32_t at = 0; at < count;) {
      const uint32_t end = end_of_example(at, count);
      if (const mote_status s = example(at, end)) return s;
      at = end;
    }
    (void)mote_instance_reset_state(&i_);
    return first_;
  }
  const mote_self_test& result() const { return result_; }

 private:
  mote_status get(uint32_t at, mote_golden* g) noexcept {
    g->struct_size = sizeof *g;
    const mote_status s = mote_program_golden(i_.program, at, g);
    return s == 0 ? s : report(error_, kTest, Status::from_bits(s));
  }

  // Records of one example follow each other.
  uint32_t end_of_example(uint32_t at, uint32_t count) const noexcept {
    const Span<const Golden> all = i_.table().goldens;
    uint32_t end = at + 1;
    while (end < count && all[end].method == all[at].method && all[end].example == all[at].example) ++end;
    return end;
  }

  mote_status example(uint32_t begin, uint32_t end) noexcept {
    const uint32_t method = i_.table().goldens[begin].method;
    (void)mote_instance_reset_state(&i_);
    if (const mote_status s = refuse_bound(method)) return s;
    mote_golden g;
    for (uint32_t at = begin; at < end; ++at) {
      if (const mote_status s = get(at, &g)) return s;
      if (g.is_output == 0)
        if (const mote_status s = set(g)) return s;
    }
    if (const mote_status s = mote_instance_own_io(&i_, method, error_)) return s;
    if (const mote_status s = mote_instance_run(&i_, method, nullptr, error_)) return s;
    for (uint32_t at = begin; at < end; ++at) {
      if (const mote_status s = get(at, &g)) return s;
      if (g.is_output != 0)
        if (const mote_status s = compare(g)) return s;
    }
    return MOTE_OK;
  }

  // What the caller bound is not written to.
  mote_status refuse_bound(uint32_t method) noexcept {
    const Method& m = i_.table().methods[method];
    for (uint32_t k = 0; k < m.input_count + m.output_count; ++k) {
      const IoBuffer& b = i_.buffers[m.first_input + k];
      if (b.bound != nullptr && b.bound != b.own)
        return report(error_, kTest, {Status::kBusy, Why::kBoundByCaller}, 0, 0, i_.table().string(i_.table().ios[m.first_input + k].name));
    }
    return MOTE_OK;
  }

  mote_status set(const mote_golden& g) noexcept {
    mote_tensor_info info;
    info.struct_size = sizeof info;
    (void)mote_program_input_info(i_.program, g.method, g.index, &info);
    if (info.dynamic != 0)
      if (const mote_status s = mote_instance_set_input_dims(&i_, g.method, g.index, g.dims, info.rank, error_)) return s;
    return mote_instance_set_input(&i_, g.method, g.index, g.data, g.bytes, error_);
  }

  mote_status compare(const mote_golden& g) noexcept {
    mote_tensor_info info;
    info.struct_size = sizeof info;
    (void)mote_program_output_info(i_.program, g.method, g.index, &info);
    if (const mote_status s = room_for(info.bytes)) return s;
    uint64_t bytes = 0;
    if (const mote_status s = mote_instance_get_output(&i_, g.method, g.index, found_, capacity_, &bytes, error_)) return s;
    const auto* found = static_cast<const uint8_t*>(found_);
    const auto* expected = static_cast<const uint8_t*>(g.data);
    const bool same_size = bytes == g.bytes;
    const double error = same_size ? error_of(info.dtype, found, expected, bytes) : static_cast<double>(__builtin_inff());
    const bool good = same_size && (g.tolerance == 0 ? bytes == 0 || std::memcmp(found, expected, static_cast<size_t>(bytes)) == 0
                                                     : error <= static_cast<double>(g.tolerance));
    ++result_.outputs;
    if (error > result_.largest_error) result_.largest_error = error;
    if (!good && result_.failed++ == 0) first_ = report(error_, kTest, {Status::kInternal, Why::kGoldenDiffers}, 0, 0, info.name);
    return MOTE_OK;
  }

  // Within the instance's limit.
  mote_status room_for(uint64_t bytes) noexcept {
    if (bytes == 0) bytes = 1;
    if (bytes <= capacity_) return MOTE_OK;
    give_back();
    Diagnostic why;
    found_ = i_.take(bytes, kUsualAlignment, &why);
    if (found_ == nullptr) return report(error_, kTest, why);
    capacity_ = bytes;
    return MOTE_OK;
  }
  void give_back() noexcept {
    if (found_ == nullptr) return;
    release(found_);
    i_.allocated_bytes -= footprint(capacity_, kUsualAlignment);
    found_ = nullptr;
    capacity_ = 0;
  }

  mote_instance& i_;
  mote_error* error_;
  mote_self_test result_;
  mote_status first_ = MOTE_OK;
  void* found_ = nullptr;
  uint64_t capacity_ = 0;
};

}  // namespace
}  // namespace mote::api

extern "C" mote_status mote_instance_self_test(mote_instance* instance, mote_self_test* result, mote_error* error) {
  using namespace mote;
  using namespace mote::api;
  if (instance == nullptr || (result != nullptr && !is_struct_size(result->struct_size)))
    return report(error, kTest, {Status::kInvalidArgument, Why::kApiArgument});
  SelfTest test(instance, error);
  const mote_status status = test.run();
  if (result != nullptr) (void)write_struct(test.result(), result);
  return status;
}
