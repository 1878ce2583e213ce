// What programs are run on, from the command line: --input everywhere, labels, images, backends; and packages that say otherwise.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "mote/api/testing/programs.h"
#include "mote/tools/npy.h"
#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

// y (2, 3) = x k, m = n + n: inputs of several, of one and of no dimension.
emit::FileBytes scaled() {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {2, 3});
  const emit::TensorId n = b.input("n", DType::s64, {});
  const emit::TensorId k = b.input("k", DType::f32, {1});
  b.output("y", b.op(OpId::mul, NoAttrs{}, {x, k}));
  b.output("m", b.op(OpId::add, NoAttrs{}, {n, n}));
  b.metadata("labels", "a\nb\nc");
  b.evidence("source.input.main.k", "serving_default_k:0");
  b.evidence("source.output.main.y", "PartitionedCall:0");
  return api_test::finish(b);
}

class InputCli : public ::testing::Test {
 protected:
  InputCli() {
    NpyArray x;
    x.dtype = DType::f32;
    x.dims = {2, 3};
    x.data = api_test::bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6});
    std::string error;
    EXPECT_TRUE(write_npy(x_.str(), x, &error)) << error;
  }
  std::string run(const std::string& more) const { return "run " + program_.str() + " --input x=" + x_.str() + " " + more; }
  void expect_refused(const std::string& command, const std::string& what) const {
    const Ran r = mote(command);
    EXPECT_NE(r.exit_code, 0) << command;
    EXPECT_TRUE(contains(r.err, what)) << command << ": " << r.err;
  }
  static std::string write(const TempPath& path, const std::string& text) {
    std::ofstream(path.str(), std::ios::binary) << text;
    return path.str();
  }
  const emit::FileBytes file_ = scaled();
  const TempPath program_{"inputs.mote", file_.span()}, x_{"x.npy"}, labels_{"labels.txt"};
};

TEST_F(InputCli, NumbersAreInputsOfOneElement) {
  const Ran r = mote(run("--input n=16000 --input k=-0.5 --json"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["outputs"][0]["values"], Json({-0.5, -1.0, -1.5, -2.0, -2.5, -3.0}));
  EXPECT_EQ(r.json()["outputs"][1]["values"], Json({32000.0}));
  expect_refused(run("--input k=1"), "input 'n' is missing");
  expect_refused(run("--input k=1 --input n=1.5"), "expected a number that s64 () can hold, found '1.5'");
  expect_refused(run("--input k=1 --input n=99999999999999999999"), "expected a number that s64 () can hold");
  expect_refused("run " + program_.str() + " --input x=1 --input n=1 --input k=1", "expected f32 (2, 3), found f32 (1, 1)");
  expect_refused(run("--input k=1 --input n=1 --input z=1"), "expected one of x, n, k, found 'z'");
  expect_refused(run("--input k=1 --input n=1 --input k=2"), "input 'k' is given twice");
  expect_refused(run("--input k=no-such-file.npy"), "no-such-file.npy: ");
  expect_refused(run("--input 7"), "expected NAME=FILE.npy or NAME=VALUE with one of x, n, k, found '7'");
}

TEST_F(InputCli, TheModelsOwnNameOfAnInputWorksToo) {
  const Ran r = mote(run("--input n=1 --input serving_default_k:0=2 --json"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["outputs"][0]["values"], Json({2.0, 4.0, 6.0, 8.0, 10.0, 12.0}));
  expect_refused(run("--input n=1 --input k=2 --input serving_default_k:0=2"), "input 'k' is given twice");
  expect_refused(run("--input n=1 --input PartitionedCall:0=2"), "expected one of x, n, k");
  const Ran shown = mote("inspect " + program_.str());
  EXPECT_TRUE(contains(shown.out, "name in the model") && contains(shown.out, "serving_default_k:0")) << shown.out;
}

TEST_F(InputCli, BenchAndProfileTakeThemToo) {
  for (const char* command : {"bench --runs 3", "profile --runs 3"}) {
    const std::string c = std::string(command) + " " + program_.str() + " --json";
    const Ran r = mote(c + " --input n=16000 -i x=" + x_.str());
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(mote(c).exit_code, 0);
    expect_refused(c + " --input q=1", "expected one of x, n, k, found 'q'");
    expect_refused(c + " --input x=" + program_.str(), "not a .npy file");
    expect_refused(c + " --input n=1 --input n=2", "input 'n' is given twice");
  }
}

// A run of the sizes that were given, not of the largest.
TEST_F(InputCli, BenchOfSmallerSizes) {
  const emit::FileBytes file = api_test::dynamic_relu();
  const TempPath dynamic("dynamic.mote", file.span()), input("small.npy");
  NpyArray x;
  x.dtype = DType::f32;
  x.dims = {2, 2};
  x.data = api_test::bytes_of(std::vector<float>(4));
  std::string error;
  ASSERT_TRUE(write_npy(input.str(), x, &error)) << error;
  const Ran r = mote("profile " + dynamic.str() + " --runs 2 --json --input " + input.str());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.json()["notes"].dump(), "this run's are smaller")) << r.out;
}

