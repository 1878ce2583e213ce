#include "tests/onnx/node_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "mote/api/mote.hpp"
#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/values.h"
#include "mote/tools/files.h"
#include "mote/tools/npy.h"
#include "onnx.pb.h"

namespace mote::node_tests {
namespace {

using tools::NpyArray;

std::string text_of(const std::vector<int64_t>& dims) {
  std::string s = "(";
  for (size_t i = 0; i < dims.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return s + ")";
}

// As numpy's assert_allclose, with onnx's wider tolerance for bf16. Empty when close.
std::string difference(const NpyArray& found, const NpyArray& expected, double rtol, double atol) {
  if (found.dtype != expected.dtype)
    return std::string("expected type ") + dtype_name(expected.dtype) + ", found " + dtype_name(found.dtype);
  if (found.dims != expected.dims) return "expected shape " + text_of(expected.dims) + ", found " + text_of(found.dims);
  if (found.data == expected.data) return "";
  if (found.dtype == DType::bf16) rtol = std::max(rtol, 1.0 / 64);
  const auto left = driver::to_doubles(found.dtype, found.data.data(), found.data.size());
  const auto right = driver::to_doubles(expected.dtype, expected.data.data(), expected.data.size());
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const double a = left[i], b = right[i];
    const bool close = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= atol + rtol * std::fabs(b);
    if (!close && wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(right.size()) + " values differ; element " + std::to_string(first) +
         ": expected " + std::to_string(right[first]) + ", found " + std::to_string(left[first]);
}

// A tensor of strings as the program has it: places in the table of texts, -1 for others.
bool read_texts(const std::string& path, const std::vector<std::string>& table, NpyArray* out) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return false;
  std::vector<int64_t> places;
  std::istringstream shape(line);
  *out = {DType::s64, {}, {}};
  for (int64_t d; shape >> d;) out->dims.push_back(d);
  while (std::getline(file, line)) {
    const auto it = std::find(table.begin(), table.end(), line);
    places.push_back(it == table.end() ? -1 : it - table.begin());
  }
  out->data.resize(places.size() * sizeof(int64_t));
  if (!places.empty()) std::memcpy(out->data.data(), places.data(), out->data.size());
  return true;
}

bool read_values(const std::string& folder, const char* kind, int count, const std::vector<std::string>& table,
                 std::vector<NpyArray>* out) {
  out->resize(static_cast<size_t>(count));
  std::string error;
  for (int i = 0; i < count; ++i) {
    const std::string path = folder + "/" + kind + "_" + std::to_string(i);
    NpyArray* to = &(*out)[static_cast<size_t>(i)];
    if (!read_texts(path + ".txt", table, to) && !tools::read_npy(path + ".npy", to, &error)) return false;
  }
  return true;
}

// What the compiler must be told of sequences and optionals: lines "shape NAME 2 3", "dim NAME 3", "dim NAME 1 3".
void read_options(const std::string& path, frontends::ImportOptions* options) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    ir::Dims dims;
    for (int32_t d; words >> d;) dims.push_back(d);
    if (kind == "shape") options->shapes[name] = dims;
    else if (kind == "max_trips") options->max_trips = std::atoi(name.c_str());
    else if (!dims.empty()) options->dims[name] = {dims.front(), dims.back()};
  }
}

// The table of texts that a program carries.
std::vector<std::string> texts_of(const emit::FileBytes& file) {
  std::vector<std::string> out;
  auto model = Model::load(file.data(), file.size);
  if (!model) return out;
  for (const char* key : {"strings", "labels"}) {
    std::istringstream lines(model->metadata(key).value_or(""));
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    if (!out.empty()) break;
  }
  return out;
}

// Of sequences that say how many of their elements count, the others go; what says so goes too.
void drop_uncounted(const std::vector<std::string>& names, std::vector<NpyArray>* outputs) {
  const std::string end = "_length";
  std::vector<NpyArray> kept;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool counts = names[i].size() > end.size() && names[i].compare(names[i].size() - end.size(), end.size(), end) == 0 &&
                        (*outputs)[i].dims.empty() && (*outputs)[i].dtype == DType::s64;
    if (!counts) {
      kept.push_back((*outputs)[i]);
      continue;
    }
    const std::string sequence = names[i].substr(0, names[i].size() - end.size());
    int64_t length;
    std::memcpy(&length, (*outputs)[i].data.data(), sizeof length);
    for (int64_t k = 0; i + 1 < names.size() && names[i + 1] == sequence + "_" + std::to_string(k); ++k, ++i)
      if (k < length) kept.push_back((*outputs)[i + 1]);
  }
  *outputs = std::move(kept);
}

