#include "mote/compiler/frontends/torch/schema.h"

#include <algorithm>

#include "mote/compiler/frontends/torch/json.h"
#include "mote/compiler/frontends/torch/output_names.h"

namespace mote::frontends::torch {
namespace {

constexpr int kMajorVersion = 8;

SymNumber read_sym(const Json& j) {
  SymNumber out;
  if (const Json* fixed = optional_member(j, "as_int"); fixed != nullptr) out.value = integer(*fixed, "as_int");
  else if (const Json* e = optional_member(j, "as_expr"); e != nullptr) out.expression = text(member(*e, "expr_str"), "expr_str");
  else throw SchemaError("a size is neither a number nor an expression");
  return out;
}

TensorMeta read_meta(const Json& j) {
  TensorMeta out;
  out.scalar_type = static_cast<int>(std::clamp<int64_t>(integer(member(j, "dtype"), "dtype"), 0, 1000));
  out.dtype = to_dtype(out.scalar_type);
  for (const Json& s : list(member(j, "sizes"), "sizes")) out.sizes.push_back(read_sym(s));
  return out;
}

Item named(Item::Kind kind, const Json& name) {
  Item out;
  out.kind = kind;
  out.text = text(name, "name");
  return out;
}

Item whole(Item::Kind kind, int64_t value) {
  Item out;
  out.kind = kind;
  out.i = value;
  return out;
}

Item real(double value) {
  Item out;
  out.kind = Item::Kind::kFloat;
  out.f = value;
  return out;
}

Item string_item(const Json& j) {
  Item out;
  out.kind = Item::Kind::kString;
  out.text = text(j, "a string");
  return out;
}

Item tensor_item(const Json& j) { return named(Item::Kind::kTensor, member(j, "name")); }

Item optional_tensor(const Json& j) {
  const Json* t = optional_member(j, "as_tensor");
  return t == nullptr ? Item{} : tensor_item(*t);
}

// A symbolic number, or a plain one among symbolic ones.
Item symbol_item(const Json& j) {
  if (const Json* name = optional_member(j, "as_name"); name != nullptr) return named(Item::Kind::kSymbol, *name);
  if (const Json* i = optional_member(j, "as_int"); i != nullptr) return whole(Item::Kind::kInt, integer(*i, "as_int"));
  if (const Json* f = optional_member(j, "as_float"); f != nullptr) return real(number(*f, "as_float"));
  if (const Json* b = optional_member(j, "as_bool"); b != nullptr) return whole(Item::Kind::kBool, boolean(*b, "as_bool") ? 1 : 0);
  throw SchemaError("a symbolic number has neither name nor value");
}

Item int_item(const Json& j) { return whole(Item::Kind::kInt, integer(j, "as_int")); }
Item float_item(const Json& j) { return real(number(j, "as_float")); }
Item bool_item(const Json& j) { return whole(Item::Kind::kBool, boolean(j, "as_bool") ? 1 : 0); }

struct ArgReader {
  const char* type;
  Item (*read)(const Json&);
  bool is_list;
};
constexpr ArgReader kArgReaders[] = {
    {"as_tensor", &tensor_item, false},
    {"as_tensors", &tensor_item, true},
    {"as_int", &int_item, false},
    {"as_ints", &int_item, true},
    {"as_float", &float_item, false},
    {"as_floats", &float_item, true},
    {"as_bool", &bool_item, false},
    {"as_bools", &bool_item, true},
    {"as_string", &string_item, false},
    {"as_strings", &string_item, true},
    {"as_sym_int", &symbol_item, false},
    {"as_sym_ints", &symbol_item, true},
    {"as_sym_float", &symbol_item, false},
    {"as_sym_floats", &symbol_item, true},
    {"as_sym_bool", &symbol_item, false},
    {"as_sym_bools", &symbol_item, true},
    {"as_operator", &string_item, false},
    {"as_optional_tensor", &optional_tensor, false},
    {"as_optional_tensors", &optional_tensor, true},
};

GraphDef read_graph(const Json& j);

Arg read_arg(const Json& j) {
  Arg out;
  const Json::object_t& fields = object(j, "an argument");
  if (fields.size() != 1) throw SchemaError("an argument has " + std::to_string(fields.size()) + " values, expected one");
  const auto& [type, value] = *fields.begin();
  out.type = type;
  for (const ArgReader& r : kArgReaders) {
    if (type != r.type) continue;
    out.kind = r.is_list ? Arg::Kind::kList : Arg::Kind::kOne;
    if (!r.is_list) out.items.push_back(r.read(value));
    else
      for (const Json& element : list(value, r.type)) out.items.push_back(r.read(element));
    if (!r.is_list && out.items[0].kind == Item::Kind::kNone) out.kind = Arg::Kind::kNone;
    return out;
  }
  if (type == "as_none") return out;
  if (type == "as_memory_format" || type == "as_layout" || type == "as_device") {
    out.kind = Arg::Kind::kIgnored;
  } else if (type == "as_scalar_type") {
    out.kind = Arg::Kind::kOne;
    out.items.push_back(whole(Item::Kind::kDType, static_cast<int64_t>(to_dtype(static_cast<int>(integer(value, "as_scalar_type"))))));
  } else if (type == "as_graph") {
    out.kind = Arg::Kind::kGraph;
    out.graph = std::make_shared<const GraphDef>(read_graph(member(value, "graph")));
  } else {
    out.kind = Arg::Kind::kUnknown;
  }
  return out;
}

// "torch.ops.aten.add.Tensor" without its beginning.
std::string short_target(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  return target.compare(0, kOps.size(), kOps) == 0 ? target.substr(kOps.size()) : target;
}

// The path of the innermost module: entries "key,path,class" divided by ';'; commas inside brackets do not divide.
std::string module_path(const std::string& stack) {
  const size_t begin = stack.rfind(';');
  const std::string last = begin == std::string::npos ? stack : stack.substr(begin + 1);
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : last) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) parts.emplace_back();
    else parts.back().push_back(c);
  }
  return parts.size() == 3 && parts[1].find("_empty_nn_module_stack") == std::string::npos ? parts[1] : "";
}