// Of c (4, 6), x (4, 6) and z (6) some are given, the others made up.
TEST_F(InputCli, ValidateMakesWhatIsNotGiven) {
  const std::string model = std::string(MOTE_SOURCE_DIR) + "/tests/fuzz_models/corpus/onnx/Where.onnx";
  const TempPath program("where.mote"), z("z.npy");
  ASSERT_EQ(mote("compile " + model + " -o " + program.str()).exit_code, 0);
  const std::string validate = "validate " + model + " " + program.str() + " --reference mote --json";
  NpyArray a;
  a.dtype = DType::f32;
  a.dims = {6};
  a.data = api_test::bytes_of(std::vector<float>{1e6, 2e6, 3e6, 4e6, 5e6, 6e6});
  std::string error;
  ASSERT_TRUE(write_npy(z.str(), a, &error)) << error;
  const Ran r = mote(validate + " --input z=" + z.str() + " --samples 2");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["samples"], 2);
  // What was given was used: made-up inputs are below 1.
  EXPECT_GE(r.json()["outputs"][0]["largest_expected"].get<double>(), 1e6);
  expect_refused(validate + " --input q=" + z.str(), "expected one of c, x, z, found 'q'");
  expect_refused(validate + " --input x=" + z.str(), "input 'x': expected f32 (4, 6), found f32 (6)");
  expect_refused(validate + " --input z=" + z.str() + " --input z=" + z.str(), "input 'z' is given twice");
  expect_refused(validate + " --input " + z.str(), "expected NAME=FILE.npy or NAME=VALUE with one of c, x, z");
}

TEST_F(InputCli, LabelsMustBeAsManyAsClasses) {
  const std::string all = run("--input k=1 --input n=1 --top 1 ");
  const Ran own = mote(all);
  EXPECT_EQ(own.exit_code, 0);
  EXPECT_FALSE(contains(own.err, "labels")) << own.err;
  // Classes lie along the last dimension: the best of (2, 3) is element 5, class c.
  EXPECT_TRUE(contains(own.out, "c")) << own.out;
  EXPECT_EQ(mote(all + "--json").json()["outputs"][0]["top"][0]["label"], "c");
  EXPECT_EQ(mote(all + "--json --labels " + write(labels_, "x\r\ny\r\nz\r\n")).json()["outputs"][0]["top"][0]["label"], "z");
  expect_refused(all + "--labels " + write(labels_, "background\na\nb\nc\n"),
                 "there are 4 labels: expected as many as an output has classes, found 'y' f32 (2, 3), 'm' s64 ()");
  expect_refused(all + "--labels /no/such/file", "/no/such/file: ");
  // Labels in the program that do not fit are left out, and that is said.
  emit::ProgramBuilder b;
  b.begin_method("main");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {2, 3})}));
  b.metadata("labels", "background\na\nb\nc");
  const emit::FileBytes file = api_test::finish(b);
  const TempPath wrong("wrong_labels.mote", file.span());
  const Ran r = mote("run " + wrong.str() + " --input " + x_.str() + " --top 1 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["outputs"][0]["top"][0]["label"], "");
  EXPECT_TRUE(contains(r.err, "there are 4 labels")) << r.err;
  EXPECT_EQ(mote("run " + wrong.str() + " --input " + x_.str()).err, "") << "without --top no label is shown";
}

