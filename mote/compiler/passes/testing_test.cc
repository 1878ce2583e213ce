// The interpreter that other tests here compare graphs with, and a test of itself.

#include "mote/compiler/passes/testing.h"

#include <cmath>
#include <cstring>
#include <regex>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/ir/text.h"
#include "mote/compiler/ir/verify.h"

namespace mote::passes {

using ir::Operand;

namespace {

Operand random_operand(DType dtype, const ir::Dims& dims, uint32_t seed) {
  std::string sizes;
  for (const int32_t d : dims) sizes += (sizes.empty() ? "" : ",") + std::to_string(d);
  ir::Graph g;
  std::string error;
  const std::string type = std::string(dtype_name(dtype)) + "[" + sizes + "]";
  EXPECT_TRUE(ir::parse("constant @x: " + type + " = seed " + std::to_string(seed), g, &error)) << error;
  return {true, dtype, dims, Layout::kPlain, g.values().front()->data};
}

double number(const Operand& o, size_t i) {
  const uint8_t* p = o.data.data + i * dtype_bytes(o.dtype);
  const auto as = [&](auto t) {
    std::memcpy(&t, p, sizeof t);
    return static_cast<double>(t);
  };
  switch (o.dtype) {
    case DType::f32: return as(float{});
    case DType::f64: return as(double{});
    case DType::f16: return as(f16(0.0f));
    case DType::bf16: return as(bf16(0.0f));
    case DType::s8: return as(int8_t{});
    case DType::s16: return as(int16_t{});
    case DType::s32: return as(int32_t{});
    case DType::s64: return as(int64_t{});
    default: return as(uint8_t{});
  }
}

void expect_same(const std::vector<Operand>& a, const std::vector<Operand>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t r = 0; r < a.size(); ++r) {
    ASSERT_EQ(a[r].dtype, b[r].dtype) << "result " << r;
    ASSERT_EQ(a[r].dims, b[r].dims) << "result " << r;
    const size_t count = a[r].data.size / dtype_bytes(a[r].dtype);
    double largest = 1e-3, worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < count; ++i) {
      const double x = number(a[r], i), y = number(b[r], i);
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
      const double off = std::isnan(x) && std::isnan(y) ? 0 : x == y ? 0 : std::fabs(x - y);
      if (!(off <= worst)) worst = off, where = i;
    }
    EXPECT_LE(worst, tolerance * largest) << "result " << r << " element " << where << ": " << number(a[r], where) << " became "
                                          << number(b[r], where);
  }
}

std::vector<std::vector<Operand>> results_of(const ir::Graph& graph) {
  std::vector<std::vector<Operand>> all;
  for (size_t sample = 0; sample < graph.sample_count(); ++sample) {
    Interpreter interpreter(sample);
    for (uint32_t run = 1; run <= 2; ++run) {
      for (const ir::Method& m : graph.methods) {
        all.emplace_back();
        EXPECT_TRUE(interpreter.run(m, 17 * run + static_cast<uint32_t>(sample), &all.back()));
      }
    }
  }
  return all;
}

void compare(const std::vector<std::vector<Operand>>& a, const std::vector<std::vector<Operand>>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i], tolerance);
}

std::string methods_of(const ir::Graph& graph) {
  ir::TextOptions options;
  options.bytes = false;
  const std::string text = ir::print(graph, options);
  return text.substr(std::min(text.find("method "), text.size()));
}

}  // namespace

bool Interpreter::run(const ir::Method& method, uint32_t seed, std::vector<Operand>* results) {
  for (const ir::Value* v : method.block->arguments)
    values_[v] = random_operand(v->type.dtype, sample_ < v->facts.size() ? v->facts[sample_].dims : v->type.dims, seed++);
  if (!block(*method.block)) return false;
  for (const ir::Value* v : method.block->results) results->push_back(value(v));
  return true;
}

Operand Interpreter::value(const ir::Value* v) {
  if (v == nullptr) return {};
  const auto it = values_.find(v);
  if (it != values_.end()) return it->second;
  if (v->data.present()) return {true, v->type.dtype, v->type.dims, v->layout, v->data};
  return {true, v->type.dtype, v->type.dims, Layout::kPlain, ir::Bytes::own(std::vector<uint8_t>(v->type.byte_size()))};
}

bool Interpreter::block(const ir::Block& b) {
  for (const auto& n : b.nodes) {
    if (node(*n)) continue;
    ADD_FAILURE() << "cannot run " << ir::print(*n);
    return false;
  }
  return true;
}

