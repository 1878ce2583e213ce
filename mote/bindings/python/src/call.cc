// A call: arrays in, run, arrays out. Kept short: a small program runs in less than a microsecond, and this is added to it.

#include <algorithm>

#include "mote/bindings/python/src/new_array.h"
#include "mote/bindings/python/src/program.h"

namespace mote::python {
namespace {

// An array of `count` elements: up to kInline without the heap, which covers most methods.
template <class T>
class SmallArray {
 public:
  explicit SmallArray(size_t count) : heap_(count > kInline ? new T[count] : nullptr) {}
  T& operator[](size_t i) { return heap_ != nullptr ? heap_[i] : inline_[i]; }

 private:
  static constexpr size_t kInline = 4;
  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
};

std::string names_of(const std::vector<Spec>& specs) {
  std::string s;
  for (const Spec& spec : specs) s += (s.empty() ? "" : ", ") + spec.name;
  return s;
}

}  // namespace

std::vector<PyObject*> Program::arrange(uint32_t method, PyObject* const* args, size_t count, PyObject* names) const {
  const MethodSpec& m = methods_[method];
  const size_t named = names != nullptr ? static_cast<size_t>(PyDict_GET_SIZE(names)) : 0;
  if (count + named != m.inputs.size())
    raise(MOTE_INVALID_ARGUMENT, "the number of inputs is wrong: expected " + std::to_string(m.inputs.size()) + " (" + names_of(m.inputs) +
                                     "), found " + std::to_string(count + named));
  std::vector<PyObject*> all(args, args + count);
  all.resize(m.inputs.size(), nullptr);
  PyObject *key, *value;
  for (Py_ssize_t at = 0; named > 0 && PyDict_Next(names, &at, &key, &value);) {
    const std::string name = nb::cast<std::string>(nb::handle(key));
    uint32_t index = 0;
    if (mote_program_find_input(image_->program.get(), method, name.c_str(), &index) != MOTE_OK)
      raise(MOTE_INVALID_ARGUMENT, "no such input: expected one of " + names_of(m.inputs) + ", found '" + name + "'");
    PyObject*& place = all[index];
    if (place != nullptr) raise(MOTE_INVALID_ARGUMENT, "input '" + name + "' is given twice");
    place = value;
  }
  return all;
}

PyObject* Program::run(uint32_t method, PyObject* const* inputs, size_t count, const RunLimits& limits) {
  const MethodSpec& m = methods_[method];
  SmallArray<ArrayView> in(count);
  SmallArray<NewArray> out(m.outputs.size());
  Family family = nullptr;
  for (size_t i = 0; i < count; ++i) {
    in[i].take(inputs[i], m.inputs[i], ArrayView::kRead);
    if (family == nullptr) family = in[i].family;
  }
  for (size_t i = 0; i < m.outputs.size(); ++i) out[i].make(family, m.outputs[i]);
  const Use use(*this);
  binders_[method] = nullptr;
  for (uint32_t i = 0; i < count; ++i) use.bind_input(method, i, m.inputs[i], in[i]);
  for (uint32_t i = 0; i < m.outputs.size(); ++i) use.bind_output(method, i, m.outputs[i], out[i].data(), m.outputs[i].bytes);
  use.run(method, limits);
  nb::object results = m.outputs.size() != 1 ? nb::steal(PyTuple_New(static_cast<Py_ssize_t>(m.outputs.size()))) : nb::object();
  for (uint32_t i = 0; i < m.outputs.size(); ++i) {
    int32_t dims[MOTE_MAX_RANK];
    uint32_t rank = 0;
    const Spec& spec = m.outputs[i];
    use.fetch(method, i, spec, out[i].data(), spec.bytes);
    if (spec.dynamic != 0) check(mote_instance_output_dims(use.instance(), method, i, dims, &rank), nullptr);
    PyObject* array = out[i].take(spec, dims, rank);
    if (m.outputs.size() == 1) return array;
    PyTuple_SET_ITEM(results.ptr(), i, array);
  }
  return results.release().ptr();
}

PyObject* Program::call(uint32_t method, PyObject* const* args, size_t count, PyObject* names, const RunLimits& limits) {
  if (names == nullptr && count == methods_[method].inputs.size()) return run(method, args, count, limits);
  const std::vector<PyObject*> all = arrange(method, args, count, names);
  return run(method, all.data(), all.size(), limits);
}

}  // namespace mote::python
