// Which tensors f16 is good enough for, found by running the piece with tensors rounded; and which products may multiply in f16, found with
// noise added to their results that is as large as the error of some of them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "mote/backends/common/host_runner.h"
#include "mote/backends/opencl/families.h"
#include "mote/backends/opencl/half_math.h"
#include "mote/backends/opencl/opencl_backend.h"
#include "mote/backends/opencl/storage.h"
#include "mote/core/half.h"

namespace mote::backends {

KernelFn (*opencl_host_kernels)(uint16_t op, const OpContext&) noexcept = nullptr;

namespace opencl {
namespace {

constexpr float kMostMagnitude = 4096;  // a sixteenth of f16's range: other inputs may give more
constexpr size_t kMostGroups = 24;      // tensors are looked at in so many groups of neighbours
constexpr double kMostMacs = 4e10;      // spent on looking at them
constexpr double kShare = 0.75;         // of the tolerance: other inputs may give more
constexpr double kStorageShare = 0.7;   // of the remaining budget, for storage, where GEMMs multiply in f16, too: squared errors add up
constexpr double kNever = std::numeric_limits<double>::infinity();

// Inputs are uniform numbers from a range: what examples are made of, images, something larger.
struct Sample {
  float lo, hi;
};
constexpr Sample kSamples[] = {{-1, 1}, {0, 1}, {-2, 2}};

void round_to_half(float* v, int64_t count) {
  for (int64_t i = 0; i < count; ++i) v[i] = static_cast<float>(f16(v[i]));
}

class Chooser {
 public:
  explicit Chooser(const Program& program) : program_(program), t_(program.table()), narrow_(t_.tensors.size, 0) {}

  std::vector<uint8_t> run(double budget, bool math) {
    if (!host_.create(program_, opencl_host_kernels, &hook_) || !list_tensors() || !expect()) return {};
    std::vector<Group> groups = stored_groups();
    narrow(&groups, kStoredNarrow, math ? budget * kStorageShare : budget);
    if (!math) return narrow_;
    if (!find_products()) return {};
    groups = product_groups();
    narrow(&groups, kMultipliedNarrow, budget);
    return narrow_;
  }

 private:
  struct Group {
    std::vector<uint32_t> tensors;
    double worth = 0;  // what is won: elements, or multiplications
    double error = 0;
  };
  // A product that may multiply in f16.
  struct Product {
    const OpView* op;
    double noise[std::size(kSamples)];
  };

  // Tensors in the order they are made.
  bool list_tensors() {
    const Method& m = t_.methods[0];
    const auto add = [&](uint32_t t) {
      if (t_.tensors[t].dtype == DType::f32 && t_.tensors[t].storage != ::mote::Storage::kConstant) tensors_.push_back(t);
    };
    for (uint32_t i = 0; i < m.input_count; ++i) add(t_.ios[m.first_input + i].tensor);
    for (uint32_t pc = m.first_instruction; pc < m.first_instruction + m.instruction_count; ++pc) {
      const Instruction& n = t_.instructions[pc];
      if (n.op >= kFirstControlOp) return false;
      for (uint32_t k = n.input_count; k < uint32_t{n.input_count} + n.output_count; ++k)
        if (const int32_t t = t_.operands[n.operands + k]; t >= 0) add(static_cast<uint32_t>(t));
    }
    return true;
  }

  void event(const TraceEvent& e) {
    if (e.kind != TraceEvent::Kind::kInstructionEnd) return;
    if (const auto p = products_.find(e.instruction); p != products_.end()) multiply(&p->second);
    const Instruction& n = t_.instructions[e.instruction];
    for (uint32_t k = n.input_count; k < uint32_t{n.input_count} + n.output_count; ++k)
      if (const int32_t t = t_.operands[n.operands + k]; t >= 0) look(static_cast<uint32_t>(t));
  }

