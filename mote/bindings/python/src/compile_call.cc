#include "mote/bindings/python/src/compile_call.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "mote/api/impl/registry.h"
#include "mote/bindings/python/src/array_view.h"
#include "mote/bindings/python/src/graph_view.h"
#include "mote/bindings/python/src/image.h"
#include "mote/compiler/emit/builder.h"
#include "mote/tools/compile_settings.h"
#include "mote/tools/emit_source.h"
#include "mote/tools/model_file.h"
#include "mote/tools/text_checks.h"

namespace mote::python {
namespace {

[[noreturn]] void raise_problems(const std::string& model, const ir::Problems& problems) {
  nb::list list;
  for (const ir::Problem& p : problems) list.append(nb::make_tuple(text_of(p.where), text_of(p.what), text_of(p.advice)));
  nb::dict fields;
  fields["problems"] = list;
  raise_as("CompileError", fields, tools::problems_text(model, problems));
}

nb::list texts_of(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& text : all) list.append(text_of(text));
  return list;
}

driver::Array array_of(const std::string& name, nb::handle object) {
  driver::Array a;
  ArrayView view;
  view.take_any(object.ptr(), name);
  a.dtype = static_cast<DType>(view.dtype());
  a.dims.assign(view.dims, view.dims + view.rank);
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  a.data.assign(bytes, bytes + view.bytes);
  return a;
}

}  // namespace

CompileCall::CompileCall(nb::dict settings) : settings_(std::move(settings)), registry_(current_registry()) {
  if (const nb::object words = get("words"); !words.is_none()) read_words(nb::cast<std::string>(words));
  if (const nb::object words = get("quantize"); !words.is_none())
    quantize_ = tools::quantize_settings_of(nb::cast<std::vector<std::string>>(words));
  options_.producer = std::string("mote ") + mote_version();
  if (const nb::object golden = get("golden"); !golden.is_none()) read_golden(golden);
  if (const nb::object count = get("golden_examples"); !count.is_none()) tools::ask_for_examples(nb::cast<int>(count), &options_);
  if (const nb::object path = get("external_weights"); !path.is_none()) external_ = nb::cast<std::string>(path);
  options_.external_weights = !external_.empty();
  if (const nb::object names = get("print_after"); !names.is_none())
    for (const std::string& name : nb::cast<std::vector<std::string>>(names)) options_.passes.print_after.insert(name);
  options_.passes.time_passes = nb::cast<bool>(nb::bool_(get("time_passes")));
  if (registry_ != nullptr) {
    ops_ = std::make_unique<OpRegistry>(Span<const OpDef>{registry_->ops, registry_->op_count}, &emit::builtin_registry());
    options_.plan.ops = ops_.get();
  }
  if (const nb::object path = get("emit_cpp"); !path.is_none()) {
    source_ = nb::cast<std::string>(path);
    tools::plan_for_source(source_, target_, &options_);
    tools::quantize_for_source(&quantize_);
  }
  read_texts();
  set_hooks();
}

void CompileCall::read_words(const std::string& words) {
  const tools::CompileSettings settings = tools::settings_of(words);
  target_ = settings.target;
  options_ = tools::options_of(settings);
}

void CompileCall::read_golden(nb::handle golden) {
  if (nb::isinstance<nb::str>(golden)) {
    options_.golden.given = tools::read_examples(nb::cast<std::string>(golden));
    return;
  }
  for (nb::handle one : golden) {
    driver::GivenExample example;
    for (auto [name, array] : nb::cast<nb::dict>(one)) {
      const std::string key = nb::cast<std::string>(name);
      example[key] = array_of(key, array);
    }
    options_.golden.given.push_back(std::move(example));
  }
}

void CompileCall::read_texts() {
  const auto read = [&](const char* key, std::vector<std::pair<std::string, std::string>>* to) {
    const nb::object texts = get(key);
    if (texts.is_none()) return;
    for (auto [name, value] : nb::cast<nb::dict>(texts)) to->emplace_back(nb::cast<std::string>(name), nb::cast<std::string>(value));
  };
  read("metadata", &options_.metadata);
  tools::check_metadata_keys(options_.metadata);
  read("evidence", &options_.evidence);
}

