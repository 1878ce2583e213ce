#include "mote/bindings/python/src/bound.h"

namespace mote::python {
namespace {

void take_all(nb::tuple arrays, const std::vector<Spec>& specs, bool outputs, ArrayView* views) {
  if (arrays.size() != specs.size())
    raise(MOTE_INVALID_ARGUMENT, std::string("the number of ") + (outputs ? "outputs" : "inputs") + " is wrong: expected " +
                                     std::to_string(specs.size()) + ", found " + std::to_string(arrays.size()));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (outputs && specs[i].dynamic != 0)
      raise(MOTE_UNSUPPORTED, "'" + specs[i].name + "' has sizes that only a run tells: buffers can be bound to fixed sizes alone");
    views[i].take(arrays[i].ptr(), specs[i], outputs ? ArrayView::kWrite : ArrayView::kReadInPlace);
  }
}

}  // namespace

Bound::Bound(nb::object owner, Program& program, uint32_t method, nb::tuple inputs, nb::tuple outputs)
    : owner_(std::move(owner)), program_(program), method_(method), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  const MethodSpec& m = program_.methods()[method_];
  in_.reset(new ArrayView[m.inputs.size()]);
  out_.reset(new ArrayView[m.outputs.size()]);
  take_all(inputs_, m.inputs, false, in_.get());
  take_all(outputs_, m.outputs, true, out_.get());
  result_ = m.outputs.size() == 1 ? nb::object(outputs_[0]) : nb::object(outputs_);
  const Program::Use use(program_);
  bind(use);
}

Bound::~Bound() {
  const Program::Use use(program_);
  if (program_.binder(method_) == this) program_.binder(method_) = nullptr;
}

void Bound::bind(const Program::Use& use) {
  const MethodSpec& m = program_.methods()[method_];
  program_.binder(method_) = nullptr;
  bool copied = false;
  for (uint32_t i = 0; i < m.inputs.size(); ++i) {
    use.bind_input(method_, i, m.inputs[i], in_[i]);
    copied |= m.inputs[i].in_bank;
  }
  for (uint32_t i = 0; i < m.outputs.size(); ++i) use.bind_output(method_, i, m.outputs[i], out_[i].data, out_[i].bytes);
  if (!copied) program_.binder(method_) = this;  // inputs in a bank are copied there before every run
}

PyObject* Bound::call() {
  const Program::Use use(program_);
  if (program_.binder(method_) != this) bind(use);
  use.run(method_, {});
  const std::vector<Spec>& outputs = program_.methods()[method_].outputs;
  for (uint32_t i = 0; i < outputs.size(); ++i) use.fetch(method_, i, outputs[i], out_[i].data, out_[i].bytes);
  return Py_NewRef(result_.ptr());
}

}  // namespace mote::python
