#include "mote/compiler/schedule/verify_plan.h"

#include <algorithm>

#include "mote/compiler/program/describe.h"
#include "mote/compiler/schedule/op_query.h"
#include "mote/compiler/schedule/overlap.h"
#include "mote/compiler/schedule/place.h"
#include "mote/format/reader.h"
#include "mote/runtime/verify.h"

namespace mote::schedule {
namespace {

class Verifier {
 public:
  Verifier(const Plan& plan, const OpRegistry& ops, std::string& error) : p_(plan), ops_(ops), error_(error) {}

  bool run() {
    if (p_.banks.empty()) return fail("a plan needs a bank");
    for (size_t i = 0; i < p_.tensors.size(); ++i)
      if (!tensor(i)) return false;
    if (!methods() || !states()) return false;
    for (size_t i = 0; i < p_.steps.size(); ++i)
      if (!step(i)) return false;
    // Every tensor number has been checked: tensors may be looked up from here on.
    live_ranges_ = buffer_live_ranges(p_);
    overlaps_ = find_overlaps(p_, live_ranges_);
    for (size_t i = 0; i < p_.steps.size(); ++i)
      if (!overlaps_are_permitted(i)) return false;
    return buffers();
  }

 private:
  bool fail(const std::string& why) {
    error_ = why;
    return false;
  }
  bool is_tensor(TensorId t) const { return t >= 0 && static_cast<size_t>(t) < p_.tensors.size(); }

  bool tensor(size_t i) {
    const Tensor& t = p_.tensors[i];
    const std::string what = "tensor " + std::to_string(i) + " ('" + t.name + "')";
    const TensorDesc& d = t.desc;
    if (dtype_bits(d.dtype) == 0 || d.rank > kMaxRank) return fail(what + " has no type");
    int64_t count = 1;
    for (int k = 0; k < d.rank; ++k) {
      if (d.dims[k] < 0 || d.strides[k] < 0) return fail(what + " has a negative size");
      count *= std::max(d.dims[k], 1);
      if (count > kMaxTensorBytes) return fail(what + " is too large");
    }
    if (d.storage >= Storage::kInput) return t.place >= 0 ? true : fail(what + " is no input or output");
    const size_t places = d.storage == Storage::kConstant ? p_.constants.size() : p_.buffers.size();
    if (t.place < 0 || static_cast<size_t>(t.place) >= places) return fail(what + " has no place");
    const uint64_t room = d.storage == Storage::kConstant ? p_.constants[static_cast<size_t>(t.place)].data.size
                                                          : p_.buffers[static_cast<size_t>(t.place)].bytes;
    if (t.at > room || extent_bytes(d) > room - t.at)
      return fail(what + " needs bytes " + std::to_string(t.at) + " to " + std::to_string(t.at + extent_bytes(d)) + " of " +
                  std::to_string(room));
    if (d.storage == Storage::kState && !p_.buffers[static_cast<size_t>(t.place)].state)
      return fail(what + " is a state in a buffer that is not kept");
    return true;
  }

  bool methods() {
    size_t next = 0;
    for (const Method& m : p_.methods) {
      if (m.first_step != next || m.step_count > p_.steps.size() - next)
        return fail("method '" + m.name + "' has steps that are not its own");
      for (const auto* list : {&m.inputs, &m.outputs})
        for (const Io& io : *list)
          if (!is_tensor(io.tensor)) return fail("'" + io.name + "' of method '" + m.name + "' names no tensor");
      if (!ranges(next, next + m.step_count, 0)) return false;
      next += m.step_count;
    }
    return next == p_.steps.size() || fail("steps belong to no method");
  }

  // Ranges nest, as deep as a program allows.
  bool ranges(size_t first, size_t end, int depth) {
    for (size_t i = first; i < end; ++i) {
      const Step& s = p_.steps[i];
      if (!s.is_control()) continue;
      const size_t length = size_t{s.body} + s.otherwise;
      const int inner = depth + (s.is(ControlOp::kIf) ? 2 : 1);
      if (length > end - i - 1) return fail("'" + s.name + "' has a body that ends outside of the range around it");
      if (length > 0 && inner > kMaxNesting)
        return fail("'" + s.name + "' is nested too deeply; at most " + std::to_string(kMaxNesting) +
                    " ranges (an if counts twice) are possible");
      if (!ranges(i + 1, i + 1 + s.body, inner) || !ranges(i + 1 + s.body, i + 1 + length, inner)) return false;
      i += length;
    }
    return true;
  }

  bool states() {
    for (const State& s : p_.states) {
      if (!is_tensor(s.tensor) || p_.tensor(s.tensor).desc.storage != Storage::kState) return fail("state '" + s.name + "' has no tensor");
      if (s.init == kNone) continue;
      if (!is_tensor(s.init) || p_.tensor(s.init).desc.storage != Storage::kConstant)
        return fail("state '" + s.name + "' starts as no constant");
    }
    return true;
  }

