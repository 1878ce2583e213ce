#include "mote/compiler/driver/stand_ins.h"

#include <array>
#include <utility>

#include "mote/compiler/program/registry.h"

namespace mote::driver {
namespace {

// The runtime's functions carry no pointer of the caller's, so each kind has a function of its own, and what it is about lies here.
thread_local const std::vector<ir::MissingOp>* kinds = nullptr;

Status cannot_run(const OpContext&) noexcept { return Status::kUnsupported; }
KernelFn select(const OpContext&) noexcept { return &cannot_run; }

template <size_t Kind>
Status infer(const InferContext& c) noexcept {
  if (kinds == nullptr || Kind >= kinds->size()) return Status::kUnsupported;
  const std::vector<ir::MissingOp::Tensor>& outputs = (*kinds)[Kind].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Type& type = outputs[i].type;
    MOTE_TRY(c.set(static_cast<int>(i), type.dtype, type.rank(), type.dims.data()));
  }
  return Status::kOk;
}

using InferFn = Status (*)(const InferContext&) noexcept;
template <size_t... Kinds>
constexpr std::array<InferFn, sizeof...(Kinds)> functions(std::index_sequence<Kinds...>) {
  return {&infer<Kinds>...};
}
constexpr std::array<InferFn, kMostMissing> kInfer = functions(std::make_index_sequence<kMostMissing>());

std::vector<OpDef> definitions_of(const std::vector<ir::MissingOp>& missing) {
  std::vector<OpDef> all;
  for (size_t i = 0; i < missing.size() && i < kMostMissing; ++i) {
    const ir::MissingOp& m = missing[i];
    OpDef d{};
    d.name = m.symbol.c_str();
    while (d.min_in < m.inputs.size() && m.inputs[d.min_in].type.dtype != DType::kNone) ++d.min_in;
    d.max_in = static_cast<uint8_t>(m.inputs.size());
    d.min_out = d.max_out = static_cast<uint8_t>(m.outputs.size());
    d.infer = kInfer[i];
    d.select = &select;
    all.push_back(d);
  }
  return all;
}

}  // namespace

StandIns::StandIns(const std::vector<ir::MissingOp>& missing)
    : definitions_(definitions_of(missing)), registry_({definitions_.data(), definitions_.size()}, &program::builtin_registry()) {
  kinds = &missing;
}

StandIns::~StandIns() { kinds = nullptr; }

}  // namespace mote::driver
