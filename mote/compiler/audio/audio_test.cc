// Programs that take samples: their features against floating point, streaming against all at once, what is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "mote/compiler/audio/attach.h"
#include "mote/compiler/audio/tables.h"
#include "mote/compiler/driver/compile.h"
#include "mote/compiler/ir/builder.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::audio {
namespace {

constexpr double kPi = 3.14159265358979323846;

FrontEnd named(const std::string& name, const std::string& more = "") {
  FrontEnd f;
  std::string error;
  EXPECT_TRUE(parse_front_end({front_end_text(name), more}, &f, &error)) << error;
  return f;
}

// A voice of sorts: tones that glide, pauses, some noise. Whole numbers alone, so that it is the same everywhere.
std::vector<int16_t> sound(int32_t count) {
  std::vector<int16_t> x;
  uint32_t noise = 1, phase = 0;
  for (int32_t i = 0; i < count; ++i) {
    noise = noise * 1664525 + 1013904223;
    phase += 53687091 + 134218 * static_cast<uint32_t>(i % 5000);  // 200 Hz and more
    const int32_t saw = static_cast<int32_t>(phase) >> 16, triangle = (saw < 0 ? -saw : saw) - 16384;
    x.push_back(static_cast<int16_t>(triangle / (i / 3000 % 2 == 0 ? 3 : 100) + static_cast<int32_t>(noise >> 25) - 64));
  }
  return x;
}

// A model whose output is its input, and that adds up its inputs where `stateful`.
frontends::Source model(const ir::Dims& dims, DType dtype, std::optional<ir::QuantNote> quant, bool stateful = false) {
  frontends::Source s;
  s.format = "test";
  s.import = [=](const frontends::ImportOptions&, ir::Graph& g, ir::Problems*) {
    ir::Method& m = g.add_method("main");
    ir::Value* x = g.add_input(m, "features", dtype, dims);
    x->quant = quant;
    ir::NodeBuilder b(g, *m.block, "node");
    ir::Value* y = b.op(OpId::copy, {x});
    if (stateful) {
      ir::Value* total = g.add_state("total", dtype, dims);
      y = b.op(OpId::add, {total, y});
      g.add_node(*m.block, ir::kAssign, nullptr, 0, {total, y}, 0, "keep");
    }
    g.add_output(m, "y", y);
    return b.ok();
  };
  return s;
}

std::unique_ptr<runtest::Loaded> compiled(const frontends::Source& source, const FrontEnd& f, const AttachOptions& how,
                                          std::string* error) {
  driver::CompileOptions o;
  o.attach = [&](ir::Graph& g, std::string* e) { return attach(g, f, how, e); };
  driver::CompileResult r;
  ir::Problems problems;
  if (!driver::compile(source, o, &r, &problems)) {
    for (const ir::Problem& p : problems) *error += p.where + ": " + p.what + "\n";
    return nullptr;
  }
  auto program = std::make_unique<runtest::Loaded>(r.file);
  EXPECT_TRUE(program->status.ok());
  return program;
}

template <class T>
std::vector<T> run(runtest::Loaded& program, const std::vector<int16_t>& samples) {
  std::vector<std::vector<uint8_t>> out;
  EXPECT_TRUE(program.run(0, {runtest::bytes_of(samples)}, &out).ok());
  return out.empty() ? std::vector<T>{} : runtest::values_of<T>(out[0]);
}

// What a front end means, in floating point.
std::vector<double> reference(const FrontEnd& f, const std::vector<int16_t>& x, int32_t frames) {
  const int32_t size = f.fft_size();
  const auto mel = [](double hertz) { return 1127 * std::log1p(hertz / 700); };
  const double low = mel(f.low), step = (mel(f.high) - low) / (f.bands + 1);
  std::vector<double> out, noise(static_cast<size_t>(f.bands), 0.0);
  for (int32_t t = 0; t < frames; ++t) {
    std::vector<double> v;
    for (int32_t i = 0; i < f.window; ++i) {
      const int32_t at = t * f.step + i;
      const double c =
          std::cos(2 * kPi * (i + (f.phase == Phase::kCentred ? 0.5 : 0)) / (f.phase == Phase::kSymmetric ? f.window - 1 : f.window));
      const double w = f.shape == Shape::kHann ? 0.5 - 0.5 * c : 0.54 - 0.46 * c;
      v.push_back(w * (x[static_cast<size_t>(at)] - f.preemphasis * (at > 0 ? x[static_cast<size_t>(at - 1)] : 0)));
    }
    std::vector<double> bands(static_cast<size_t>(f.bands), 0.0);
    for (int32_t k = 1; k <= size / 2; ++k) {
      std::complex<double> sum = 0;
      for (int32_t i = 0; i < f.window; ++i) sum += v[static_cast<size_t>(i)] * std::polar(1.0, -2 * kPi * k * i / size);
      for (int32_t n = 0; n < f.bands; ++n) {
        const double at = (mel(static_cast<double>(f.rate) * k / size) - low) / step - n, w = std::max(0.0, std::min(at, 2 - at));
        bands[static_cast<size_t>(n)] += w * (f.magnitude ? std::abs(sum) : std::norm(sum));
      }
    }
    for (int32_t n = 0; n < f.bands; ++n) {
      double& b = bands[static_cast<size_t>(n)];
      if (!f.magnitude) b = std::sqrt(b);
      if (f.noise) {
        double& estimate = noise[static_cast<size_t>(n)];
        const double s = n % 2 == 0 ? f.even_smoothing : f.odd_smoothing;
        estimate = s * b + (1 - s) * estimate;
        b = std::max(b - std::min(b, estimate), b * f.least);
        const double ratio = b * std::pow(estimate + f.offset, -f.strength);
        b = f.gain ? (ratio < 2 ? ratio * ratio / 4 : ratio - 1) : b / 32768;
      } else {
        b /= 32768;
      }
      b = std::min(f.clip_high, std::max(f.clip_low, f.factor * std::log(b + f.floor + 1e-7) + f.bias));
    }
    if (f.cepstra == 0) out.insert(out.end(), bands.begin(), bands.end());
    for (int32_t k = 0; k < f.cepstra; ++k) {
      double sum = 0;
      for (int32_t n = 0; n < f.bands; ++n)
        sum += bands[static_cast<size_t>(n)] * std::sqrt(2.0 / f.bands) * std::cos(kPi * k * (n + 0.5) / f.bands);
      out.push_back(sum);
    }
  }
  return out;
}

struct Case {
  const char* name;
  float scale;
  int32_t zero;
  double tolerance;  // of a mean difference, in steps
};
constexpr Case kCases[] = {{"micro", 26.0f / 255, -128, 1.0}, {"mfcc", 0.5847f, 83, 0.5}, {"lfbe", 1.0f / 256, -128, 0.6}};

TEST(FrontEnd, FeaturesAgreeWithFloatingPoint) {
  for (const Case& c : kCases) {
    const FrontEnd f = named(c.name);
    const int32_t frames = 12;
    const auto x = sound(f.window + (frames - 1) * f.step);
    std::string error;
    const auto program = compiled(model({1, frames, f.features()}, DType::s8, ir::QuantNote{c.scale, c.zero}), f, {}, &error);
    ASSERT_TRUE(program) << error;
    const auto found = run<int8_t>(*program, x);
    const auto expected = reference(f, x, frames);
    ASSERT_EQ(found.size(), expected.size());
    double sum = 0;
    for (size_t i = 0; i < found.size(); ++i)
      sum += std::fabs(found[i] - std::min(127.0, std::max(-128.0, expected[i] / static_cast<double>(c.scale) + c.zero)));
    EXPECT_LT(sum / static_cast<double>(found.size()), c.tolerance) << c.name;
  }
}

// Bits that may never change: models were trained with them, and boards give the same.
TEST(FrontEnd, GoldenFeatures) {
  constexpr uint32_t kGolden[] = {185588310u, 3449582805u, 186350210u};
  for (size_t i = 0; i < 3; ++i) {
    const FrontEnd f = named(kCases[i].name);
    std::string error;
    const auto program = compiled(model({8, f.features()}, DType::s8, ir::QuantNote{kCases[i].scale, kCases[i].zero}), f, {}, &error);
    ASSERT_TRUE(program) << error;
    uint32_t hash = 2166136261u;
    for (const int8_t v : run<int8_t>(*program, sound(f.window + 7 * f.step))) hash = (hash ^ static_cast<uint8_t>(v)) * 16777619u;
    EXPECT_EQ(hash, kGolden[i]) << kCases[i].name;
  }
}

// Step by step, after silence, is the same as all at once with silence in front.
TEST(Streaming, IsTheSameAsAllAtOnce) {
  for (const Case& c : kCases) {
    const FrontEnd f = named(c.name);
    const int32_t frames = 6, steps = 9;
    const auto source = model({1, frames, f.features()}, DType::s8, ir::QuantNote{c.scale, c.zero});
    const auto whole_source = model({1, steps, f.features()}, DType::s8, ir::QuantNote{c.scale, c.zero});
    AttachOptions streaming;
    streaming.streaming = true;
    std::string error;
    const auto stream = compiled(source, f, streaming, &error), whole = compiled(whole_source, f, {}, &error);
    ASSERT_TRUE(stream && whole) << error;
    const auto x = sound(steps * f.step);
    std::vector<int16_t> padded(static_cast<size_t>(f.window - f.step));
    padded.insert(padded.end(), x.begin(), x.end());
    const auto expected = run<int8_t>(*whole, padded);
    for (int round = 0; round < 2; ++round) {
      std::vector<int8_t> found;
      for (int32_t i = 0; i < steps; ++i) found = run<int8_t>(*stream, {x.begin() + i * f.step, x.begin() + (i + 1) * f.step});
      EXPECT_EQ(found, std::vector<int8_t>(expected.end() - frames * f.features(), expected.end())) << c.name << " round " << round;
      stream->instance.reset_state();
    }
  }
}

// The network runs every third time; in between its outputs stay.
TEST(Streaming, TheNetworkRunsWhenDue) {
  const FrontEnd f = named("micro", "[frames]\nstep = 160\n");
  for (const bool stateful : {false, true}) {
    const auto source = model({1, 3, 40}, DType::s16, ir::QuantNote{1.0f, 0}, stateful);
    AttachOptions all, some;
    all.streaming = some.streaming = true;
    all.every = 1;
    some.every = stateful ? 0 : 3;  // a model with states takes each frame once
    std::string error;
    const auto often = compiled(model({1, 3, 40}, DType::s16, ir::QuantNote{1.0f, 0}), f, all, &error),
               seldom = compiled(source, f, some, &error);
    ASSERT_TRUE(often && seldom) << error;
    const auto x = sound(160 * 12);
    std::vector<int16_t> expected(120, 0);
    for (int32_t i = 0; i < 12; ++i) {
      const std::vector<int16_t> step(x.begin() + i * 160, x.begin() + (i + 1) * 160);
      const auto now = run<int16_t>(*often, step);
      if (i % 3 == 2)
        for (size_t k = 0; k < now.size(); ++k) expected[k] = static_cast<int16_t>(now[k] + (stateful ? expected[k] : 0));
      EXPECT_EQ(run<int16_t>(*seldom, step), expected) << i;
    }
  }
}

TEST(FrontEnd, FloatModelsGetRealNumbers) {
  const FrontEnd f = named("mfcc");
  const auto x = sound(f.window + 3 * f.step);
  std::string error;
  const auto program = compiled(model({1, 4, 10, 1}, DType::f32, std::nullopt), f, {}, &error);
  ASSERT_TRUE(program) << error;
  const auto found = run<float>(*program, x);
  const auto expected = reference(f, x, 4);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(static_cast<double>(found[i]), expected[i], 0.05) << i;
}

TEST(FrontEnd, TimeMayComeLast) {
  const FrontEnd first = named("micro"), last = named("micro", "[output]\norder = \"time-last\"\n");
  const auto x = sound(first.window + first.step);
  std::string error;
  const auto a = compiled(model({1, 2, 40}, DType::s8, ir::QuantNote{0.1f, -128}), first, {}, &error);
  const auto b = compiled(model({1, 40, 2}, DType::s8, ir::QuantNote{0.1f, -128}), last, {}, &error);
  ASSERT_TRUE(a && b) << error;
  const auto rows = run<int8_t>(*a, x), columns = run<int8_t>(*b, x);
  for (size_t n = 0; n < 40; ++n)
    for (size_t t = 0; t < 2; ++t) EXPECT_EQ(rows[t * 40 + n], columns[n * 2 + t]);
}

TEST(FrontEnd, SaysWhatDoesNotFit) {
  const FrontEnd f = named("micro");
  const auto why = [](const frontends::Source& s, const FrontEnd& how) {
    std::string error;
    EXPECT_EQ(compiled(s, how, {}, &error), nullptr);
    return error;
  };
  EXPECT_NE(why(model({1, 41}, DType::s8, ir::QuantNote{0.1f, 0}), f).find("frames of 40 features"), std::string::npos);
  EXPECT_NE(why(model({1, 40}, DType::s8, std::nullopt), f).find("without a scale"), std::string::npos);
  EXPECT_NE(why(model({1, 40}, DType::s32, ir::QuantNote{0.1f, 0}), f).find("expected f32, s8, u8 or s16"), std::string::npos);
  EXPECT_NE(why(model({40000, 40}, DType::s8, ir::QuantNote{0.1f, 0}), f).find("longer than"), std::string::npos);
  const FrontEnd other = named("micro", "[output]\ninput = \"sound\"\n");
  EXPECT_NE(why(model({1, 40}, DType::s8, ir::QuantNote{0.1f, 0}), other).find("expected one of features, found 'sound'"),
            std::string::npos);
}

TEST(FrontEnd, DescriptionsAreChecked) {
  const auto error = [](const std::string& text) {
    FrontEnd f;
    std::string e;
    return parse_front_end({text}, &f, &e) ? std::string("none") : e;
  };
  EXPECT_EQ(error(""), "none");
  EXPECT_NE(error("[frames]\nrate = 5").find("line 2: frames.rate: expected a whole number from 1000"), std::string::npos);
  EXPECT_NE(error("[frames]\nshape = \"round\"").find("hann, hamming or rectangle"), std::string::npos);
  EXPECT_NE(error("[frames]\nwidth = 5").find("no such key"), std::string::npos);
  EXPECT_NE(error("[bands]\nhigh = 9000").find("at most half the rate (8000)"), std::string::npos);
  EXPECT_NE(error("[bands]\nhigh = 10").find("more than bands.low"), std::string::npos);
  EXPECT_NE(error("[gain]\nstrength = 0.5").find("expected both tables"), std::string::npos);
  EXPECT_NE(error("[cepstrum]\ncount = 41").find("at most bands.count"), std::string::npos);
  EXPECT_NE(error("[log]\nfactor = 0").find("other than 0"), std::string::npos);
  EXPECT_NE(error("[frames]\nwindow = \"wide\"").find("found 'wide'"), std::string::npos);
  EXPECT_NE(error("[frames\n").find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace mote::audio
