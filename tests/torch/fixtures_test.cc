// Small exported programs (fixtures.py makes them) through the compiler and the runtime, against PyTorch's own results.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "mote/api/mote.hpp"
#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "mote/compiler/frontends/torch/archive.h"
#include "mote/tools/files.h"
#include "mote/tools/npy.h"
#include "mote/tools/quantize_islands.h"

namespace mote {
namespace {

std::string folder_of(const std::string& fixture) { return std::string(MOTE_SOURCE_DIR) + "/tests/torch/fixtures/" + fixture; }

frontends::Source source_of(const std::string& fixture) {
  std::vector<uint8_t> bytes;
  std::string error;
  EXPECT_TRUE(tools::read_whole_file(folder_of(fixture) + "/model.pt2", &bytes, &error)) << error;
  frontends::Source s;
  s.path = fixture + ".pt2";
  s.bytes = ir::Bytes::own(std::move(bytes));
  return s;
}

std::vector<driver::Array> arrays_of(const std::string& fixture, const char* kind) {
  std::vector<driver::Array> out;
  std::string error;
  for (driver::Array a; tools::read_npy(folder_of(fixture) + "/" + kind + "_" + std::to_string(out.size()) + ".npy", &a, &error);)
    out.push_back(std::move(a));
  return out;
}

std::string texts_of(const ir::Problems& problems) {
  std::string out;
  for (const ir::Problem& p : problems) out += p.where + ": " + p.what + "\n";
  return out;
}

void expect_as_torch(const std::string& fixture, double tolerance, const driver::CompileOptions& options = {}) {
  SCOPED_TRACE(fixture);
  driver::CompileResult compiled;
  ir::Problems problems;
  ASSERT_TRUE(driver::compile(source_of(fixture), options, &compiled, &problems)) << texts_of(problems);
  EXPECT_EQ(compiled.frontend, "torch");
  driver::HostProgram program;
  std::string error;
  std::vector<driver::Array> found;
  ASSERT_TRUE(program.open(compiled.file.span(), {}, {}, &error)) << error;
  ASSERT_TRUE(program.run(0, arrays_of(fixture, "in"), &found, &error)) << error;
  const std::vector<driver::Array> expected = arrays_of(fixture, "out");
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const driver::Difference d = driver::difference(found[i], expected[i]);
    EXPECT_TRUE(d.same_type) << "output " << i << ": " << driver::type_text(found[i].dtype, found[i].dims) << ", expected "
                             << driver::type_text(expected[i].dtype, expected[i].dims);
    EXPECT_TRUE(d.within(tolerance)) << "output " << i << " differs by " << d.largest_error;
  }
}

TEST(TorchFixtures, GiveWhatTorchGives) {
  for (const char* f : {"conv", "cache", "cache_decomposed", "choose", "repeat", "found", "lstm", "quantized_rows"})
    expect_as_torch(f, 1e-5);
}

TEST(TorchFixtures, QuantizedGraphsBecomeIntegerOperators) {
  expect_as_torch("quantized", 0.02);
  driver::CompileOptions options;
  options.passes.print_after = {"program"};
  driver::CompileResult compiled;
  ir::Problems problems;
  ASSERT_TRUE(driver::compile(source_of("quantized"), options, &compiled, &problems));
  EXPECT_NE(compiled.log.find("q_matmul"), std::string::npos);
}

// A model trained with quantization: its ranges give PyTorch's numbers, up to a rounding of ties, and integers go all the way through.
TEST(TorchFixtures, TrainedQuantizationKeepsItsRanges) {
  expect_as_torch("pt2e_qat", 0.02);
  driver::CompileResult compiled;
  ir::Problems problems;
  ASSERT_TRUE(driver::compile(source_of("pt2e_qat"), {}, &compiled, &problems));
  driver::HostProgram program;
  std::string error;
  ASSERT_TRUE(program.open(compiled.file.span(), {}, {}, &error)) << error;
  std::map<OpId, int> ops;
  for (const Instruction& n : program.program().table().instructions) ++ops[static_cast<OpId>(n.op)];
  EXPECT_EQ(ops[OpId::q_conv], 3);
  EXPECT_EQ(ops[OpId::q_matmul], 1);
  EXPECT_EQ(ops[OpId::quantize], 1) << "the input alone";
  EXPECT_EQ(ops[OpId::conv] + ops[OpId::matmul] + ops[OpId::add], 0);
  EXPECT_TRUE(tools::float_islands(program.program().table()).empty());
}

TEST(TorchFixtures, StatesGoFromRunToRun) {
  for (const char* fixture : {"cache", "cache_decomposed"}) {
    SCOPED_TRACE(fixture);
    driver::CompileResult compiled;
    ir::Problems problems;
    ASSERT_TRUE(driver::compile(source_of(fixture), {}, &compiled, &problems)) << texts_of(problems);
    auto model = Model::load(compiled.file.span().data, compiled.file.span().size);
    ASSERT_TRUE(model) << model.error().message;
    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    std::vector<float> cache(24);
    std::vector<int64_t> count(1);
    for (int run = 1; run <= 3; ++run) {
      const std::vector<int64_t> at{run - 1};
      const Error error = model->run({input_view(x), input_view(at)}, {output_view(cache), output_view(count)});
      ASSERT_FALSE(error) << error.message;
      EXPECT_EQ(count[0], run);
    }
    // Rows 1 and 2 of the first batch: x is added to both three times; the runs put x itself into rows 0, 1 and 2 on the way.
    EXPECT_EQ(std::vector<float>(cache.begin(), cache.begin() + 12), (std::vector<float>{2, 4, 6, 4, 8, 12, 2, 4, 6, 0, 0, 0}));
  }
}

TEST(TorchFixtures, AnOpenBatchIsOneUnlessARangeIsGiven) {
  ir::Problems problems;
  driver::CompileResult compiled;
  ASSERT_TRUE(driver::compile(source_of("open"), {}, &compiled, &problems)) << texts_of(problems);
  driver::CompileOptions options;
  options.import.dims["x.0"] = {1, 4};
  expect_as_torch("open", 1e-5, options);
}

TEST(TorchFixtures, EverythingUnsupportedIsNamedWithModuleAndLine) {
  ir::Problems problems;
  driver::CompileResult compiled;
  ASSERT_FALSE(driver::compile(source_of("unsupported"), {}, &compiled, &problems));
  ASSERT_GE(problems.size(), 2u) << texts_of(problems);
  for (const ir::Problem& p : problems) EXPECT_NE(p.where.find("fixtures.py:"), std::string::npos) << p.where;
}

TEST(TorchFixtures, DamagedFilesAreRefused) {
  const frontends::Source whole = source_of("conv");
  for (size_t cut = 1; cut < whole.bytes.size; cut += 97) {
    frontends::Source s = whole;
    s.bytes.size -= cut;
    driver::CompileResult compiled;
    ir::Problems problems;
    EXPECT_FALSE(driver::compile(s, {}, &compiled, &problems));
  }
}

// Numbers, names and structure of a program changed at random: problems or a program, never a crash.
class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  void apply(std::string* json) {
    for (uint64_t n = 1 + random_.next() % 3; n > 0; --n) {
      switch (random_.next() % 4) {
        case 0: replace_number(json); break;
        case 1: exchange_strings(json); break;
        case 2: json->erase(place(*json), 1 + random_.next() % 20); break;
        default: (*json)[place(*json)] = static_cast<char>(32 + random_.next() % 95); break;
      }
    }
  }

