#include <algorithm>
#include <memory>
#include <new>

#include "mote/tools/machine.h"
#include "mote/tools/measure.h"
#include "mote/tools/team.h"

namespace mote::tools {
namespace {

using target::Level;

constexpr uint64_t kMegabyte = 1u << 20;
constexpr uint64_t kBlockUnit = 2 * kernels::kProbeBlock;  // two halves, for copies
constexpr uint64_t kChunk = 4 * kMegabyte;                 // most of a block that is gone over at once, so that rounds stay short

// Memory that is there, not a page of zeros seen many times.
class Buffer {
 public:
  explicit Buffer(uint64_t bytes) : data_(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{4096}, std::nothrow))) {
    if (!data_) throw Failure("no memory to measure with: expected " + std::to_string(bytes) + " bytes");
    std::fill_n(data_.get(), bytes, uint8_t{1});
  }
  uint8_t* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(uint8_t* p) const { ::operator delete (p, std::align_val_t{4096}); }
  };
  std::unique_ptr<uint8_t, Free> data_;
};

kernels::Probes probes_of(kernels::Isa isa) {
  kernels::Probes p = kernels::probes_for(isa);
  const kernels::Probes plain = portable_probes();
  if (p.fma_f32 == nullptr) return plain;
  // Without integer kernels of its own, integers run on portable ones.
  if (p.dot_s8 == nullptr) p.dot_s8 = plain.dot_s8;
  return p;
}

// What one thread goes over to meet a level: well inside of it, and beyond the one before. 0: there is no such level.
uint64_t block_bytes(const target::Target& t, Level level, uint32_t threads, uint64_t available) {
  const uint64_t l1 = t.cache_bytes[target::kL1], l2 = t.cache_bytes[target::kL2], l3 = t.cache_bytes[target::kL3];
  const uint64_t nearest = std::max(l1, l2);
  uint64_t bytes = 0;
  switch (level) {
    case target::kL1: bytes = l1 / 2; break;
    case target::kL2: bytes = l2 / 2; break;
    case target::kL3: bytes = l3 > 0 ? std::max(2 * nearest, std::min(l3 / 2 / threads, 8 * nearest)) : 0; break;
    default: {
      const uint64_t all = std::clamp(4 * std::max(l3, nearest * threads), 64 * kMegabyte, 512 * kMegabyte);
      bytes = (available > 0 ? std::min(all, available / 4) : all) / threads;
    }
  }
  return bytes / kBlockUnit * kBlockUnit;
}

// Of one thread, on a line of its own.
struct alignas(64) Slot {
  float sink[3] = {1, 0.999f, 0.001f};
  uint64_t amount = 0;
};

// One figure: what a thread does in some repeats, and what came out.
struct Figure {
  const char* what;
  std::function<uint64_t(Slot& slot, uint8_t* memory, uint64_t first, uint64_t repeats)> work;  // returns operations or bytes
  double* out;
  uint64_t repeats = 1, done = 0;
  std::vector<double> samples = {};
};

class RateMeter {
 public:
  RateMeter(const target::Target& machine, const MeasureSettings& s)
      : settings_(s), probes_(probes_of(s.isa)), team_(s.threads), slots_(s.threads) {
    const uint64_t available = describe_machine().available_bytes;
    for (int i = 0; i <= s.furthest; ++i) {
      block_[i] = block_bytes(machine, static_cast<Level>(i), s.threads, available);
      largest_ = std::max(largest_, block_[i]);
    }
    rates_.threads = s.threads;
    add_arithmetic();
    for (int i = 0; i <= s.furthest; ++i)
      if (block_[i] > 0) add_bandwidth(block_[i], &rates_.bandwidth[static_cast<size_t>(i)]);
  }

  target::Rates run() {
    const Buffer buffer(std::max<uint64_t>(largest_, 1) * settings_.threads);
    for (Figure& f : figures_) calibrate(&f, buffer.data());
    const double steps = static_cast<double>(figures_.size()) * settings_.rounds;
    double step = 0;
    for (int round = 0; round < settings_.rounds; ++round) {
      for (Figure& f : figures_) {
        f.samples.push_back(once(f, buffer.data()).first);
        if (settings_.progress) settings_.progress(f.what, ++step / steps);
      }
    }
    for (const Figure& f : figures_) *f.out = settings_.best ? best(f) : median(f.samples);
    note_noise();
    return rates_;
  }

 private:
  using Probe = uint64_t (*)(uint32_t, float*) noexcept;

  static double best(const Figure& f) { return *std::max_element(f.samples.begin(), f.samples.end()); }

  // Arithmetic in registers takes the same time every round unless something else runs.
  void note_noise() {
    for (size_t i = 0; i < 2 && settings_.noise != nullptr; ++i)
      *settings_.noise = std::max(*settings_.noise, best(figures_[i]) / median(figures_[i].samples));
  }

  void add_arithmetic() {
    const auto add = [&](const char* what, Probe probe, double* out) {
      figures_.push_back(
          {what, [probe](Slot& s, uint8_t*, uint64_t, uint64_t n) { return probe(static_cast<uint32_t>(n) * 64, s.sink); }, out});
    };
    add("f32 arithmetic", probes_.fma_f32, &rates_.f32_gflops);
    add("int8 arithmetic", probes_.dot_s8, &rates_.int8_gops);
  }

