#include <cstdio>

#include "mote/compiler/frontends/tflite/builtin_table.h"
#include "mote/compiler/frontends/torch/torch.h"
#include "mote/compiler/frontends/tosa/table.h"
#include "mote/ops/op_docs.h"
#include "mote/tools/commands.h"
#include "mote/tools/json_out.h"
#include "mote/tools/kernels_built.h"
#include "mote/tools/nearest.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace {

struct OpsSettings {
  std::string name;
  bool json = false, markdown = false, aten = false, tflite = false, tosa = false;
};

std::string types_text(DTypeMask mask) {
  std::string s;
  for (uint8_t v = 1; v < kDTypeCount; ++v)
    if ((mask >> v & 1) != 0) s += (s.empty() ? "" : " ") + std::string(dtype_name(static_cast<DType>(v)));
  return s;
}

std::string types_of(const OpInfo& info) { return info.types_of_ == kOfOutput ? "output 0" : "input " + std::to_string(info.types_of_); }

std::string count_text(uint8_t least, uint8_t most) {
  if (most == kVariadic) return std::to_string(least) + " or more";
  return least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
}

std::string ranks_text(const OpInfo& info) { return count_text(info.min_rank_, info.max_rank_); }

struct FlagName {
  uint16_t flag;
  const char* name;
};
constexpr FlagName kFlags[] = {{kElementwise, "elementwise"}, {kRowRange, "row_range"},         {kDataDependent, "data_dependent"},
                               {kCommutative, "commutative"}, {kIntegerExact, "integer_exact"}, {kView, "view"},
                               {kStateUpdate, "state_update"}};

Json doc_json(const OpDoc& d) {
  Json attrs = Json::array(), flags = Json::array(), types = Json::array();
  for (const AttrDoc& a : d.attrs)
    attrs.push_back({{"name", a.name}, {"doc", a.doc}, {"default", attr_to_text(a, d.default_attrs.data())}, {"count", a.count}});
  for (const FlagName& f : kFlags)
    if ((d.info.flags_ & f.flag) != 0) flags.push_back(f.name);
  for (uint8_t v = 1; v < kDTypeCount; ++v)
    if ((d.info.types_ >> v & 1) != 0) types.push_back(dtype_name(static_cast<DType>(v)));
  const auto most = [](uint8_t n) { return n == kVariadic ? Json(nullptr) : Json(n); };
  return {{"id", d.id},
          {"name", "mote::" + d.name},
          {"summary", d.info.summary_},
          {"signature", d.info.signature_},
          {"aten", d.info.aten_},
          {"onnx", d.info.onnx_},
          {"inputs", {{"min", d.info.min_in_}, {"max", most(d.info.max_in_)}}},
          {"outputs", {{"min", d.info.min_out_}, {"max", most(d.info.max_out_)}}},
          {"types", types},
          {"types_of", types_of(d.info)},
          {"ranks", {{"min", d.info.min_rank_}, {"max", d.info.max_rank_}}},
          {"flags", flags},
          {"attributes", attrs}};
}

void print_doc(const OpDoc& d) {
  std::printf("mote::%s (id %u)\n  %s\n\n", d.name.c_str(), d.id, d.info.summary_);
  TextTable facts({"", ""});
  if (d.info.signature_[0] != 0) facts.add({"signature", d.info.signature_});
  facts.add({"inputs", count_text(d.info.min_in_, d.info.max_in_)});
  facts.add({"outputs", count_text(d.info.min_out_, d.info.max_out_)});
  if (d.info.types_ != 0) facts.add({"types of " + types_of(d.info), types_text(d.info.types_)});
  if (d.info.types_ != 0) facts.add({"its rank", ranks_text(d.info)});
  std::string flags;
  for (const FlagName& f : kFlags)
    if ((d.info.flags_ & f.flag) != 0) flags += (flags.empty() ? "" : " ") + std::string(f.name);
  if (!flags.empty()) facts.add({"flags", flags});
  if (d.info.aten_[0] != 0) facts.add({"ATen", d.info.aten_});
  if (d.info.onnx_[0] != 0) facts.add({"ONNX", d.info.onnx_});
  std::printf("%s", facts.text().c_str());
  TextTable attrs({"attribute", "default", "meaning"});
  for (const AttrDoc& a : d.attrs) attrs.add({a.name, attr_to_text(a, d.default_attrs.data()), a.doc});
  if (!attrs.empty()) std::printf("\n%s", attrs.text().c_str());
}