  // Measures what f16 adds to a product's error, or adds it.
  void multiply(Product* p) {
    const auto y = static_cast<uint32_t>(p->op->outputs[0].tensor);
    const auto x = static_cast<uint32_t>(p->op->inputs[0].tensor);
    if (measuring_) p->noise[sample_] = half_math_error(*p->op, reinterpret_cast<const float*>(host_.tensor(x)));
    if (measuring_ || (narrow_[y] & kMultipliedNarrow) == 0) return;
    auto* v = reinterpret_cast<float*>(host_.tensor(y));
    const int64_t count = element_count(t_.tensors[y]);
    // The sum of four uniform numbers, of variance 1/3. What an activation has made 0 stays so.
    const double size = p->noise[sample_] * std::sqrt(3.0) / 65536;
    for (int64_t i = 0; i < count; ++i) {
      noise_ = noise_ * 6364136223846793005u + 1442695040888963407u;
      const uint64_t sum = (noise_ & 0xffff) + (noise_ >> 16 & 0xffff) + (noise_ >> 32 & 0xffff) + (noise_ >> 48);
      if (v[i] != 0) v[i] += static_cast<float>(size * (static_cast<double>(sum) - 2 * 65536));
    }
  }

  bool find_products() {
    std::string why;
    if (!read_piece(program_, &piece_, &why)) return false;
    for (const OpView& op : piece_.ops)
      if (op.has(0) && op.inputs[0].data == nullptr && reads_half(op, narrow_) && multiplies_half(op))
        products_[op.instruction] = {&op, {}};
    measuring_ = true;
    for (size_t s = 0; s < std::size(kSamples); ++s)
      if (!run_sample(s)) return false;
    measuring_ = false;
    return true;
  }

  void look(uint32_t t) {
    const TensorDesc& d = t_.tensors[t];
    if (d.dtype != DType::f32) return;
    auto* v = reinterpret_cast<float*>(host_.tensor(t));
    const int64_t count = element_count(d);
    if ((narrow_[t] & kStoredNarrow) != 0) round_to_half(v, count);
    if (most_.empty()) return;
    for (int64_t i = 0; i < count; ++i)
      if (!(std::fabs(v[i]) <= most_[t])) most_[t] = std::fabs(v[i]);
  }

  bool run_sample(size_t s) {
    uint64_t state = 0x9e3779b97f4a7c15u * (s + 1);
    sample_ = s;
    noise_ = state;
    const Method& m = t_.methods[0];
    for (uint32_t i = 0; i < m.input_count; ++i) {
      const uint32_t t = t_.ios[m.first_input + i].tensor;
      const TensorDesc& d = t_.tensors[t];
      const int64_t count = element_count(d);
      auto* v = reinterpret_cast<float*>(host_.input(i));
      if (d.dtype != DType::f32) continue;  // zeros
      for (int64_t k = 0; k < count; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        v[k] = kSamples[s].lo + (kSamples[s].hi - kSamples[s].lo) * static_cast<float>(state >> 40) / 16777216.0f;
      }
      look(t);
    }
    return host_.run();
  }

  // What f32 gives, and how large tensors become.
  bool expect() {
    most_.assign(t_.tensors.size, 0);
    for (size_t s = 0; s < std::size(kSamples); ++s) {
      if (!run_sample(s)) return false;
      expected_.emplace_back();
      for (uint32_t i = 0; i < t_.methods[0].output_count; ++i) expected_.back().push_back(result(i));
    }
    most_values_ = std::move(most_);
    most_.clear();
    return true;
  }

  std::vector<float> result(uint32_t i) {
    const TensorDesc& d = t_.tensors[t_.ios[t_.methods[0].first_output + i].tensor];
    if (d.dtype != DType::f32) return {};
    std::vector<float> v(static_cast<size_t>(element_count(d)));
    if (!v.empty()) std::memcpy(v.data(), host_.output(i), v.size() * sizeof(float));
    return v;
  }

  // The largest error of samples [first, end), each relative to the largest value of its output.
  double error(size_t first, size_t end) {
    double worst = 0;
    for (size_t s = first; s < end; ++s) {
      if (!run_sample(s)) return kNever;
      for (uint32_t o = 0; o < t_.methods[0].output_count; ++o) {
        const std::vector<float> found = result(o);
        const std::vector<float>& wanted = expected_[s][o];
        double largest = 0, most = 0;
        for (size_t i = 0; i < found.size(); ++i) {
          if (!std::isfinite(wanted[i])) continue;
          const double e = std::fabs(double{found[i]} - wanted[i]);
          largest = std::isnan(e) ? kNever : std::max(largest, e);
          most = std::max(most, std::fabs(double{wanted[i]}));
        }
        if (most > 0) worst = std::max(worst, largest / most);
      }
    }
    return worst;
  }

