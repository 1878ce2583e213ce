// Delegate calls. Parts of a model that were compiled for another runtime cannot be read back: they are counted and told once.

#include "mote/compiler/frontends/executorch/kernels.h"
#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {

bool Plan::read_delegate(const fb::DelegateCall& call, uint32_t at) {
  const auto* delegates = table_.delegates();
  if (delegates == nullptr || call.delegate_index() < 0 || static_cast<uint32_t>(call.delegate_index()) >= delegates->size())
    return wrong(where(at), "there is no delegate " + std::to_string(call.delegate_index()));
  const std::string id = text_of(delegates->Get(static_cast<uint32_t>(call.delegate_index()))->id());
  ++shared_.refused[id];
  // What it writes is there for what follows, so that only the delegate is reported.
  for (uint32_t i = 0; call.args() != nullptr && i < call.args()->size(); ++i) {
    const fb::Tensor* t = tensor_at(call.args()->Get(i));
    if (t == nullptr || t->data_buffer_idx() != 0) continue;
    if (values_[static_cast<size_t>(call.args()->Get(i))].name.empty()) define(call.args()->Get(i));
  }
  return true;
}

}  // namespace mote::frontends::executorch