 private:
  size_t place(const std::string& json) { return random_.next() % json.size(); }

  void replace_number(std::string* json) {
    const char* const kNumbers[] = {"0",     "-1",     "1", "2", "3", "7", "100", "2147483647", "-2147483648", "9223372036854775807",
                                    "1e300", "\"NaN\""};
    const size_t at = json->find_first_of("0123456789", place(*json));
    if (at == std::string::npos) return;
    const size_t end = json->find_first_not_of("0123456789", at);
    json->replace(at, end - at, kNumbers[random_.next() % 12]);
  }

  // Puts a string in the place of another: names of tensors, operators and arguments get mixed up.
  void exchange_strings(std::string* json) {
    const std::string word = string_at(*json, place(*json));
    const size_t at = json->find('"', place(*json));
    const size_t end = at == std::string::npos ? at : json->find('"', at + 1);
    if (end != std::string::npos && !word.empty()) json->replace(at, end + 1 - at, word);
  }

  static std::string string_at(const std::string& json, size_t from) {
    const size_t at = json.find('"', from), end = at == std::string::npos ? at : json.find('"', at + 1);
    return end == std::string::npos ? "" : json.substr(at, end + 1 - at);
  }

  driver::Random random_;
};

TEST(TorchFixtures, DamagedProgramsNeverCrash) {
  size_t compiled_count = 0, refused = 0;
  for (const char* fixture :
       {"conv", "cache", "cache_decomposed", "choose", "repeat", "found", "lstm", "quantized", "quantized_rows", "pt2e_qat"}) {
    frontends::torch::ExportedModel whole;
    ir::Problems problems;
    ASSERT_TRUE(frontends::torch::read_archive(source_of(fixture), &whole, &problems)) << texts_of(problems);
    for (uint64_t seed = 0; seed < 150; ++seed) {
      frontends::torch::ExportedModel model = whole;
      Damage(seed).apply(&model.methods[0].json);
      frontends::Source source;
      source.path = fixture;
      source.format = "torch";
      source.import = [&](const frontends::ImportOptions& o, ir::Graph& g, ir::Problems* p) {
        return frontends::torch::import_exported(model, o, g, p);
      };
      driver::CompileOptions options;
      options.golden.count = 0;
      driver::CompileResult compiled;
      problems.clear();
      const bool fine = driver::compile(source, options, &compiled, &problems);
      EXPECT_NE(fine, !problems.empty());
      ++(fine ? compiled_count : refused);
    }
  }
  EXPECT_GT(compiled_count, 100u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace mote