  // Neighbours, as many groups as there is time to look at.
  std::vector<Group> groups_of(const std::vector<uint32_t>& tensors, const std::vector<double>& worth) const {
    const Certificate* c = t_.certificate;
    const double runs = kMostMacs / std::max(1.0, c != nullptr ? static_cast<double>(c->macs) : 0.0);
    const size_t count = std::max<size_t>(2, runs < kMostGroups ? static_cast<size_t>(runs) : kMostGroups);
    const size_t each = std::max<size_t>(1, (tensors.size() + count - 1) / count);
    std::vector<Group> groups;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (i % each == 0) groups.emplace_back();
      groups.back().tensors.push_back(tensors[i]);
      groups.back().worth += worth[i];
    }
    return groups;
  }

  std::vector<Group> stored_groups() const {
    std::vector<uint32_t> fit;
    std::vector<double> elements;
    for (uint32_t t : tensors_) {
      if (!(most_values_[t] <= kMostMagnitude)) continue;
      fit.push_back(t);
      elements.push_back(static_cast<double>(element_count(t_.tensors[t])));
    }
    return groups_of(fit, elements);
  }

  std::vector<Group> product_groups() const {
    std::vector<uint32_t> results;
    std::vector<double> products;
    for (const auto& [pc, p] : products_) {
      const Operand &w = p.op->inputs[1], &y = p.op->outputs[0];
      results.push_back(static_cast<uint32_t>(y.tensor));
      const int64_t rows = y.count() / y.dim(-1);
      products.push_back(static_cast<double>(w.count()) * static_cast<double>(rows));
    }
    return groups_of(results, products);
  }

  void set(const Group& g, uint8_t bit, bool on) {
    for (uint32_t t : g.tensors) narrow_[t] = static_cast<uint8_t>(on ? narrow_[t] | bit : narrow_[t] & ~bit);
  }

  // Sets the bit where that leaves the error within the budget. Squared errors of groups add up: the groups with the most error for
  // their benefit are reset until the remaining ones fit.
  void narrow(std::vector<Group>* groups, uint8_t bit, double budget) {
    for (const Group& g : *groups) set(g, bit, true);
    if (error(0, std::size(kSamples)) <= budget) return;
    for (const Group& g : *groups) set(g, bit, false);
    const double before = error(0, 1);
    double sum = before * before;
    for (Group& g : *groups) {
      set(g, bit, true);
      const double e = error(0, 1);
      g.error = e > before ? std::sqrt(e * e - before * before) : 0;
      set(g, bit, false);
      sum += g.error * g.error;
    }
    std::stable_sort(groups->begin(), groups->end(),
                     [](const Group& a, const Group& b) { return a.error * a.error * b.worth > b.error * b.error * a.worth; });
    for (const Group& g : *groups) set(g, bit, true);
    for (const Group& g : *groups) {
      set(g, bit, false);
      sum -= g.error * g.error;
      if (std::sqrt(std::max(0.0, sum)) <= budget && error(0, std::size(kSamples)) <= budget) return;
    }
  }

  const Program& program_;
  const ProgramTable& t_;
  const TraceHook hook_{this, [](void* self, const TraceEvent& e) { static_cast<Chooser*>(self)->event(e); }};
  HostRunner host_;
  std::vector<uint8_t> narrow_;
  std::vector<uint32_t> tensors_;
  std::vector<float> most_, most_values_;                  // largest magnitude of each tensor; most_ is empty when nobody asks
  std::vector<std::vector<std::vector<float>>> expected_;  // of each sample and output
  Piece piece_;
  std::map<uint32_t, Product> products_;  // by instruction
  bool measuring_ = false;
  size_t sample_ = 0;
  uint64_t noise_ = 0;
};

}  // namespace

std::vector<uint8_t> choose_narrow(const Program& program, double tolerance, bool math) {
  if (program.table().methods.size != 1) return {};
  return Chooser(program).run(tolerance * kShare, math);
}

}  // namespace opencl
}  // namespace mote::backends