template <class Work>
bool CompileCall::guard(std::string* error, Work work) {
  const nb::gil_scoped_acquire locked;
  try {
    if (work()) return true;
    *error = "it gave nothing that can be used";
  } catch (const nb::python_error& e) {
    raised_ = std::make_unique<nb::python_error>(e);
    *error = e.what();
  } catch (const std::exception& e) {
    *error = e.what();
  }
  return false;
}

void CompileCall::set_hooks() {
  const auto passes = [this](const char* key, std::function<bool(ir::Graph&, std::string*)>* to) {
    const nb::object callables = get(key);
    if (callables.is_none() || nb::len(callables) == 0) return;
    *to = [this, key](ir::Graph& graph, std::string* error) {
      return guard(error, [&] {
        const nb::object all = get(key);
        for (nb::handle pass : all) run_pass(pass, graph);
        return true;
      });
    };
  };
  passes("passes", &options_.after_import);
  passes("late_passes", &options_.after_passes);
  if (get("planner").is_none()) return;
  options_.plan.place = [this](const schedule::Bank& bank, std::vector<memory::BufferRequest>* blocks, std::string* error) {
    return guard(error, [&] { return place(bank, blocks); });
  };
}

bool CompileCall::place(const schedule::Bank& bank, std::vector<memory::BufferRequest>* blocks) const {
  const nb::object type = nb::module_::import_("mote.hooks").attr("Buffer");
  nb::list buffers;
  for (const memory::BufferRequest& b : *blocks) buffers.append(type(b.bytes, b.alignment, b.live.first, b.live.last, bank.name));
  const auto offsets = nb::cast<std::vector<uint64_t>>(get("planner")(buffers));
  if (offsets.size() != blocks->size())
    raise(MOTE_INVALID_ARGUMENT, "own memory planner: expected " + std::to_string(blocks->size()) +
                                     " offsets, one for each buffer, found " + std::to_string(offsets.size()));
  for (size_t i = 0; i < offsets.size(); ++i) (*blocks)[i].offset = offsets[i];
  return true;
}

nb::dict CompileCall::run(const frontends::Source& source) {
  auto result = std::make_shared<driver::CompileResult>();
  tools::QuantizeResult quantized;
  ir::Problems problems;
  bool done = false;
  {
    const nb::gil_scoped_release unlocked;
    tools::Progress progress;
    options_.progress = [&](const std::string& stage, double fraction) { progress.show(stage, fraction); };
    done = quantize_.wanted() ? tools::compile_quantized(quantize_, source, options_, &progress, result.get(), &quantized, &problems)
                              : driver::compile(source, options_, result.get(), &problems);
    options_.progress = nullptr;
  }
  if (raised_ != nullptr) throw *raised_;
  if (!done) raise_problems(source.path, problems);
  const nb::object labels = get("labels_from");
  const std::vector<std::string> warnings =
      tools::check_texts(source.path, result->file.span(), options_.metadata, labels.is_none() ? "" : nb::cast<std::string>(labels));
  OpenOptions open;
  std::string error;
  open.weights = external_;
  const ConstBytes external{result->external.data(), result->external.size()};
  if (!external_.empty() && !emit::save_file(external_, external, &error)) raise(MOTE_IO, error);
  result->external = {};
  nb::dict d, stages;
  if (!source_.empty()) {
    const emit::CppFiles files = tools::emit_source(source_, target_, options_, *result);
    nb::dict emitted;
    emitted["name"] = files.name;
    emitted["ram_bytes"] = files.ram_bytes;
    emitted["scratch_bytes"] = files.ram_bytes - result->peak_bytes;
    emitted["constant_bytes"] = files.constant_bytes;
    emitted["portable"] = files.portable;
    d["cpp"] = emitted;
  }
  d["image"] = open_owned(result, result->file.data(), result->file.size, open);
  d["frontend"] = result->frontend;
  d["log"] = text_of(result->log);
  d["notes"] = texts_of(result->notes);
  d["warnings"] = texts_of(warnings);
  d["peak_bytes"] = result->peak_bytes;
  d["lower_bound_bytes"] = result->lower_bound_bytes;
  for (const auto& [name, seconds] : result->stage_seconds) stages[name.c_str()] = seconds;
  d["stages_s"] = stages;
  if (quantize_.wanted()) d["quantization"] = tools::quantize_json(quantized).dump();
  return d;
}

}  // namespace mote::python
