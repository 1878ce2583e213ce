#include "mote/bindings/python/src/new_array.h"

#include "mote/bindings/python/src/numpy.h"

namespace mote::python {
namespace {

dlpack::DataType dlpack_type(mote_dtype dtype) {
  const auto bits = static_cast<uint8_t>(mote_dtype_bits(dtype));
  switch (dtype) {
    case MOTE_F32:
    case MOTE_F64:
    case MOTE_F16: return {dlpack::kFloat, bits, 1};
    case MOTE_BF16: return {dlpack::kBfloat, bits, 1};
    case MOTE_S8:
    case MOTE_S16:
    case MOTE_S32:
    case MOTE_S64: return {dlpack::kInt, bits, 1};
    case MOTE_BOOL: return {dlpack::kBool, bits, 1};
    default: return {dlpack::kUInt, bits, 1};
  }
}

int64_t capacity_of(const Spec& spec) {
  int64_t n = 1;
  for (int32_t i = 0; i < spec.rank; ++i) n *= spec.dims[i];
  return n;
}

void set_python_error(void*, const char* kind, const char* message) { PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message); }

}  // namespace

void NewArray::make(Family family, const Spec& spec) {
  family_ = family;
  if (family == nullptr) make_numpy(spec);
  else make_tensor(family, spec);
}

void NewArray::make_numpy(const Spec& spec) {
  PyObject* flat = spec.dynamic != 0 ? PyLong_FromLongLong(capacity_of(spec)) : nullptr;
  PyObject* const arguments[] = {flat != nullptr ? flat : spec.shape.ptr(), spec.numpy_dtype.ptr()};
  object_ = PyObject_Vectorcall(numpy().empty, arguments, 2, nullptr);
  Py_XDECREF(flat);
  if (object_ == nullptr) raise_python();
  Py_buffer buffer;
  // bfloat16 has no buffer format: its address has to be asked for in a slower way.
  if (PyObject_GetBuffer(object_, &buffer, PyBUF_SIMPLE) == 0) {
    data_ = buffer.buf;
    PyBuffer_Release(&buffer);
    return;
  }
  PyErr_Clear();
  data_ = reinterpret_cast<void*>(nb::cast<uintptr_t>(nb::handle(object_).attr("ctypes").attr("data")));
}

void NewArray::make_tensor(Family family, const Spec& spec) {
  int64_t shape[MOTE_MAX_RANK] = {capacity_of(spec)};
  if (spec.dynamic == 0)
    for (int32_t i = 0; i < spec.rank; ++i) shape[i] = spec.dims[i];
  dlpack::Tensor prototype{};
  prototype.device = {dlpack::kCpu, 0};
  prototype.ndim = spec.dynamic != 0 ? 1 : spec.rank;
  prototype.dtype = dlpack_type(spec.dtype);
  prototype.shape = shape;
  dlpack::ManagedVersioned* made = nullptr;
  if (family->allocate(&prototype, &made, nullptr, &set_python_error) != 0) raise_python();
  data_ = static_cast<char*>(made->tensor.data) + made->tensor.byte_offset;
  void* object = nullptr;
  if (family->to_object(made, &object) != 0) raise_python();
  object_ = static_cast<PyObject*>(object);
}

PyObject* NewArray::take(const Spec& spec, const int32_t* dims, uint32_t rank) {
  if (spec.dynamic == 0) return take();
  int64_t count = 1;
  nb::object shape = nb::steal(PyTuple_New(rank));
  for (uint32_t i = 0; i < rank; ++i) {
    count *= dims[i];
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLong(dims[i]));
  }
  const nb::object all = nb::steal(take());
  nb::object part = all[nb::slice(nb::int_(0), nb::int_(count), nb::none())].attr("reshape")(shape);
  if (count < capacity_of(spec) / 2) part = part.attr(family_ == nullptr ? "copy" : "clone")();
  return part.release().ptr();
}

}  // namespace mote::python
