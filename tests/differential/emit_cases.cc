#include "tests/differential/emit_cases.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/differential/draw.h"
#include "tests/differential/run.h"

namespace mote::differential {
namespace {

// Records are little endian: a 32-bit count, then that many bytes or numbers of what it counts.
class Writer {
 public:
  explicit Writer(FILE* f) : f_(f) {}
  void number(uint32_t v) { std::fwrite(&v, 4, 1, f_); }
  void bytes(const void* data, size_t size) {
    number(static_cast<uint32_t>(size));
    if (size > 0) std::fwrite(data, 1, size, f_);
  }
  void text(const std::string& s) { bytes(s.data(), s.size()); }
  void array(const driver::Array& a) {
    text(dtype_name(a.dtype));
    number(static_cast<uint32_t>(a.dims.size()));
    for (const int64_t d : a.dims) number(static_cast<uint32_t>(d));
    bytes(a.data.data(), a.data.size());
  }

 private:
  FILE* f_;
};

void emit(const Case& c, uint64_t seed, Writer& w) {
  const size_t sizes = std::min<size_t>(c.sizes.size(), 3);
  w.number(0x4d4f5445);
  w.text(std::to_string(seed));
  std::string model;
  if (!c.model.SerializeToString(&model)) return;
  w.text(model);
  w.number(static_cast<uint32_t>(sizes));
  for (size_t s = 0; s < sizes; ++s) {
    const std::vector<driver::Array> inputs = make_inputs(c, s);
    w.number(static_cast<uint32_t>(inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) w.text(c.inputs[i].name), w.array(inputs[i]);
    std::vector<driver::Array> outputs;
    std::vector<std::vector<double>> tolerance;
    std::string error;
    const bool good = run_reference(c, s, &outputs, &tolerance, &error);
    w.text(error);
    if (!good) outputs.clear();
    w.number(static_cast<uint32_t>(outputs.size()));
    for (size_t o = 0; o < outputs.size(); ++o) w.array(outputs[o]), w.bytes(tolerance[o].data(), 8 * tolerance[o].size());
  }
}

const char* numpy_type(DType t) {
  switch (t) {
    case DType::f16: return "<f2";
    case DType::s32: return "<i4";
    case DType::s64: return "<i8";
    case DType::s8: return "|i1";
    case DType::u8: return "|u1";
    case DType::boolean: return "|b1";
    default: return "<f4";
  }
}

void write_npy(const std::string& path, const driver::Array& a) {
  std::string header = std::string("{'descr': '") + numpy_type(a.dtype) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t d : a.dims) header += std::to_string(d) + ", ";
  header += "), }";
  header.resize((header.size() + 10 + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const char magic[] = {
      '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  std::ofstream file(path, std::ios::binary);
  file.write(magic, sizeof magic);
  file << header;
  file.write(reinterpret_cast<const char*>(a.data.data()), static_cast<std::streamsize>(a.data.size()));
}

std::string ways_text(const Ways& w) {
  char text[64];
  std::snprintf(text, sizeof text, "%d %d %d %d %d %d %d", w.exact, w.winograd, w.io_in_arena, w.in_place, w.overlap_rows, w.strips,
                w.wide);
  return text;
}
void read_ways(const std::string& text, Ways* w) {
  int v[7];
  if (std::sscanf(text.c_str(), "%d %d %d %d %d %d %d", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6) != 7) return;
  *w = {v[0] != 0, v[1] != 0, v[2] != 0, v[3] != 0, v[4] != 0, v[5], v[6] != 0};
}

}  // namespace

bool write_case(const Case& c, const std::string& path) {
  ::onnx::ModelProto model = c.model;
  const auto note = [&](const std::string& key, const std::string& value) {
    auto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  };
  for (const Symbol& s : c.symbols) note("range." + s.name, std::to_string(s.least) + ".." + std::to_string(s.most));
  note("ways", ways_text(c.ways));
  note("data", std::to_string(c.data_seed));
  std::ofstream file(path + ".onnx", std::ios::binary);
  if (!model.SerializeToOstream(&file)) return false;
  const std::vector<driver::Array> inputs = make_inputs(c, 0);
  for (size_t i = 0; i < inputs.size(); ++i) write_npy(path + "." + c.inputs[i].name + ".npy", inputs[i]);
  return true;
}

bool read_case(const std::string& path, Case* c) {
  std::ifstream file(path, std::ios::binary);
  if (!c->model.ParseFromIstream(&file)) return false;
  std::map<std::string, std::string> notes;
  for (const auto& entry : c->model.metadata_props()) notes[entry.key()] = entry.value();
  c->data_seed = std::strtoull(notes["data"].c_str(), nullptr, 10);
  read_ways(notes["ways"], &c->ways);
  const auto& inputs = c->model.graph().input();
  for (const auto& in : inputs)
    for (const auto& d : in.type().tensor_type().shape().dim()) {
      const auto known = [&](const Symbol& s) { return s.name == d.dim_param(); };
      if (!d.has_dim_param() || std::any_of(c->symbols.begin(), c->symbols.end(), known)) continue;
      Symbol s{d.dim_param(), 0, 8};
      if (notes.count("range." + s.name) > 0) std::sscanf(notes["range." + s.name].c_str(), "%d..%d", &s.least, &s.most);
      c->symbols.push_back(s);
    }
  c->sizes.push_back({});
  for (const Symbol& s : c->symbols) c->sizes[0].push_back(s.most);
  // Every size of the first symbol, the others going along.
  for (int i = 0; !c->symbols.empty() && i <= c->symbols[0].most - c->symbols[0].least; ++i) {
    Dims size;
    for (const Symbol& s : c->symbols) size.push_back(s.least + i % (s.most - s.least + 1));
    c->sizes.push_back(size);
  }
  for (const auto& in : inputs) {
    Input input{in.name(), static_cast<Type>(in.type().tensor_type().elem_type()), 2, {}};
    if (is_int(input.type)) input.most = 100;
    for (const Dims& size : c->sizes) {
      Dims dims;
      for (const auto& d : in.type().tensor_type().shape().dim()) {
        int value = static_cast<int>(d.dim_value());
        for (size_t i = 0; i < c->symbols.size(); ++i)
          if (d.has_dim_param() && c->symbols[i].name == d.dim_param()) value = size[i];
        dims.push_back(value);
      }
      input.shapes.push_back(dims);
    }
    c->inputs.push_back(std::move(input));
  }
  return true;
}

int emit_cases(uint64_t first, uint64_t last, const std::string& path) {
  FILE* f = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (f == nullptr) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    return 1;
  }
  Writer w(f);
  for (uint64_t seed = first; seed < last; ++seed) emit(draw_case(seed), seed, w);
  return std::fclose(f) == 0 ? 0 : 1;
}

}  // namespace mote::differential
