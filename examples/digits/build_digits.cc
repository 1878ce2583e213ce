// Makes digits.mote from the trained weights with the builder API: what the ONNX compiler will do for any model.
//
//   build_digits FOLDER OUT.mote [segment alignment]
//
// FOLDER holds weights.bin, weights.txt, golden_in.bin, golden_out.bin and digits.onnx (see train.py).
// The default alignment (16 KiB) suits files that are mapped; a microcontroller reads the file from flash and takes 64.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "mote/compiler/emit/builder.h"
#include "mote/core/layout.h"
#include "mote/format/reader.h"
#include "mote/format/sha256.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/reshape/reshape.h"
#include "mote/ops/softmax/softmax.h"

namespace {

using namespace mote;
using namespace mote::emit;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "build_digits: %s\n", why.c_str());
  std::exit(1);
}

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) die("cannot open '" + path + "'");
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Array {
  Dims dims;
  std::vector<float> values;
};

// weights.txt: one line per array, "name offset dims…"; weights.bin: little-endian f32.
std::map<std::string, Array> read_weights(const std::string& folder) {
  const std::vector<uint8_t> bytes = read_bytes(folder + "/weights.bin");
  std::ifstream index(folder + "/weights.txt");
  if (!index) die("cannot open '" + folder + "/weights.txt'");
  std::map<std::string, Array> arrays;
  for (std::string line; std::getline(index, line);) {
    std::istringstream words(line);
    std::string name;
    size_t offset = 0, count = 1;
    words >> name >> offset;
    Array a;
    for (int32_t d; words >> d; count *= static_cast<size_t>(d)) a.dims.push_back(d);
    if ((offset + count) * sizeof(float) > bytes.size()) die("weights.txt: '" + name + "' lies outside weights.bin");
    a.values.resize(count);
    std::memcpy(a.values.data(), bytes.data() + offset * sizeof(float), count * sizeof(float));
    arrays[name] = std::move(a);
  }
  return arrays;
}

// Packs weights (N, K…) as panels of 16 output channels, the layout fast kernels read in place.
TensorId packed(ProgramBuilder& b, const Array& a) {
  const uint32_t n_count = static_cast<uint32_t>(a.dims[0]), k_count = static_cast<uint32_t>(a.values.size()) / n_count;
  std::vector<uint8_t> bytes(panel_bytes(Layout::kPanel16, DType::f32, n_count, k_count));
  for (uint32_t n = 0; n < n_count; ++n)
    for (uint32_t k = 0; k < k_count; ++k)
      std::memcpy(&bytes[panel_offset(Layout::kPanel16, DType::f32, n, k, k_count)], &a.values[n * k_count + k], sizeof(float));
  return b.constant(DType::f32, a.dims, bytes.data(), Layout::kPanel16);
}

class DigitsBuilder {
 public:
  DigitsBuilder(ProgramBuilder& b, const std::map<std::string, Array>& weights) : b_(b), weights_(weights) {}

  void build() {
    b_.begin_method("main");
    const TensorId image = b_.input("image", DType::f32, {1, 8, 8});
    TensorId x = reshaped(image, {1, 8, 8, 1});
    x = conv(x, "conv1");
    x = pool(conv(x, "conv2"));
    x = pool(conv(x, "conv3"));
    x = dense(reshaped(x, {1, 128}), "dense");
    b_.output("probabilities", b_.op(OpId::softmax, ops::softmax::Attrs{}, {x}, "softmax"));
  }

 private:
  const Array& array(const std::string& name) const {
    const auto it = weights_.find(name);
    if (it == weights_.end()) die("weights.txt has no '" + name + "'");
    return it->second;
  }
  TensorId bias(const std::string& name) { return b_.constant_f32(array(name + ".bias").dims, array(name + ".bias").values); }

  TensorId reshaped(TensorId x, const Dims& dims) {
    ops::reshape::Attrs a;
    for (int32_t d : dims) a.dims[a.rank++] = d;
    return b_.op(OpId::reshape, a, {x});
  }
  TensorId conv(TensorId x, const std::string& name) {
    ops::conv::Attrs a;
    for (int i = 0; i < 2; ++i) a.pads_begin[i] = a.pads_end[i] = 1;
    a.activation = static_cast<uint32_t>(ops::Activation::kRelu);
    const Array& w = array(name + ".weight");
    return b_.op(OpId::conv, a, {x, packed(b_, w), bias(name)}, name);
  }
  TensorId pool(TensorId x) {
    ops::max_pool::Attrs a;
    for (int i = 0; i < 2; ++i) a.kernel[i] = a.strides[i] = 2;
    return b_.op(OpId::max_pool, a, {x});
  }
  TensorId dense(TensorId x, const std::string& name) {
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    const Array& w = array(name + ".weight");
    return b_.op(OpId::matmul, a, {x, packed(b_, w), bias(name)}, name);
  }

  ProgramBuilder& b_;
  const std::map<std::string, Array>& weights_;
};

std::string sha256_hex(const std::vector<uint8_t>& bytes) {
  Sha256 sha;
  sha.update({bytes.data(), bytes.size()});
  uint8_t digest[32];
  sha.finish(digest);
  std::string hex;
  char two[3];
  for (uint8_t d : digest) {
    std::snprintf(two, sizeof two, "%02x", d);
    hex += two;
  }
  return hex;
}

// What travels with the program: names, labels, where it came from, and examples with their expected results.
void add_records(ProgramBuilder& b, const std::string& folder) {
  b.metadata("name", "digits");
  b.metadata("version", "1");
  b.metadata("description", "Recognises a handwritten digit in 8 x 8 grey pixels with values 0 to 16");
  b.metadata("labels", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9");
  b.evidence("producer", "examples/digits/build_digits");
  b.evidence("source.model", "digits.onnx");
  b.evidence("source.sha256", sha256_hex(read_bytes(folder + "/digits.onnx")));
  b.evidence("options", "f32, panels of 16");
  b.evidence("targets", "any");
  b.evidence("licence", "Apache-2.0");
  const std::vector<uint8_t> in = read_bytes(folder + "/golden_in.bin"), out = read_bytes(folder + "/golden_out.bin");
  constexpr long kIn = 64 * sizeof(float), kOut = 10 * sizeof(float);
  for (long i = 0; (i + 1) * kIn <= static_cast<long>(in.size()); ++i)
    b.golden(0, {{in.begin() + i * kIn, in.begin() + (i + 1) * kIn}}, {{out.begin() + i * kOut, out.begin() + (i + 1) * kOut}}, 1e-4f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: build_digits FOLDER OUT.mote [segment alignment]\n");
    return 2;
  }
  const std::string folder = argv[1], path = argv[2];
  WriteOptions options;
  if (argc == 4) options.segment_alignment = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  const std::map<std::string, Array> weights = read_weights(folder);
  ProgramBuilder builder;
  DigitsBuilder(builder, weights).build();
  add_records(builder, folder);
  FileBytes file;
  std::string error;
  if (!builder.finish(&file, &error, options) || !save_file(path, file.span(), &error)) die(error);
  std::printf("%s: %zu bytes\n", path.c_str(), file.size);
  return 0;
}