  bool step(size_t i) {
    const Step& s = p_.steps[i];
    const std::string what = step_name(i);
    for (const auto* list : {&s.inputs, &s.outputs})
      for (TensorId t : *list)
        if (t != kNone && !is_tensor(t)) return fail(what + " names no tensor");
    for (TensorId t : s.outputs)
      if (t >= 0 && (p_.tensor(t).desc.storage == Storage::kConstant || p_.tensor(t).desc.storage == Storage::kInput))
        return fail(what + " writes to a constant or an input");
    if (s.is_control()) return true;
    if (!ring_holds_a_trip(i)) return false;
    const OpDef* def = definition(ops_, s);
    if (def == nullptr) return fail(what + ": unknown operator");
    const OpQuery query(p_, s, *def);
    std::vector<TensorType> types;
    Diagnostic d;
    const Status status = query.infer(&types, &d);
    d.status = status;
    if (!status.ok() && !(query.dynamic() && status.code() == Status::kShape)) return fail(what + ": " + program::describe(d));
    for (size_t o = 0; status.ok() && o < types.size(); ++o)
      if (s.outputs[o] >= 0 && !same(types[o], p_.tensor(s.outputs[o]).desc, query.dynamic()))
        return fail(what + ": output " + std::to_string(o) + " has another type than the operator gives");
    return true;
  }
  // Threads write the rows of a trip concurrently, so no two rows may have one place in a ring.
  bool ring_holds_a_trip(size_t i) {
    for (const TensorId t : p_.steps[i].outputs) {
      const int32_t ring = t >= 0 ? p_.tensor(t).desc.ring_rows : 0;
      if (ring != 0 && ring < p_.steps[i].rows.rows)
        return fail(step_name(i) + " writes " + std::to_string(p_.steps[i].rows.rows) + " rows in a trip; the ring of tensor " +
                    std::to_string(t) + " holds " + std::to_string(ring));
    }
    return true;
  }
  std::string step_name(size_t i) const { return "step " + std::to_string(i) + " ('" + p_.steps[i].name + "')"; }

  static bool same(const TensorType& t, const TensorDesc& d, bool dynamic) {
    if (t.dtype != d.dtype || t.rank != d.rank) return false;
    for (int k = 0; k < d.rank; ++k)
      if (t.dims[k] == kDimUnknown ? (d.dynamic >> k & 1) == 0 : !dynamic && t.dims[k] != d.dims[k]) return false;
    return true;
  }

  bool overlaps_are_permitted(size_t i) {
    const Step& s = p_.steps[i];
    if (s.is_control()) return true;
    const OpDef& def = *definition(ops_, s);
    const auto placed = [&](TensorId id) {
      const Tensor& t = p_.tensor(id);
      TensorDesc d = t.desc;
      const bool buffer = d.storage == Storage::kArena || d.storage == Storage::kState;
      d.bank = buffer ? p_.buffers[static_cast<size_t>(t.place)].bank : 0;
      d.offset = buffer ? p_.buffers[static_cast<size_t>(t.place)].offset + t.at : static_cast<uint64_t>(id);
      return d;
    };
    for (size_t k = 0; k < s.outputs.size(); ++k) {
      for (size_t j = 0; s.outputs[k] >= 0 && j < s.inputs.size() + k; ++j) {
        const TensorId other = j < s.inputs.size() ? s.inputs[j] : s.outputs[j - s.inputs.size()];
        if (other < 0) continue;
        const TensorDesc a = placed(s.outputs[k]), b = placed(other);
        if (!overlaps(a, b) || in_front(s.outputs[k], other)) continue;
        if (j < s.inputs.size() && a.offset == b.offset && may_share(def, static_cast<uint32_t>(k), static_cast<uint32_t>(j), a, b))
          continue;
        return fail(step_name(i) + " writes tensor " + std::to_string(s.outputs[k]) + " over tensor " + std::to_string(other));
      }
    }
    return true;
  }

  // The output overlaps the input only behind its last use (overlap.h).
  bool in_front(TensorId output, TensorId input) const {
    const Tensor &y = p_.tensor(output), &x = p_.tensor(input);
    return has_buffer(y) && has_buffer(x) && buffer_in_front(y.place, x.place);
  }
  static bool has_buffer(const Tensor& t) { return t.desc.storage == Storage::kArena || t.desc.storage == Storage::kState; }
  bool buffer_in_front(int32_t output, int32_t input) const {
    const auto offset = [&](int32_t b) { return static_cast<int64_t>(p_.buffers[static_cast<size_t>(b)].offset); };
    return std::any_of(overlaps_.begin(), overlaps_.end(), [&](const Overlap& o) {
      const int64_t in_front = offset(input) - offset(output);
      return o.output == output && o.input == input && (o.starts_after ? -in_front : in_front) >= o.distance;
    });
  }

  bool buffers() {
    const std::vector<memory::LiveRange>& live = live_ranges_;
    std::vector<size_t> order;
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      if (b.bank >= p_.banks.size() || b.offset > p_.banks[b.bank].size || b.bytes > p_.banks[b.bank].size - b.offset)
        return fail("buffer " + std::to_string(i) + " lies outside of its bank");
      if (b.bytes > 0 && live[i].used()) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p_.buffers[a].offset < p_.buffers[b].offset; });
    for (size_t k = 0; k < order.size(); ++k) {
      const Buffer& a = p_.buffers[order[k]];
      for (size_t l = k + 1; l < order.size() && p_.buffers[order[l]].offset < a.offset + a.bytes; ++l)
        if (p_.buffers[order[l]].bank == a.bank && live[order[k]].overlaps(live[order[l]]) && !may_meet(order[k], order[l]))
          return fail("buffers " + std::to_string(order[k]) + " and " + std::to_string(order[l]) + " overlap while both are needed");
    }
    return true;
  }

  bool may_meet(size_t a, size_t b) const {
    const auto i = static_cast<int32_t>(a), j = static_cast<int32_t>(b);
    return buffer_in_front(i, j) || buffer_in_front(j, i);
  }

  const Plan& p_;
  const OpRegistry& ops_;
  std::string& error_;
  std::vector<memory::LiveRange> live_ranges_;
  std::vector<Overlap> overlaps_;
};

}  // namespace

bool verify_plan(const Plan& plan, const OpRegistry& ops, std::string* error) { return Verifier(plan, ops, *error).run(); }

}  // namespace mote::schedule
