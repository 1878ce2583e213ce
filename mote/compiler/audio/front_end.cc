#include "mote/compiler/audio/front_end.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

#include "mote/compiler/target/toml.h"

namespace mote::audio {
namespace {

// What the features of TensorFlow Lite Micro's front end are, in units of 1 / 25.6 as its models are trained with them.
constexpr const char kMicro[] = R"([frames]
rate = 16000
window = 480
step = 320
shape = "hann-centred"
[bands]
count = 40
low = 125
high = 7500
sum = "power"
[noise]
even_smoothing = 0.025
odd_smoothing = 0.06
least = 0.05
[gain]
strength = 0.95
offset = 80
[log]
factor = 2.5
offset = 15.595811563
clip_low = 0
)";

constexpr const char kMfcc[] = R"([frames]
rate = 16000
window = 480
step = 320
shape = "hann-periodic"
[bands]
count = 40
low = 20
high = 4000
sum = "magnitude"
[log]
floor = 0.000001
[cepstrum]
count = 10
)";

// 10 * log10(power / window) as MLPerf Tiny's wake word has it, moved and scaled into 0..1.
constexpr const char kLfbe[] = R"([frames]
rate = 16000
window = 1024
step = 512
shape = "hamming-symmetric"
preemphasis = 0.96875
[bands]
count = 40
low = 0
high = 8000
sum = "power"
[log]
factor = 0.13571681
offset = 0.34214063
clip_low = 0
clip_high = 1
)";

struct Named {
  const char *name, *text;
};
constexpr Named kNamed[] = {{"micro", kMicro}, {"mfcc", kMfcc}, {"lfbe", kLfbe}};

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", v);
  return text;
}

class Reader {
 public:
  Reader(FrontEnd* out, std::string* error) : f_(*out), error_(*error) {
    integer("frames.rate", &f_.rate, 1000, 1000000);
    integer("frames.window", &f_.window, 8, 1 << 14);
    integer("frames.step", &f_.step, 1, 1 << 20);
    words(
        "frames.shape", [this](const std::string& s) { return shape(s); },
        "hann, hamming or rectangle, with -periodic (default), -symmetric or -centred behind it");
    real("frames.preemphasis", &f_.preemphasis, 0, 1);
    integer("bands.count", &f_.bands, 1, 1024);
    real("bands.low", &f_.low, 0, 500000);
    real("bands.high", &f_.high, 0, 500000);
    words(
        "bands.sum", [this](const std::string& s) { return (f_.magnitude = s == "magnitude") || s == "power"; }, "power or magnitude");
    real("noise.even_smoothing", &f_.even_smoothing, 0, 1);
    real("noise.odd_smoothing", &f_.odd_smoothing, 0, 1);
    real("noise.least", &f_.least, 0, 1);
    real("gain.strength", &f_.strength, 1e-4, 2);
    real("gain.offset", &f_.offset, 0, 1e6);
    real("log.factor", &f_.factor, -1e6, 1e6);
    real("log.offset", &f_.bias, -1e6, 1e6);
    real("log.floor", &f_.floor, 0, 1e6);
    real("log.clip_low", &f_.clip_low, -1e6, 1e6);
    real("log.clip_high", &f_.clip_high, -1e6, 1e6);
    integer("cepstrum.count", &f_.cepstra, 1, 1024);
    words(
        "cepstrum.norm", [this](const std::string& s) { return (f_.orthogonal = s == "ortho") || s == "htk"; }, "htk or ortho");
    words(
        "output.input", [this](const std::string& t) { return !(f_.input = t).empty(); }, "the name of an input");
    words(
        "output.order", [this](const std::string& s) { return (f_.time_last = s == "time-last") || s == "time-first"; },
        "time-first or time-last");
  }

  bool read(const std::vector<target::TomlEntry>& entries) {
    for (const target::TomlEntry& e : entries) {
      const std::string key = e.table.empty() ? e.key : e.table + "." + e.key;
      if (e.table == "noise") f_.noise = true;
      if (e.table == "gain") f_.gain = true;
      const auto known = keys_.find(key);
      if (known == keys_.end()) return fail(e, "no such key: expected one of " + names() + ", found '" + key + "'");
      if (!known->second(e)) return false;
    }
    return consistent();
  }

