#include "mote/tools/text_checks.h"

#include <algorithm>

#include "mote/format/reader.h"
#include "mote/tools/failure.h"
#include "mote/tools/image.h"
#include "mote/tools/nearest.h"

namespace mote::tools {
namespace {

bool is_of_images(const std::string& key) { return key.compare(0, 11, "preprocess.") == 0; }

// As `mote run --image` will see it.
std::vector<TensorSpec> inputs_of(const ProgramTable& t) {
  std::vector<TensorSpec> all;
  if (t.methods.size == 0) return all;
  const Method& m = t.methods[0];
  for (uint32_t i = 0; i < m.input_count; ++i) {
    const Io& io = t.ios[m.first_input + i];
    const TensorDesc& d = t.tensors[io.tensor];
    TensorSpec spec;
    spec.name = t.string(io.name);
    spec.dtype = static_cast<mote_dtype>(d.dtype);
    spec.dims.assign(d.dims, d.dims + d.rank);
    all.push_back(spec);
  }
  return all;
}

std::string label_warning(const ProgramTable& t, const std::string& labels, const std::string& file) {
  const auto count = static_cast<int64_t>(std::count(labels.begin(), labels.end(), '\n')) + 1;
  std::string outputs;
  for (const Method& m : t.methods) {
    for (uint32_t i = 0; i < m.output_count; ++i) {
      const Io& io = t.ios[m.first_output + i];
      const TensorDesc& d = t.tensors[io.tensor];
      const int64_t last = d.rank > 0 ? d.dims[d.rank - 1] : 1;
      if (last == count) return "";
      outputs += (outputs.empty() ? "" : ", ") + std::string("'") + t.string(io.name) + "' has " + std::to_string(last);
    }
  }
  return file + ": " + std::to_string(count) + " labels fit no output: along its last axis " + outputs +
         "; results would be given the wrong names";
}

}  // namespace

void check_metadata_keys(const Metadata& given) {
  const std::vector<std::string>& known = image_metadata_keys();
  for (const auto& [key, value] : given)
    if (key.compare(0, 10, "preprocess") == 0 && std::find(known.begin(), known.end(), key) == known.end())
      throw usage("--metadata " + key + ": no command reads this key" + did_you_mean(key, known) + ": expected one of " + listed(known));
}

std::vector<std::string> check_texts(const std::string& model, ConstBytes program, const Metadata& given, const std::string& labels_from) {
  std::vector<std::string> warnings;
  ProgramTable t;
  if (!read_table(program, program.size, &t, nullptr).ok()) return warnings;
  bool images = false;
  std::string labels;
  for (const Pair& p : t.metadata) {
    images |= is_of_images(t.string(p.key));
    if (std::string(t.string(p.key)) == "labels") labels = t.string(p.value);
  }
  if (!labels.empty() && !labels_from.empty())
    if (const std::string warning = label_warning(t, labels, labels_from); !warning.empty()) warnings.push_back(warning);
  if (!images) return warnings;
  const auto text_of = [&](const std::string& key) {
    for (const Pair& p : t.metadata)
      if (key == t.string(p.key)) return std::string(t.string(p.value));
    return std::string();
  };
  try {
    (void)plan_image(model, text_of, inputs_of(t));
  } catch (const Failure& f) {
    if (std::any_of(given.begin(), given.end(), [](const auto& pair) { return is_of_images(pair.first); })) throw;
    warnings.emplace_back(f.what());
  }
  return warnings;
}

}  // namespace mote::tools
