#pragma once

// Compiles and runs graphs in tests, in memory of exactly the stated size.

#include <gtest/gtest.h>

#include <memory>

#include "mote/compiler/assemble/compile_graph.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/schedule/schedule.h"
#include "mote/runtime/testing/run_program.h"

namespace mote::schedtest {

using runtest::bytes_of;
using runtest::values_of;
using Buffers = std::vector<std::vector<uint8_t>>;

inline std::unique_ptr<runtest::Loaded> load(const ir::Graph& graph, const schedule::PlanOptions& plan = {},
                                             const OpRegistry& ops = program::builtin_registry()) {
  program::FileBytes file;
  std::string error;
  assemble::GraphCompileOptions options;
  options.plan = plan;
  options.plan.ops = &ops;
  EXPECT_TRUE(assemble::compile_graph(graph, options, &file, &error)) << error;
  if (file.size == 0) return nullptr;
  auto loaded = std::make_unique<runtest::Loaded>(std::move(file), ops);
  EXPECT_TRUE(loaded->status.ok()) << emit::describe(loaded->diagnostic);
  return loaded->status.ok() ? std::move(loaded) : nullptr;
}

// The outputs of a method, or nothing (and a failure) when it did not run.
inline Buffers run(runtest::Loaded* loaded, uint32_t method, const Buffers& inputs, const std::vector<emit::Dims>& dims = {}) {
  Buffers out;
  if (loaded == nullptr) return out;
  const Status status = loaded->run(method, inputs, &out, dims);
  EXPECT_TRUE(status.ok()) << emit::describe(loaded->instance.diagnostic());
  EXPECT_TRUE(loaded->guards_intact());
  return status.ok() ? out : Buffers{};
}

inline Buffers run(const ir::Graph& graph, const Buffers& inputs, const std::vector<emit::Dims>& dims = {},
                   const schedule::PlanOptions& plan = {}) {
  const auto loaded = load(graph, plan);
  return run(loaded.get(), 0, inputs, dims);
}

inline std::vector<uint8_t> s64(int64_t v) { return bytes_of<int64_t>({v}); }

inline emit::Dims dims_of(const runtest::Loaded& loaded, uint32_t output) {
  const TensorDesc& d = *loaded.instance.output(0, output).desc;
  return {d.dims, d.dims + d.rank};
}

}  // namespace mote::schedtest
