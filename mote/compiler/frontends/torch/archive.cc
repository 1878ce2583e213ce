#include "mote/compiler/frontends/torch/archive.h"

#include <algorithm>
#include <unordered_map>

#include "mote/compiler/frontends/common/zip.h"
#include "mote/compiler/frontends/torch/json.h"
#include "mote/compiler/frontends/torch/schema.h"

namespace mote::frontends::torch {
namespace {

constexpr std::string_view kModels = "models/", kJson = ".json";
// What may come out of deflated entries, all together, of each byte of the archive, and beside that: exported graphs are texts that shrink
// to a twentieth; a thousandth is what nobody exported.
constexpr size_t kMostGrowth = 64, kAlways = 1u << 20;
// Values of JSON take up to 300 bytes each as they are parsed and read: one for so many bytes of the archive grows to about as much.
// Exported graphs have one in 16 bytes.
constexpr size_t kBytesOfValue = 5, kValuesAlways = 1u << 17;

bool ends_with(std::string_view s, std::string_view end) { return s.size() >= end.size() && s.substr(s.size() - end.size()) == end; }

// A name inside the archive, without the folder everything lies in.
std::string_view inner_name(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

bool is_model(std::string_view name) {
  const std::string_view inner = inner_name(name);
  return inner.substr(0, kModels.size()) == kModels && ends_with(inner, kJson);
}

class Archive {
 public:
  Archive(const Source& source, ExportedModel* out, ir::Problems* problems)
      : source_(source),
        entries_(read_zip(source.bytes)),
        left_(source.bytes.size * kMostGrowth + kAlways),
        values_left_(source.bytes.size / kBytesOfValue + kValuesAlways),
        out_(out),
        problems_(problems) {
    for (const ZipEntry& e : entries_) by_name_.emplace(inner_name(e.name), &e);
  }

  bool read() {
    const size_t before = problems_->size();
    for (const ZipEntry& e : entries_)
      if (is_model(e.name)) read_model(e);
    if (out_->methods.empty() && problems_->size() == before)
      refuse(source_.path, "the archive holds no models/*.json",
             "save the program with torch.export.save of PyTorch 2.8 or later, as a .pt2 file");
    return problems_->size() == before;
  }

 private:
  void refuse(const std::string& where, const std::string& what, const std::string& advice = "") {
    problems_->push_back({where, what, advice});
  }

  // Unpacks an entry within what the archive may grow to; false and a problem otherwise.
  bool take(const ZipEntry& e, std::string* out) {
    const bool fits = e.size <= left_;
    if (fits && unpack(e, left_, out)) {
      left_ -= out->size();
      return true;
    }
    if (fits) return refuse(std::string(e.name), "cannot be unpacked"), false;
    refuse(std::string(e.name),
           "unpacks to " + std::to_string(e.size) + " bytes, expected no more than " + std::to_string(left_) + " for an archive of " +
               std::to_string(source_.bytes.size) + " bytes",
           "save the program again with torch.export.save, which does not pack");
    return false;
  }

  // The same of a text in JSON, whose values are counted before anyone parses it.
  bool take_json(const ZipEntry& e, std::string* out) {
    if (!take(e, out)) return false;
    const size_t values = most_values(*out);
    if (values <= values_left_) {
      values_left_ -= values;
      return true;
    }
    refuse(std::string(e.name),
           "holds " + std::to_string(values) + " values, expected no more than " + std::to_string(values_left_) + " for an archive of " +
               std::to_string(source_.bytes.size) + " bytes",
           "save the program again with torch.export.save, which does not pack");
    return false;
  }

  const ZipEntry* find(std::string_view inner) const {
    const auto it = by_name_.find(inner);
    return it == by_name_.end() ? nullptr : it->second;
  }

  void read_model(const ZipEntry& e) {
    const std::string_view inner = inner_name(e.name);
    const std::string name(inner.substr(kModels.size(), inner.size() - kModels.size() - kJson.size()));
    ExportedMethod method;
    method.name = name == "model" ? "forward" : name;
    if (!take_json(e, &method.json)) return;
    read_tensors(name, "weights", &method);
    read_tensors(name, "constants", &method);
    out_->methods.push_back(std::move(method));
  }

  void read_tensors(const std::string& model, const std::string& kind, ExportedMethod* method) {
    const ZipEntry* e = find("data/" + kind + "/" + model + "_" + kind + "_config.json");
    if (e == nullptr) return;
    std::string json, error;
    std::vector<PayloadDef> payloads;
    if (!take_json(*e, &json)) return;
    if (!read_payloads(json, &payloads, &error)) return refuse(std::string(e->name), error);
    for (const PayloadDef& p : payloads) add_tensor(p, "data/" + kind + "/" + p.path, method);
  }

  void add_tensor(const PayloadDef& p, const std::string& path, ExportedMethod* method) {
    if (p.pickled && p.meta.dtype == DType::kNone) return;  // an object; reported where the program uses it
    if (p.pickled) return refuse("tensor '" + p.name + "'", "is stored as a Python pickle", "make it a plain tensor before exporting");
    TensorData t;
    t.dtype = p.meta.dtype;
    for (const SymNumber& s : p.meta.sizes) t.shape.push_back(s.value);
    t.strides = p.strides;
    t.offset = p.offset;
    const ZipEntry* e = find(path);
    if (e == nullptr) return refuse("tensor '" + p.name + "'", "the archive has no '" + path + "'");
    if (e->deflated) {
      std::string bytes;
      if (!take(*e, &bytes)) return;
      t.bytes = ir::Bytes::copy_of(bytes.data(), bytes.size());
    } else {
      t.bytes = {source_.bytes.owner, e->data, e->stored};
    }
    method->tensors[p.name] = place(path, std::move(t));
  }

  // Tensors of several methods that lie in the same entry, in the same way, are one.
  size_t place(const std::string& path, TensorData t) {
    const std::string key = path + " " + std::to_string(t.offset);
    const auto it = placed_.find(key);
    if (it != placed_.end()) {
      const TensorData& known = out_->tensors[it->second];
      if (known.shape == t.shape && known.strides == t.strides && known.dtype == t.dtype) return it->second;
    }
    out_->tensors.push_back(std::move(t));
    return placed_[key] = out_->tensors.size() - 1;
  }

  const Source& source_;
  std::vector<ZipEntry> entries_;
  size_t left_;         // bytes that may still be unpacked
  size_t values_left_;  // and values in texts
  std::unordered_map<std::string_view, const ZipEntry*> by_name_;
  ExportedModel* out_;
  ir::Problems* problems_;
  std::map<std::string, size_t> placed_;
};

}  // namespace

bool is_archive(const ir::Bytes& bytes) {
  if (bytes.size < 4 || bytes.data[0] != 'P' || bytes.data[1] != 'K' || bytes.data[2] != 3 || bytes.data[3] != 4) return false;
  const std::vector<ZipEntry> entries = read_zip(bytes);
  return std::any_of(entries.begin(), entries.end(), [](const ZipEntry& e) {
    return is_model(e.name) || ends_with(e.name, "archive_format") || e.name == "serialized_exported_program.json";
  });
}

bool read_archive(const Source& source, ExportedModel* out, ir::Problems* problems) { return Archive(source, out, problems).read(); }

}  // namespace mote::frontends::torch