// A table cell must not end early.
std::string cell(std::string s) {
  for (size_t at = 0; (at = s.find('|', at)) != std::string::npos; at += 2) s.insert(at, "\\");
  return s;
}

void print_markdown() {
  std::printf(
      "# Operators\n\nMade by `mote ops --markdown`; do not edit. `?` marks an optional operand.\n\n| id | operator | what it does "
      "|\n|---|---|---|\n");
  for (const OpDoc& d : op_docs())
    std::printf("| %u | [%s](#%s) | %s |\n", d.id, d.name.c_str(), d.name.c_str(), cell(d.info.summary_).c_str());
  for (const OpDoc& d : op_docs()) {
    std::printf("\n## %s\n\n%s\n\n", d.name.c_str(), d.info.summary_);
    if (d.info.signature_[0] != 0) std::printf("- signature: `%s`\n", d.info.signature_);
    std::printf("- inputs: %s, outputs: %s\n", count_text(d.info.min_in_, d.info.max_in_).c_str(),
                count_text(d.info.min_out_, d.info.max_out_).c_str());
    if (d.info.types_ != 0)
      std::printf("- types of %s: %s; rank %s\n", types_of(d.info).c_str(), types_text(d.info.types_).c_str(), ranks_text(d.info).c_str());
    if (d.info.aten_[0] != 0) std::printf("- ATen: `%s`\n", d.info.aten_);
    if (d.info.onnx_[0] != 0) std::printf("- ONNX: %s\n", d.info.onnx_);
    if (d.attrs.empty()) continue;
    std::printf("\n| attribute | default | meaning |\n|---|---|---|\n");
    for (const AttrDoc& a : d.attrs)
      std::printf("| `%s` | `%s` | %s |\n", a.name.c_str(), attr_to_text(a, d.default_attrs.data()).c_str(), cell(a.doc).c_str());
  }
}

void ops(const OpsSettings& s) {
  if (s.markdown) return print_markdown();
  if (s.aten) return void(std::fputs(frontends::torch::operator_table().c_str(), stdout));
  if (s.tflite) return void(std::fputs(frontends::tflite::builtin_table().c_str(), stdout));
  if (s.tosa) return void(std::fputs(frontends::tosa::operator_table().c_str(), stdout));
  if (s.name.empty()) {
    if (s.json) {
      Json all = Json::array();
      for (const OpDoc& d : op_docs()) all.push_back(doc_json(d));
      return print_json({{"ops", all}});
    }
    TextTable table({"id", "operator", "what it does"});
    for (const OpDoc& d : op_docs()) table.add({std::to_string(d.id), d.name, d.info.summary_});
    std::printf("%s", table.text().c_str());
    if (const std::string none = no_fast_kernels(); !none.empty()) std::fprintf(stderr, "mote: warning: %s\n", none.c_str());
    return;
  }
  const OpDoc* doc = find_op_doc(s.name);
  std::vector<std::string> names;
  for (const OpDoc& d : op_docs()) names.push_back(d.name);
  if (doc == nullptr)
    throw Failure("no such operator: expected one that 'mote ops' lists, found '" + s.name + "'" + did_you_mean(s.name, names),
                  Status(Status::kNotFound, Why::kUnknownOp).bits());
  if (s.json) print_json(doc_json(*doc));
  else print_doc(*doc);
}

}  // namespace

void add_ops(CLI::App& app, Context& context) {
  auto s = std::make_shared<OpsSettings>();
  CLI::App* c = app.add_subcommand("ops", "List the operators, or explain one");
  c->add_option("NAME", s->name, "operator, e.g. softmax");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->add_flag("--markdown", s->markdown, "print the operator reference (docs/generated/operators.md)");
  c->add_flag("--aten", s->aten, "print which PyTorch operators can be compiled (docs/generated/aten.md)");
  c->add_flag("--tflite", s->tflite, "print which TensorFlow Lite operators can be compiled (docs/generated/tflite.md)");
  c->add_flag("--tosa", s->tosa, "print which TOSA operators can be compiled (docs/generated/tosa.md)");
  c->callback([s, &context] {
    context.json = s->json;
    ops(*s);
  });
}

}  // namespace mote::tools