 private:
  using Take = std::function<bool(const target::TomlEntry&)>;

  bool fail(const target::TomlEntry& e, const std::string& what) {
    error_ = "line " + std::to_string(e.line) + ": " + what;
    return false;
  }
  std::string names() const {
    std::string all;
    for (const auto& [name, take] : keys_) all += (all.empty() ? "" : ", ") + name;
    return all;
  }
  void real(const std::string& key, double* out, double least, double most) {
    keys_[key] = [=](const target::TomlEntry& e) {
      if (e.is_string || !(e.number >= least && e.number <= most))
        return fail(e, key + ": expected a number from " + number(least) + " to " + number(most) + ", found " +
                           (e.is_string ? "'" + e.string + "'" : number(e.number)));
      *out = e.number;
      return true;
    };
  }
  void integer(const std::string& key, int32_t* out, int32_t least, int32_t most) {
    keys_[key] = [=](const target::TomlEntry& e) {
      if (e.is_string || !(e.number >= least && e.number <= most) || e.number != std::floor(e.number))
        return fail(e, key + ": expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", found " +
                           (e.is_string ? "'" + e.string + "'" : number(e.number)));
      *out = static_cast<int32_t>(e.number);
      return true;
    };
  }
  void words(const std::string& key, const std::function<bool(const std::string&)>& take, const std::string& expected) {
    keys_[key] = [=](const target::TomlEntry& e) {
      return (e.is_string && take(e.string)) ||
             fail(e, key + ": expected \"" + expected + "\", found " + (e.is_string ? "'" + e.string + "'" : number(e.number)));
    };
  }
  bool shape(const std::string& text) {
    static const std::map<std::string, Shape> kShapes = {
        {"hann", Shape::kHann}, {"hamming", Shape::kHamming}, {"rectangle", Shape::kRectangle}};
    static const std::map<std::string, Phase> kPhases = {
        {"periodic", Phase::kPeriodic}, {"symmetric", Phase::kSymmetric}, {"centred", Phase::kCentred}};
    const size_t dash = text.find('-');
    const auto s = kShapes.find(text.substr(0, dash));
    const auto p = kPhases.find(dash == std::string::npos ? "periodic" : text.substr(dash + 1));
    if (s == kShapes.end() || p == kPhases.end()) return false;
    f_.shape = s->second;
    f_.phase = p->second;
    return true;
  }
  bool consistent() {
    if (f_.high <= f_.low || f_.high > f_.rate / 2.0) {
      error_ =
          "bands.high: expected more than bands.low and at most half the rate (" + number(f_.rate / 2.0) + "), found " + number(f_.high);
      return false;
    }
    if (f_.gain && !f_.noise) {
      error_ = "[gain] divides by the noise that [noise] estimates: expected both tables, found [gain] alone";
      return false;
    }
    if (f_.cepstra > f_.bands) {
      error_ = "cepstrum.count: expected at most bands.count (" + std::to_string(f_.bands) + "), found " + std::to_string(f_.cepstra);
      return false;
    }
    if (f_.factor == 0 || f_.clip_low >= f_.clip_high) {
      error_ = "[log]: expected a factor other than 0 and clip_low below clip_high";
      return false;
    }
    return true;
  }

  FrontEnd& f_;
  std::string& error_;
  std::map<std::string, Take> keys_;
};

}  // namespace

int32_t FrontEnd::fft_size() const {
  int32_t size = 8;
  while (size < window) size *= 2;
  return size;
}

const char* front_end_text(const std::string& name) {
  for (const Named& n : kNamed)
    if (name == n.name) return n.text;
  return nullptr;
}

std::string front_end_names() {
  std::string all;
  for (const Named& n : kNamed) all += (all.empty() ? "" : ", ") + std::string(n.name);
  return all;
}

bool parse_front_end(const std::vector<std::string>& texts, FrontEnd* out, std::string* error) {
  std::vector<target::TomlEntry> entries;
  for (const std::string& text : texts) {
    std::vector<target::TomlEntry> more;
    if (!target::parse_toml(text, &more, error)) return false;
    entries.insert(entries.end(), more.begin(), more.end());
  }
  FrontEnd f;
  if (!Reader(&f, error).read(entries)) return false;
  *out = f;
  return true;
}

}  // namespace mote::audio