TEST_F(InputCli, ImagesWithoutMetadataAreDoubted) {
  for (const bool told : {false, true}) {
    emit::ProgramBuilder b;
    b.begin_method("main");
    b.output("y", b.op(OpId::relu, NoAttrs{}, {b.input("x", DType::f32, {1, 4, 4, 3})}));
    if (told) b.metadata("preprocess.image.scale", "1");
    const emit::FileBytes file = api_test::finish(b);
    const TempPath program("image.mote", file.span()), png("one.png");
    // One red pixel.
    static const unsigned char kPng[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
                                         0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
                                         0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
                                         0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92,
                                         0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    write(png, std::string(reinterpret_cast<const char*>(kPng), sizeof kPng));
    const Ran r = mote("run " + program.str() + " --image " + png.str());
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(contains(r.err, "images are taken as RGB values from 0 to 1"), !told) << r.err;
  }
}

TEST_F(InputCli, UnknownBackendsAreRefusedEverywhere) {
  for (const char* command : {"bench --runs 1", "profile --runs 1", "run", "selftest"}) {
    const std::string c = std::string(command) + " " + program_.str();
    expect_refused(c + " --backend cuda", "--backend: expected one of ");
    expect_refused(c + " --backend cuda", "cpu, found 'cuda'");
  }
  // One that is there and has no part of this program would lend its name to the CPU's time.
  const Ran r = mote("bench --runs 1 " + program_.str() + " --backend null");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(contains(r.err, "no part of the program was compiled for 'null'")) << r.err;
  EXPECT_EQ(mote("bench --runs 1 " + program_.str() + " --backend cpu").err, "");
}

// The manifest's lists decide on devices which variant is taken, before a byte of it is there.
TEST_F(InputCli, PackagesThatSayOtherwiseThanTheirProgramsAreRefused) {
  const emit::FileBytes file = api_test::add_relu();
  const TempPath model("model.mote", file.span()), package("p.mpkg");
  ASSERT_EQ(mote("package create " + package.str() + " " + model.str() + " --id kws").exit_code, 0);
  ASSERT_EQ(mote("package verify " + package.str()).exit_code, 0);
  std::ifstream in(package.str(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    const size_t at = bytes.find(from);
    EXPECT_LT(at, 4096u) << from;
    bytes.replace(at, from.size(), to);
    write(package, bytes);
    return mote("package verify " + package.str());
  };
  const Ran ops = changed("\"mote::relu\"", "\"mote::gelu\"");
  EXPECT_EQ(ops.exit_code, 1);
  EXPECT_TRUE(
      contains(ops.err, "the manifest's operators are not the program's: expected mote::add mote::relu, found mote::add mote::gelu"))
      << ops.err;
  const Ran types = changed("\"dtypes\":[\"f32\"", "\"dtypes\":[\"f16\"");
  EXPECT_EQ(types.exit_code, 1);
  EXPECT_TRUE(contains(types.err, "the manifest's element types are not the program's")) << types.err;
  const Ran nul = changed("\"mote::relu\"", std::string("\"mote::r\0lu\"", 12));
  EXPECT_EQ(nul.exit_code, 1);
  write(package, good);
  EXPECT_EQ(mote("package verify " + package.str()).exit_code, 0);
}

}  // namespace
}  // namespace mote::tools
