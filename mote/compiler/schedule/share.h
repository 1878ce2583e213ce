#pragma once

// Memory sharing: views instead of copies, results computed in place, copies eliminated.

#include <map>
#include <string>
#include <vector>

#include "mote/compiler/schedule/plan.h"
#include "mote/core/op.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

struct ShareOptions {
  bool in_place = true;
  bool reshapes = true;  // results of reshapes and copies become views
  bool concats = true;   // operands of concatenations and pads are computed inside the result
  bool splits = true;    // results of splits and slices become views of their operand
};

// Tensors with the same non-empty text have the same sizes in every run, whatever they are. By tensor; may be shorter.
using SizeKeys = std::vector<std::string>;

// Merges buffers and drops steps that become no-ops. The plan comes from StepBuilder or make_strips: one buffer for each arena tensor, no
// banks or offsets. Returns, for each step of the result, its number before.
std::vector<uint32_t> share_memory(Plan& plan, const OpRegistry& ops, const ShareOptions& options, const SizeKeys& sizes = {});

// Replaces the steps of a plan. place[i]: index of step i, or of its replacement, in `steps`; place.back() is their number.
// Control steps must be kept; lengths of ranges and methods are updated.
void set_steps(Plan& plan, std::vector<Step> steps, const std::vector<uint32_t>& place);

// Drops tensors, buffers and constants that nothing refers to.
void drop_unused(Plan& plan);

// The implementation of share_memory. Step numbers are stable until finish().
class Sharing {
 public:
  Sharing(Plan& plan, const OpRegistry& ops, const SizeKeys& sizes);

  void drop_views();    // share_views.cc
  void join_concats();  // share_views.cc
  void join_pads();     // share_views.cc
  void cut_views();     // share_views.cc
  void drop_copies();   // share_in_place.cc
  void in_place();      // share_in_place.cc
  std::vector<uint32_t> finish();

 private:
  struct Uses {
    std::vector<uint32_t> writes, reads;  // steps, ascending
  };
  struct Range {
    uint32_t first, last;
    int32_t around;
    bool loop;
  };

  void scan();
  void open(std::vector<int32_t>& stack, uint32_t first, uint32_t count, bool loop);
  const Step& step(uint32_t i) const { return plan_.steps[i]; }
  Uses& uses(TensorId t) { return uses_[static_cast<size_t>(t)]; }
  const Uses& uses(TensorId t) const { return uses_[static_cast<size_t>(t)]; }
  const TensorDesc& desc(TensorId t) const { return plan_.tensor(t).desc; }
  std::vector<TensorId>& members(TensorId t) { return members_[static_cast<size_t>(plan_.tensor(t).place)]; }
  bool in_arena(TensorId t) const { return t >= 0 && desc(t).storage == Storage::kArena; }
  bool is_static(TensorId t) const { return desc(t).dynamic == 0; }
  bool written_once(TensorId t) const { return uses(t).writes.size() == 1; }
  // Alone in its buffer, and free to move to another one.
  bool owns_buffer(TensorId t) {
    return in_arena(t) && members(t).size() == 1 && plan_.tensor(t).at == 0 && !pinned_[static_cast<size_t>(t)];
  }
  // Covers its whole buffer, maybe together with reshaped views of it: all of them may move to dense bytes, a lone tensor to any strides.
  bool movable(TensorId t, const int32_t* strides);
  // Operands of steps in strips are not changed: their buffers hold rows of several trips.
  bool is_frozen(uint32_t i) const { return dropped_[i] || in_strip_[i]; }
  int32_t loop_of(uint32_t i) const;
  bool inside(uint32_t i, int32_t range) const;
  bool share_bytes(TensorId a, TensorId b) const;  // by their extents
  bool touches(TensorId out, TensorId other) const;
  bool legal(const Step& s) const;
  bool legal_around(TensorId t) const;
  // The bytes of t are not read behind step i, in this or a later trip.
  bool dead_after(TensorId t, uint32_t i);
  // No other tensor in t's buffer accesses t's bytes in steps first to last.
  bool free_between(TensorId t, uint32_t first, uint32_t last);
  void move(TensorId t, int32_t place, uint64_t at, const int32_t* strides);
  // Moves a movable tensor and the views in its buffer, unless the verifier would then reject a step that uses them.
  bool try_move(TensorId t, int32_t place, uint64_t at, const int32_t* strides);
  TensorId add_part(TensorId whole, TensorId like, uint64_t at, uint32_t written);
  std::vector<Step*> steps_at(uint32_t i);
  bool rename(TensorId from, TensorId to);
  bool same_type(TensorId a, TensorId b) const;

  bool join_concat(uint32_t i);
  bool join_pad(uint32_t i);
  TensorId pad_value(const Step& s, const OpContext& c);
  bool cut(uint32_t i, const std::vector<uint64_t>& offsets);
  bool drop_copy(uint32_t i);
  void write_in_place(uint32_t i);
  bool write_over(uint32_t i, size_t input);
  bool write_into_output(uint32_t i, size_t input);
  bool sizes_agree(const Step& s, size_t input) const;
  bool other_operands_permit(const Step& s, size_t input) const;

  Plan& plan_;
  const OpRegistry& ops_;
  const SizeKeys& sizes_;
  std::vector<Uses> uses_;                         // per tensor
  std::vector<std::vector<TensorId>> members_;     // per buffer
  std::vector<Range> ranges_;                      // branches and loops
  std::vector<int32_t> range_of_;                  // per step, the innermost
  std::vector<bool> dropped_, in_strip_;           // per step
  std::vector<bool> pinned_;                       // per tensor: must keep its layout, which the caller knows
  std::map<uint32_t, std::vector<Step>> instead_;  // replacements of a dropped step
  std::map<uint32_t, std::vector<Step>> before_;   // inserted before a step
};

}  // namespace mote::schedule