  // Chunk after chunk of the block, from where the last round ended.
  void add_bandwidth(uint64_t block, target::Bandwidth* out) {
    const uint64_t chunks = (block + kChunk - 1) / kChunk, chunk = block / chunks / kBlockUnit * kBlockUnit;
    const auto add = [&](auto pass, double* to) {
      figures_.push_back({"memory",
                          [=](Slot& s, uint8_t* memory, uint64_t first, uint64_t n) {
                            for (uint64_t i = first; i < first + n; ++i) pass(s, memory, i % chunks * chunk);
                            return n * chunk;
                          },
                          to});
    };
    const kernels::Probes p = probes_;
    add([=](Slot& s, uint8_t* m, uint64_t at) { p.read(m + at, chunk, s.sink); }, &out->read);
    add([=](Slot&, uint8_t* m, uint64_t at) { p.write(m + at, chunk); }, &out->write);
    add([=](Slot&, uint8_t* m, uint64_t at) { p.copy(m + at / 2, m + (block + at) / 2, chunk / 2); }, &out->copy);
  }

  // Amount per ns, and ns.
  std::pair<double, double> once(Figure& f, uint8_t* memory) {
    const Team::Times t = team_.run([&](uint32_t thread) {
      Slot& slot = slots_[thread];
      slot.amount = f.work(slot, memory + thread * largest_, f.done, f.repeats);
    });
    f.done += f.repeats;
    double amount = 0;
    for (const Slot& s : slots_) amount += static_cast<double>(s.amount);
    const double ns = std::max(t.work_ns, 1.0);
    return {amount / ns, ns};
  }

  // As many repeats as make a round; the first ones also bring the data near.
  void calibrate(Figure* f, uint8_t* memory) {
    const double wanted = settings_.round_ms * 1e6;
    for (double ns = once(*f, memory).second; ns < wanted / 2 && f->repeats < kMostRepeats; ns = once(*f, memory).second)
      f->repeats = static_cast<uint64_t>(static_cast<double>(f->repeats) * std::clamp(wanted / ns, 1.5, 100.0)) + 1;
  }

  static constexpr uint64_t kMostRepeats = 1u << 22;

  const MeasureSettings& settings_;
  kernels::Probes probes_;
  Team team_;
  std::vector<Slot> slots_;
  uint64_t block_[target::kLevelCount] = {}, largest_ = 0;
  target::Rates rates_;
  std::vector<Figure> figures_;
};

// Read bandwidth of blocks from 8 KiB to 64 MiB, two sizes to an octave.
std::vector<std::pair<uint64_t, double>> sweep(kernels::Isa isa) {
  const kernels::Probes p = probes_of(isa);
  const Buffer buffer(64 * kMegabyte);
  Slot slot;
  std::vector<std::pair<uint64_t, double>> all;
  for (uint64_t size = 8192; size <= 64 * kMegabyte; size = all.size() % 2 == 1 ? size / 2 * 3 : size / 3 * 4) {
    std::vector<double> samples;
    for (int round = 0; round < 5; ++round) {
      const uint64_t passes = 2 * kMegabyte / size + 1, begin = clock_now_ns();
      for (uint64_t i = 0; i < passes; ++i) p.read(buffer.data(), size, slot.sink);
      samples.push_back(static_cast<double>(passes * size) / static_cast<double>(std::max<uint64_t>(1, clock_now_ns() - begin)));
    }
    all.push_back({size, median(samples)});
  }
  return all;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<uint64_t> cache_knees(const std::vector<std::pair<uint64_t, double>>& bandwidth) {
  std::vector<uint64_t> knees;
  double plateau = 0;
  for (size_t i = 0; i < bandwidth.size(); ++i) {
    const double rate = bandwidth[i].second;
    if (rate >= 0.75 * plateau) {
      plateau = std::max(plateau, rate);
      continue;
    }
    if (knees.size() < 3) knees.push_back(bandwidth[i - 1].first);
    // The next plateau begins where the fall ends.
    while (i + 1 < bandwidth.size() && bandwidth[i + 1].second < 0.9 * bandwidth[i].second) ++i;
    plateau = bandwidth[i].second;
  }
  return knees;
}

target::Target describe_target(kernels::Isa isa) {
  const Machine m = describe_machine();
  target::Target t;
  t.cpu = m.cpu;
  t.architecture = m.architecture;
  t.kernels = kernels::isa_name(isa);
  t.cores = m.cores;
  t.cache_bytes = m.cache_bytes;
  t.cache_source = "system";
  if (m.cache_bytes[0] > 0) return t;
  const std::vector<uint64_t> knees = cache_knees(sweep(isa));
  std::copy(knees.begin(), knees.end(), t.cache_bytes.begin());
  t.cache_source = knees.empty() ? "unknown" : "measured";
  return t;
}

target::Rates measure_rates(const target::Target& machine, const MeasureSettings& settings) { return RateMeter(machine, settings).run(); }

}  // namespace mote::tools
