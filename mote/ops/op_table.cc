#include "mote/ops/op_table.h"

#include "ops_selected.h"  // generated: #include of every selected operator's header

namespace mote {
namespace {

template <class A, Status (*F)(const A&, const InferContext&) noexcept>
Status infer_with(const InferContext& c) noexcept {
  if constexpr (std::is_empty_v<A>) return F(A{}, c);
  else return F(c.op().attrs<A>(), c);
}

template <class A>
constexpr bool plain_attrs = std::is_trivially_copyable_v<A> && alignof(A) <= 4;

constexpr OpDef kTable[] = {
#define MOTE_OP(id, op)                          \
  {id,                                           \
   attrs_size<ops::op::Attrs>,                   \
   ops::op::kInfo.flags_,                        \
   ops::op::kInfo.min_in_,                       \
   ops::op::kInfo.max_in_,                       \
   ops::op::kInfo.min_out_,                      \
   ops::op::kInfo.max_out_,                      \
   ops::op::kInfo.optional_out_,                 \
   ops::op::kInfo.ring_in_,                      \
   "mote::" #op,                                 \
   &infer_with<ops::op::Attrs, &ops::op::infer>, \
   &ops::op::select,                             \
   ops::op::kInfo.scratch_},
#include "ops_selected.def"
#undef MOTE_OP
};

#define MOTE_OP(id, op) static_assert(plain_attrs<ops::op::Attrs>, "attributes of " #op " must be plain, aligned to 4 at most");
#include "ops_selected.def"
#undef MOTE_OP

}  // namespace

Span<const OpDef> builtin_ops() noexcept { return kTable; }

}  // namespace mote
