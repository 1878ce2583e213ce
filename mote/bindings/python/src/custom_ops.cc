#include "mote/bindings/python/src/custom_ops.h"

#include <nanobind/stl/vector.h>

#include <map>
#include <memory>

#include "mote/bindings/python/src/numpy.h"

namespace mote::python {
namespace {

constexpr uint32_t kAttrsBytes = 256;  // most an operator may have

// An operator made of Python functions: for trying things out.
struct PythonOp {
  std::string name;
  nb::object infer, run;
};

// Registered operators live as long as the process: programs may use them until its end.
struct All {
  std::map<std::string, mote_custom_op> ops;
  std::shared_ptr<mote_registry> registry;  // of all of them, made when it is asked for
};
All& all() {
  static All* const a = new All;
  return *a;
}

nb::object dims_tuple(const int32_t* dims, uint32_t rank) {
  nb::object t = nb::steal(PyTuple_New(rank));
  for (uint32_t i = 0; i < rank; ++i) PyTuple_SET_ITEM(t.ptr(), i, PyLong_FromLong(dims[i]));
  return t;
}

// The elements in place, with their strides; valid during the call.
nb::object array_of(const mote_op_tensor& t, bool writable) {
  if (t.dtype == 0) return nb::none();
  const auto dtype = static_cast<mote_dtype>(t.dtype);
  const uint64_t item = mote_dtype_bits(dtype) / 8;
  if (item == 0) raise(MOTE_UNSUPPORTED, "operators in Python cannot have 4-bit elements");
  uint64_t extent = item;
  nb::object strides = nb::steal(PyTuple_New(t.rank));
  for (uint32_t i = 0; i < t.rank; ++i) {
    if (t.dims[i] == 0) extent = 0;
    PyTuple_SET_ITEM(strides.ptr(), i, PyLong_FromLong(t.strides[i]));
  }
  for (uint32_t i = 0; extent > 0 && i < t.rank; ++i) extent += static_cast<uint64_t>(t.dims[i] - 1) * static_cast<uint64_t>(t.strides[i]);
  static char nothing[1];
  char* data = t.data != nullptr ? static_cast<char*>(t.data) : nothing;
  const nb::object memory = nb::steal(
      PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(t.data != nullptr ? extent : 0), writable ? PyBUF_WRITE : PyBUF_READ));
  const nb::object type(nb::borrow(reinterpret_cast<PyObject*>(numpy().array_type)));
  return type(dims_tuple(t.dims, t.rank), numpy().dtype(dtype), memory, 0, strides);
}

nb::list arrays_of(const mote_op_tensor* tensors, uint32_t count, bool writable) {
  nb::list list;
  for (uint32_t i = 0; i < count; ++i) list.append(array_of(tensors[i], writable));
  return list;
}

// Keeps the exception for the run that is under way on this thread.
template <class Work>
uint32_t in_python(Work work) {
  const nb::gil_scoped_acquire locked;
  return guarded([&] {
           work();
           return Py_None;
         }) != nullptr
             ? uint32_t{MOTE_OK}
             : uint32_t{MOTE_INTERNAL};
}

uint32_t infer_in_python(void* user, const mote_op_call* call, mote_op_type* out) {
  const auto& op = *static_cast<const PythonOp*>(user);
  const uint32_t result = in_python([&] {
    nb::list inputs;
    for (uint32_t i = 0; i < call->input_count; ++i) {
      const mote_op_tensor& t = call->inputs[i];
      if (t.dtype == 0) inputs.append(nb::none());
      else inputs.append(nb::make_tuple(mote_dtype_name(static_cast<mote_dtype>(t.dtype)), dims_tuple(t.dims, t.rank)));
    }
    const nb::list types = nb::cast<nb::list>(op.infer(inputs, call->output_count));
    if (types.size() < call->output_count) raise(MOTE_INVALID_ARGUMENT, op.name + ": infer gives fewer types than there are outputs");
    for (uint32_t i = 0; i < call->output_count; ++i) {
      const auto dtype = nb::cast<std::string>(types[i][0]);
      const auto dims = nb::cast<std::vector<int32_t>>(types[i][1]);
      if (dims.size() > MOTE_MAX_RANK) raise(MOTE_INVALID_ARGUMENT, op.name + ": infer gives more than 8 dimensions");
      for (int t = MOTE_F32; t <= MOTE_U4; ++t)
        if (dtype == mote_dtype_name(static_cast<mote_dtype>(t))) out[i].dtype = static_cast<uint8_t>(t);
      if (out[i].dtype == 0) raise(MOTE_INVALID_ARGUMENT, op.name + ": infer gives an element type that is none: '" + dtype + "'");
      out[i].rank = static_cast<uint8_t>(dims.size());
      std::copy(dims.begin(), dims.end(), out[i].dims);
    }
  });
  return result;
}

uint32_t run_in_python(void* user, const mote_op_call* call) {
  const auto& op = *static_cast<const PythonOp*>(user);
  return in_python([&] {
    op.run(arrays_of(call->inputs, call->input_count, false), arrays_of(call->outputs, call->output_count, true),
           nb::bytes(call->attrs, kAttrsBytes));
  });
}

void add(const mote_custom_op& op) {
  // Tried on a registry of its own: everything that is wrong with it shows there.
  mote_registry* r = nullptr;
  check(mote_registry_create(&r), nullptr);
  const RegistryHandle trial(r);
  const ErrorHandle error{mote_error_create()};
  check(mote_registry_add_op(r, &op, error.get()), error.get());
  all().ops[op.name] = op;
  all().registry.reset();
}

// `address`: of the function that examples/python/custom_op/README.md describes.
std::vector<std::string> add_custom_ops(uintptr_t address) {
  using List = const mote_custom_op* (*)(uint32_t * count);
  uint32_t count = 0;
  const mote_custom_op* ops = reinterpret_cast<List>(address)(&count);
  std::vector<std::string> names;
  for (uint32_t i = 0; ops != nullptr && i < count; ++i) {
    add(ops[i]);
    names.emplace_back(ops[i].name);
  }
  return names;
}

void register_custom_op(const std::string& name, nb::object infer, nb::object run, int inputs, int outputs) {
  auto* python = new PythonOp{name, std::move(infer), std::move(run)};  // for the process's life, as all operators
  mote_custom_op op{};
  op.abi = MOTE_CUSTOM_OP_ABI;
  op.name = python->name.c_str();
  op.user = python;
  op.attrs_size = kAttrsBytes;
  op.min_inputs = static_cast<uint8_t>(inputs < 0 ? 0 : inputs);
  op.max_inputs = static_cast<uint8_t>(inputs < 0 ? 40 : inputs);
  op.min_outputs = op.max_outputs = static_cast<uint8_t>(outputs);
  op.infer = &infer_in_python;
  op.run = &run_in_python;
  add(op);
}

std::vector<std::string> custom_op_names() {
  std::vector<std::string> names;
  for (const auto& [name, op] : all().ops) names.push_back(name);
  return names;
}

}  // namespace

std::shared_ptr<mote_registry> new_registry() {
  mote_registry* r = nullptr;
  check(mote_registry_create(&r), nullptr);
  std::shared_ptr<mote_registry> made(r, &mote_registry_release);
  const ErrorHandle error{mote_error_create()};
  for (const auto& [name, op] : all().ops) check(mote_registry_add_op(r, &op, error.get()), error.get());
  return made;
}

std::shared_ptr<mote_registry> current_registry() {
  if (all().ops.empty()) return nullptr;
  if (all().registry == nullptr) all().registry = new_registry();
  return all().registry;
}

void bind_custom_ops(nb::module_& m) {
  m.def("add_custom_ops", &add_custom_ops, nb::arg("address"));
  m.def("register_custom_op", &register_custom_op, nb::arg("name"), nb::arg("infer"), nb::arg("run"), nb::arg("inputs"),
        nb::arg("outputs"));
  m.def("custom_op_names", &custom_op_names);
}

}  // namespace mote::python