// The innermost line of a stack trace that is not PyTorch's own.
std::string user_line(const std::string& trace) {
  std::string found;
  for (size_t at = trace.find("File \""); at != std::string::npos; at = trace.find("File \"", at + 1)) {
    const size_t begin = at + 6, end = trace.find("\", line ", begin);
    if (end == std::string::npos) break;
    const std::string file = trace.substr(begin, end - begin);
    const size_t digits = end + 8, stop = trace.find_first_not_of("0123456789", digits);
    const bool own = file.find("/torch/") != std::string::npos || file.compare(0, 6, "torch/") == 0 || file[0] == '<';
    if (!own || found.empty()) found = file + ":" + trace.substr(digits, stop - digits);
  }
  return found;
}

NodeDef read_node(const Json& j) {
  NodeDef out;
  out.target = short_target(text(member(j, "target"), "target"));
  if (const Json* name = optional_member(j, "name"); name != nullptr) out.name = text(*name, "name");
  for (const Json& in : list(member(j, "inputs"), "inputs"))
    out.inputs.push_back({text(member(in, "name"), "name"), read_arg(member(in, "arg"))});
  for (const Json& o : list(member(j, "outputs"), "outputs")) {
    const Arg arg = read_arg(o);
    if (arg.kind == Arg::Kind::kUnknown || arg.kind == Arg::Kind::kGraph) throw SchemaError("an output is " + arg.type);
    if (arg.items.empty() && arg.kind == Arg::Kind::kNone) out.outputs.emplace_back();
    out.outputs.insert(out.outputs.end(), arg.items.begin(), arg.items.end());
  }
  if (const Json* m = optional_member(j, "metadata"); m != nullptr) {
    if (const Json* s = optional_member(*m, "nn_module_stack"); s != nullptr) out.module = module_path(text(*s, "nn_module_stack"));
    if (const Json* s = optional_member(*m, "stack_trace"); s != nullptr) out.line = user_line(text(*s, "stack_trace"));
  }
  if (out.name.empty() && !out.outputs.empty()) out.name = out.outputs[0].text;
  return out;
}

GraphDef read_graph(const Json& j) {
  GraphDef out;
  for (const Json& i : list(member(j, "inputs"), "inputs")) out.inputs.push_back(read_arg(i));
  for (const Json& o : list(member(j, "outputs"), "outputs")) out.outputs.push_back(read_arg(o));
  for (const Json& n : list(member(j, "nodes"), "nodes")) out.nodes.push_back(read_node(n));
  for (const auto& [name, meta] : object(member(j, "tensor_values"), "tensor_values")) out.tensors.emplace(name, read_meta(meta));
  if (const Json* symbols = optional_member(j, "sym_int_values"); symbols != nullptr)
    for (const auto& [name, value] : object(*symbols, "sym_int_values")) out.symbols.emplace(name, read_sym(value));
  return out;
}

Item one_item(const Json& j) {
  const Arg arg = read_arg(j);
  return arg.items.size() == 1 ? arg.items[0] : Item{};
}