// Feeds the program and returns its outputs. A text when that fails.
std::string run_program(const emit::FileBytes& file, std::vector<NpyArray> inputs, std::vector<NpyArray>* outputs) {
  auto model = Model::load(file.data(), file.size);
  if (!model) return "load: " + model.error().message;
  const auto in = model->inputs(), out = model->outputs();
  if (in.size() != inputs.size()) return "expected " + std::to_string(inputs.size()) + " inputs, found " + std::to_string(in.size());
  std::vector<InputView> input_views;
  for (size_t i = 0; i < in.size(); ++i) {
    const DType wanted = static_cast<DType>(in[i].dtype);
    if (wanted != inputs[i].dtype) return "input " + std::to_string(i) + " has another type than the case gives";
    InputView view{inputs[i].data.data(), inputs[i].data.size(), {}};
    if (in[i].dynamic != 0) view.dims.assign(inputs[i].dims.begin(), inputs[i].dims.end());
    input_views.push_back(std::move(view));
  }
  std::vector<OutputView> output_views;
  outputs->clear();
  for (const TensorSpec& spec : out) {
    outputs->push_back({static_cast<DType>(spec.dtype), {}, std::vector<uint8_t>(spec.bytes)});
    output_views.push_back({nullptr, spec.bytes, {}});
  }
  for (size_t i = 0; i < out.size(); ++i) output_views[i].data = (*outputs)[i].data.data();
  if (const Error error = model->run(input_views, output_views)) return "run: " + error.message + " [" + error.source + "]";
  for (size_t i = 0; i < out.size(); ++i) {
    NpyArray& a = (*outputs)[i];
    size_t count = 1;
    for (const int32_t d : output_views[i].dims) count *= static_cast<size_t>(d);
    a.dims.assign(output_views[i].dims.begin(), output_views[i].dims.end());
    a.data.resize(count * dtype_bytes(a.dtype));
  }
  std::vector<std::string> names;
  for (const TensorSpec& spec : out) names.push_back(spec.name);
  drop_uncounted(names, outputs);
  return "";
}

// Gives every dimension of this size a name instead.
void open_dims(::onnx::ValueInfoProto* value, int64_t size) {
  if (!value->type().has_tensor_type()) return;
  for (auto& d : *value->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (d.has_dim_value() && d.dim_value() == size) d.set_dim_param("batch");
}

// False when there is no size to open.
bool open_first_size(std::vector<uint8_t>* bytes, frontends::ImportOptions* options) {
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())) || model.graph().input_size() == 0) return false;
  const auto& first = model.graph().input(0).type().tensor_type().shape();
  if (first.dim_size() == 0 || first.dim(0).dim_value() < 1) return false;
  const int64_t size = first.dim(0).dim_value();
  for (auto& v : *model.mutable_graph()->mutable_input()) open_dims(&v, size);
  for (auto& v : *model.mutable_graph()->mutable_output()) open_dims(&v, size);
  model.mutable_graph()->clear_value_info();
  options->dims["batch"] = {1, static_cast<int32_t>(2 * size)};
  bytes->resize(model.ByteSizeLong());
  return model.SerializeToArray(bytes->data(), static_cast<int>(bytes->size()));
}

}  // namespace

Outcome run_case(const std::string& folder, const Case& test, const Settings& settings) {
  frontends::Source source;
  source.path = folder + "/model.onnx";
  std::vector<uint8_t> bytes;
  std::string error;
  if (!tools::read_whole_file(source.path, &bytes, &error)) return {Verdict::kFailed, source.path + ": " + error};
  driver::CompileOptions options;
  if (settings.open_dims && !open_first_size(&bytes, &options.import)) return {Verdict::kRefused, "the model has no size to open"};
  source.bytes = ir::Bytes::own(std::move(bytes));
  options.golden.count = 0;
  read_options(folder + "/options", &options.import);
  driver::CompileResult compiled;
  ir::Problems problems;
  if (!driver::compile(source, options, &compiled, &problems)) {
    if (problems.empty()) return {Verdict::kFailed, "the compiler gave up without a reason"};
    return {Verdict::kRefused, problems[0].where + ": " + problems[0].what};
  }
  std::vector<NpyArray> inputs, expected, found;
  const auto table = texts_of(compiled.file);
  if (!read_values(folder, "input", test.inputs, table, &inputs) || !read_values(folder, "output", test.outputs, table, &expected))
    return {Verdict::kCompiled, "values that .npy does not hold"};
  if (const std::string why = run_program(compiled.file, inputs, &found); !why.empty()) return {Verdict::kFailed, why};
  if (found.size() != expected.size()) return {Verdict::kFailed, "number of outputs"};
  for (size_t i = 0; i < found.size(); ++i)
    if (const std::string why = difference(found[i], expected[i], test.rtol, test.atol); !why.empty())
      return {Verdict::kFailed, "output " + std::to_string(i) + ": " + why};
  return {Verdict::kPassed, ""};
}

}  // namespace mote::node_tests