bool Interpreter::node(const ir::Node& n) {
  if (n.op == ir::kLoop) return loop(n);
  if (n.op == ir::kAssign) {
    values_[n.inputs[0]] = value(n.inputs[1]);
    return true;
  }
  if (n.op == ir::kIf) {
    const ir::Block& taken = *n.blocks[*value(n.inputs[0]).data.data != 0 ? 0 : 1];
    if (!block(taken)) return false;
    for (size_t o = 0; o < n.outputs.size(); ++o) values_[n.outputs[o]] = value(taken.results[o]);
    return true;
  }
  std::vector<Operand> inputs;
  for (const ir::Value* v : n.inputs) inputs.push_back(value(v));
  std::vector<TensorType> types;
  std::string error;
  if (!ir::ask_types(n, inputs, &types, &error)) {
    ADD_FAILURE() << error;
    return false;
  }
  std::vector<uint8_t> unknown(types.size(), 0);
  for (size_t o = 0; o < types.size(); ++o) {
    for (int i = 0; i < types[o].rank && n.outputs[o] != nullptr; ++i) {
      if (types[o].dims[i] != kDimUnknown) continue;
      types[o].dims[i] = n.outputs[o]->type.dims[static_cast<size_t>(i)];
      unknown[o] = static_cast<uint8_t>(unknown[o] | 1u << i);
    }
  }
  std::vector<ir::Bytes> data;
  if (!ir::run_operator(n, inputs, unknown, &types, &data)) return false;
  for (size_t o = 0; o < types.size(); ++o)
    if (n.outputs[o] != nullptr)
      values_[n.outputs[o]] = {true, types[o].dtype, ir::Dims(types[o].dims, types[o].dims + types[o].rank), Layout::kPlain, data[o]};
  return true;
}

bool Interpreter::loop(const ir::Node& n) {
  const ir::Block& b = *n.blocks[0];
  const size_t carried = n.inputs.size() - 2, scans = n.outputs.size() - carried;
  std::vector<Operand> now;
  for (size_t i = 0; i < carried; ++i) now.push_back(value(n.inputs[i + 2]));
  int64_t trips = n.max_trips;
  if (n.inputs[0] != nullptr) std::memcpy(&trips, value(n.inputs[0]).data.data, 8);
  bool on = n.inputs[1] == nullptr || *value(n.inputs[1]).data.data != 0;
  std::vector<std::vector<uint8_t>> stacked(scans);
  std::vector<Operand> part(scans);
  int64_t trip = 0;
  for (; on && trip < std::min(trips, n.max_trips); ++trip) {
    values_[b.arguments[0]] = {true, DType::s64, {}, Layout::kPlain, ir::Bytes::copy_of(&trip, 8)};
    values_[b.arguments[1]] = {true, DType::boolean, {}, Layout::kPlain, ir::Bytes::copy_of(&on, 1)};
    for (size_t i = 0; i < carried; ++i) values_[b.arguments[i + 2]] = now[i];
    if (!block(b)) return false;
    for (size_t i = 0; i < carried; ++i) now[i] = value(b.results[i + 1]);
    for (size_t i = 0; i < scans; ++i) {
      part[i] = value(b.results[i + 1 + carried]);
      stacked[i].insert(stacked[i].end(), part[i].data.data, part[i].data.data + part[i].data.size);
    }
    on = *value(b.results[0]).data.data != 0;
  }
  for (size_t i = 0; i < carried; ++i) values_[n.outputs[i]] = now[i];
  for (size_t i = 0; i < scans; ++i) {
    part[i].dims.insert(part[i].dims.begin(), static_cast<int32_t>(trip));
    part[i].data = ir::Bytes::own(std::move(stacked[i]));
    values_[n.outputs[i + carried]] = part[i];
  }
  return true;
}

void expect_pass(const std::vector<std::string>& passes, const std::string& before, const std::string& after, double tolerance,
                 const PassOptions& options) {
  ir::Graph g;
  std::string error;
  ASSERT_TRUE(ir::parse(before, g, &error)) << error;
  ASSERT_TRUE(ir::verify(g, &error)) << error;
  const auto expected = results_of(g);
  for (const std::string& p : passes) {
    run_pass(p, g, options);
    ASSERT_TRUE(ir::verify(g, &error)) << error << " after " << p;
  }
  EXPECT_EQ(methods_of(g), std::regex_replace(after, std::regex("\\\\\\n *"), ""));
  compare(expected, results_of(g), tolerance);
  // What has been done is not done again.
  const std::string once = ir::print(g);
  for (const std::string& p : passes) run_pass(p, g, options);
  EXPECT_EQ(ir::print(g), once);
}

std::string run_all(const std::string& before, double tolerance, const PassOptions& options) {
  ir::Graph g;
  std::string error;
  EXPECT_TRUE(ir::parse(before, g, &error)) << error;
  const auto expected = results_of(g);
  EXPECT_TRUE(run_passes(g, options, &error)) << error;
  compare(expected, results_of(g), tolerance);
  return methods_of(g);
}

TEST(InterpreterTest, RunsControlFlowAndStates) {
  ir::Graph g;
  std::string error;
  ASSERT_TRUE(ir::parse(R"(
state $sum: s64[]
method "m"() -> ("y", "all", "sum") {
  %0, %1 = loop(s64[]{3}, _, s64[]{1}) trips 10 {
    arguments %2: s64[], %3: bool[], %4: s64[]
    %5 = add(%4, %4)
    yield bool[]{1}, %5, %2
  }
  %6 = add($sum, %0)
  assign($sum, %6)
  %7 = copy($sum)
  yield %0, %1, %7
})",
                        g, &error))
      << error;
  Interpreter interpreter;
  for (int64_t run = 1; run <= 2; ++run) {
    std::vector<Operand> r;
    ASSERT_TRUE(interpreter.run(g.methods[0], 1, &r));
    EXPECT_EQ(number(r[0], 0), 8);
    EXPECT_EQ(r[1].dims, ir::Dims{3});
    EXPECT_EQ(number(r[1], 2), 2);
    EXPECT_EQ(number(r[2], 0), 8.0 * static_cast<double>(run));
  }
}

}  // namespace mote::passes