InputSpec read_input(const Json& j) {
  InputSpec out;
  const Json::object_t& fields = object(j, "an input");
  if (fields.size() != 1) throw SchemaError("an input has several kinds");
  const auto& [kind, value] = *fields.begin();
  using Kind = InputSpec::Kind;
  if (kind == "user_input") {
    const Item item = one_item(member(value, "arg"));
    out.kind = item.kind == Item::Kind::kTensor || item.kind == Item::Kind::kSymbol ? Kind::kUser : Kind::kLiteral;
    out.name = item.text;
    out.literal = item;
    out.symbolic = item.kind == Item::Kind::kSymbol;
  } else if (kind == "constant_input") {
    out.kind = Kind::kLiteral;
    out.name = text(member(value, "name"), "name");
    out.literal = one_item(member(value, "value"));
  } else if (kind == "token") {
    out.kind = Kind::kToken;
  } else {
    const char* target = kind == "parameter"         ? "parameter_name"
                         : kind == "buffer"          ? "buffer_name"
                         : kind == "tensor_constant" ? "tensor_constant_name"
                                                     : "custom_obj_name";
    out.kind = kind == "parameter"         ? Kind::kParameter
               : kind == "buffer"          ? Kind::kBuffer
               : kind == "tensor_constant" ? Kind::kConstant
                                           : Kind::kObject;
    out.name = text(member(member(value, "arg"), "name"), "name");
    out.target = text(member(value, target), target);
  }
  return out;
}

OutputSpec read_output(const Json& j) {
  OutputSpec out;
  const Json::object_t& fields = object(j, "an output");
  if (fields.size() != 1) throw SchemaError("an output has several kinds");
  const auto& [kind, value] = *fields.begin();
  using Kind = OutputSpec::Kind;
  const auto written = [&, &v = value](Kind as, const char* target) {
    out.kind = as;
    out.value = tensor_item(member(v, "arg"));
    out.target = text(member(v, target), target);
  };
  if (kind == "user_output") out.value = one_item(member(value, "arg"));
  else if (kind == "loss_output") out.value = tensor_item(member(value, "arg"));
  else if (kind == "buffer_mutation") written(Kind::kBuffer, "buffer_name");
  else if (kind == "parameter_mutation") written(Kind::kParameter, "parameter_name");
  else if (kind == "user_input_mutation") written(Kind::kUserInput, "user_input_name");
  else out.kind = kind == "token" ? Kind::kToken : Kind::kOther;
  return out;
}

std::map<std::string, Range> read_ranges(const Json& j) {
  std::map<std::string, Range> out;
  for (const auto& [name, value] : object(j, "range_constraints")) {
    Range r;
    if (const Json* min = optional_member(value, "min_val"); min != nullptr && min->is_number()) r.min = integer(*min, "min_val");
    if (const Json* max = optional_member(value, "max_val"); max != nullptr && max->is_number()) {
      r.max = integer(*max, "max_val");
      r.bounded = true;
    }
    out.emplace(name, r);
  }
  return out;
}

// Runs a reader over the JSON text; SchemaErrors become texts.
template <class Read>
bool read_json(std::string_view json, std::string* error, Read read) {
  Json j;
  if (!parse_json(json, &j, error)) return false;
  try {
    read(j);
    return true;
  } catch (const SchemaError& e) {
    *error = e.what();
    return false;
  }
}

}  // namespace

const Arg* NodeDef::find(std::string_view argument) const {
  for (const NamedArg& a : inputs)
    if (a.name == argument) return &a.arg;
  return nullptr;
}

bool read_program(std::string_view json, ProgramDef* out, std::string* error) {
  return read_json(json, error, [&](const Json& j) {
    const int64_t major = integer(member(member(j, "schema_version"), "major"), "major");
    if (major != kMajorVersion)
      throw SchemaError("expected version " + std::to_string(kMajorVersion) + " of torch.export's schema, found " + std::to_string(major));
    const Json& module = member(j, "graph_module");
    out->graph = read_graph(member(module, "graph"));
    const Json& signature = member(module, "signature");
    for (const Json& i : list(member(signature, "input_specs"), "input_specs")) out->inputs.push_back(read_input(i));
    for (const Json& o : list(member(signature, "output_specs"), "output_specs")) out->outputs.push_back(read_output(o));
    out->output_names = read_output_names(module);
    if (const Json* r = optional_member(j, "range_constraints"); r != nullptr) out->ranges = read_ranges(*r);
    if (const Json* v = optional_member(j, "torch_version"); v != nullptr) out->torch_version = text(*v, "torch_version");
  });
}

bool read_payloads(std::string_view json, std::vector<PayloadDef>* out, std::string* error) {
  return read_json(json, error, [&](const Json& j) {
    for (const auto& [name, value] : object(member(j, "config"), "config")) {
      PayloadDef p;
      p.name = name;
      p.path = text(member(value, "path_name"), "path_name");
      p.pickled = boolean(member(value, "use_pickle"), "use_pickle");
      if (const Json* m = optional_member(value, "tensor_meta"); m != nullptr) {
        p.meta = read_meta(*m);
        for (const Json& s : list(member(*m, "strides"), "strides")) p.strides.push_back(read_sym(s).value);
        p.offset = read_sym(member(*m, "storage_offset")).value;
      }
      out->push_back(std::move(p));
    }
  });
}

}  // namespace mote::frontends::torch
