#include "mote/bindings/python/src/array_view.h"

#include <algorithm>

#include "mote/bindings/python/src/numpy.h"

namespace mote::python {
namespace {

mote_dtype dtype_of(const dlpack::DataType& t) {
  const auto by_width = [&](mote_dtype w8, mote_dtype w16, mote_dtype w32, mote_dtype w64) {
    return t.bits == 8 ? w8 : t.bits == 16 ? w16 : t.bits == 32 ? w32 : t.bits == 64 ? w64 : MOTE_DTYPE_WIDTH;
  };
  if (t.lanes != 1) return MOTE_DTYPE_WIDTH;
  switch (t.code) {
    case dlpack::kInt: return by_width(MOTE_S8, MOTE_S16, MOTE_S32, MOTE_S64);
    case dlpack::kUInt: return by_width(MOTE_U8, MOTE_U16, MOTE_U32, MOTE_U64);
    case dlpack::kFloat: return by_width(MOTE_DTYPE_WIDTH, MOTE_F16, MOTE_F32, MOTE_F64);
    case dlpack::kBfloat: return t.bits == 16 ? MOTE_BF16 : MOTE_DTYPE_WIDTH;
    case dlpack::kBool: return t.bits == 8 ? MOTE_BOOL : MOTE_DTYPE_WIDTH;
    default: return MOTE_DTYPE_WIDTH;
  }
}

// A format of the struct module with one element.
mote_dtype dtype_of(const char* format, Py_ssize_t item) {
  if (format == nullptr) return MOTE_U8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == 0 || format[1] != 0) return MOTE_DTYPE_WIDTH;
  const auto by_width = [&](mote_dtype w1, mote_dtype w2, mote_dtype w4, mote_dtype w8) {
    return item == 1 ? w1 : item == 2 ? w2 : item == 4 ? w4 : item == 8 ? w8 : MOTE_DTYPE_WIDTH;
  };
  switch (*format) {
    case 'e':
    case 'f':
    case 'd': return by_width(MOTE_DTYPE_WIDTH, MOTE_F16, MOTE_F32, MOTE_F64);
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q': return by_width(MOTE_S8, MOTE_S16, MOTE_S32, MOTE_S64);
    case 'c':
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q': return by_width(MOTE_U8, MOTE_U16, MOTE_U32, MOTE_U64);
    case '?': return MOTE_BOOL;
    default: return MOTE_DTYPE_WIDTH;
  }
}

bool is_number(PyObject* o) { return PyFloat_Check(o) || PyLong_Check(o) || PyList_Check(o) || PyTuple_Check(o); }

}  // namespace

std::string dims_text(const int64_t* dims, int32_t rank) {
  std::string s = "(";
  for (int32_t i = 0; i < rank; ++i) s += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return s + (rank == 1 ? ",)" : ")");
}

std::string Spec::type_text() const {
  std::string s = std::string(mote_dtype_name(dtype)) + " (";
  for (int32_t i = 0; i < rank; ++i) {
    s += i > 0 ? ", " : "";
    s += ((dynamic >> i & 1) != 0 ? "up to " : "") + std::to_string(dims[i]);
  }
  return s + (rank == 1 ? ",)" : ")");
}

Family exchange_of(PyTypeObject* type) {
  struct Known {
    PyTypeObject* type;
    Family api;
  };
  static Known known[16];
  static size_t count = 0;
  for (size_t i = 0; i < count; ++i)
    if (known[i].type == type) return known[i].api;
  Family api = nullptr;
  PyObject* capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (capsule != nullptr && PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    api = static_cast<Family>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != 1) api = api->older;
    if (api != nullptr && api->borrow == nullptr) api = nullptr;
  }
  Py_XDECREF(capsule);
  PyErr_Clear();
  if (count < sizeof known / sizeof *known) {
    Py_INCREF(type);
    known[count++] = {type, api};
  }
  return api;
}

ArrayView::~ArrayView() { release(); }

void ArrayView::release() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  has_buffer_ = false;
  Py_CLEAR(own_);
}

void ArrayView::set_sizes(int32_t ndim, const int64_t* shape, const int64_t* strides, int64_t stride_unit, int64_t item_bytes) {
  rank = ndim;
  dense_ = true;
  bytes = static_cast<uint64_t>(item_bytes);
  if (ndim > MOTE_MAX_RANK) {
    unknown_ = "an array of more than 8 dimensions";
    return;
  }
  for (int32_t i = ndim - 1; i >= 0; --i) {
    dims[i] = shape[i];
    strides_[i] = strides != nullptr ? strides[i] * stride_unit : static_cast<int64_t>(bytes);
    dense_ &= shape[i] == 1 || strides_[i] == static_cast<int64_t>(bytes);
    bytes *= static_cast<uint64_t>(shape[i]);
  }
  if (bytes == 0) dense_ = true;
}

bool ArrayView::from_buffer(PyObject* object) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "buffers have 64-bit sizes");
  set_sizes(buffer_.ndim, reinterpret_cast<const int64_t*>(buffer_.shape), reinterpret_cast<const int64_t*>(buffer_.strides), 1,
            buffer_.itemsize);
  data = buffer_.buf;
  dtype_ = dtype_of(buffer_.format, buffer_.itemsize);
  if (dtype_ == MOTE_DTYPE_WIDTH) unknown_ = "an element type that Mote does not have";
  writable_ = buffer_.readonly == 0;
  return true;
}

void ArrayView::from_tensor(const dlpack::Tensor& t) {
  data = static_cast<char*>(t.data) + t.byte_offset;
  dtype_ = dtype_of(t.dtype);
  set_sizes(t.ndim, t.shape, t.strides, t.dtype.bits / 8, t.dtype.bits / 8);
  if (dtype_ == MOTE_DTYPE_WIDTH) unknown_ = "an element type that Mote does not have";
  if (t.device.type != dlpack::kCpu) unknown_ = "a tensor that is not in the CPU's memory";
}

void ArrayView::from_capsule(PyObject* object) {
  PyObject* capsule = PyObject_CallMethod(object, "__dlpack__", nullptr);
  if (capsule == nullptr) raise_python();
  own_ = capsule;  // unconsumed: its destructor ends the loan
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const auto* m = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (m->version.major != 1) unknown_ = "a tensor of a version of DLPack that Mote does not know";
    else from_tensor(m->tensor);
    writable_ = (m->flags & dlpack::kReadOnly) == 0;
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    from_tensor(static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"))->tensor);
  } else {
    unknown_ = "an object whose __dlpack__ gives no tensor";
  }
}

void ArrayView::adopt(PyObject* object) {
  if (object == nullptr) raise_python();
  release();
  own_ = object;
  if (family != nullptr) {
    dlpack::Tensor t;
    if (family->borrow(object, &t) != 0) raise_python();
    from_tensor(t);
  } else if (!from_buffer(object)) {
    unknown_ = "an array whose elements have no buffer format";
  }
}

void ArrayView::look(PyObject* object, const Spec* spec) {
  PyTypeObject* const type = Py_TYPE(object);
  const bool is_numpy = type == numpy().array_type;
  const bool is_bf16 = spec != nullptr && spec->dtype == MOTE_BF16, are_codes = spec != nullptr && !spec->element.empty();
  family = is_numpy ? nullptr : exchange_of(type);
  if (is_numpy && is_bf16) {
    adopt(numpy().as_bf16(object));  // no buffer format says bfloat16
    if (dtype_ == MOTE_U16) dtype_ = MOTE_BF16;
  } else if (is_numpy && are_codes) {
    adopt(numpy().as_codes(object, spec->numpy_dtype.ptr(), spec->element, spec->dtype));  // nor those of ml_dtypes
  } else if (family != nullptr) {
    dlpack::Tensor t;
    if (family->borrow(object, &t) != 0) raise_python();
    from_tensor(t);
  } else if (is_numpy || PyObject_CheckBuffer(object)) {
    if (!from_buffer(object)) unknown_ = "an array whose elements have no buffer format";
  } else if (PyObject_HasAttrString(object, "__dlpack__")) {
    from_capsule(object);
  } else if (is_number(object)) {
    PyObject* made = numpy().make(object, spec != nullptr && !is_bf16 ? spec->numpy_dtype.ptr() : Py_None);
    const nb::object values = nb::steal(made);
    if (are_codes && made != nullptr) adopt(numpy().as_codes(made, spec->numpy_dtype.ptr(), spec->element, spec->dtype));
    else adopt(nb::object(values).release().ptr());
  } else {
    unknown_ = "no array";
  }
}

bool ArrayView::fits(const Spec& spec) const {
  if (dtype_ != spec.dtype || rank != spec.rank) return false;
  for (int32_t i = 0; i < rank; ++i)
    if ((spec.dynamic >> i & 1) != 0 ? dims[i] > spec.dims[i] : dims[i] != spec.dims[i]) return false;
  return true;
}

std::string ArrayView::found_text(PyObject* object) const {
  const std::string what = unknown_ != nullptr ? unknown_ : std::string(mote_dtype_name(dtype_)) + " " + dims_text(dims, rank);
  return what + " (" + Py_TYPE(object)->tp_name + ")";
}

void ArrayView::refuse(PyObject* object, const Spec& spec, const char* why) const {
  Error e;
  e.status = MOTE_SHAPE;
  e.tensor = spec.name;
  e.message = "'" + spec.name + "' does not fit: expected " + spec.type_text() + ", found " + (why != nullptr ? why : found_text(object));
  raise(e);
}

void ArrayView::make_dense(PyObject* object) {
  // A tensor library's own way to lay elements out; a temporary of this view is copied in place of what it stands for.
  if (family != nullptr) adopt(PyObject_CallMethod(object, dense_ ? "clone" : "contiguous", nullptr));
  else adopt(numpy().dense_copy(own_ != nullptr && has_buffer_ ? own_ : object));
}

void ArrayView::take(PyObject* object, const Spec& spec, Access access) {
  look(object, &spec);
  if (unknown_ != nullptr || !fits(spec)) refuse(object, spec, nullptr);
  alignas(16) static char nothing[16];
  if (bytes == 0) data = nothing;  // tensor libraries give no address for no elements
  if (access != kRead && !spec.element.empty() && spec.element.find("int") != std::string::npos && own_ != nullptr && own_ != object)
    refuse(object, spec, "an array whose elements are not laid out as the program has them");
  if (access == kWrite && !writable_) refuse(object, spec, "an array that is read-only");
  const bool aligned = reinterpret_cast<uintptr_t>(data) % spec.item_bytes == 0;
  if (dense_ && aligned) return;
  if (access != kRead) refuse(object, spec, dense_ ? "an array that is not aligned" : "an array whose elements do not lie densely");
  const mote_dtype dtype = dtype_;
  make_dense(object);
  dtype_ = dtype;
}

void ArrayView::take_any(PyObject* object, const std::string& name) {
  look(object, nullptr);
  if (unknown_ != nullptr) raise(MOTE_UNSUPPORTED, "'" + name + "' cannot be used: expected an array, found " + found_text(object));
  if (!dense_) make_dense(object);
}

void ArrayView::take_strided(PyObject* object, const std::string& name, std::vector<int64_t>* strides, uint64_t* extent) {
  look(object, nullptr);
  if (unknown_ != nullptr) raise(MOTE_UNSUPPORTED, "'" + name + "' cannot be used: expected a tensor, found " + found_text(object));
  const int64_t item = mote_dtype_bits(dtype_) / 8;
  *extent = bytes > 0 ? static_cast<uint64_t>(item) : 0;
  for (int32_t i = 0; i < rank; ++i) {
    if (strides_[i] < 0 || strides_[i] % item != 0) raise(MOTE_UNSUPPORTED, "'" + name + "' has strides that cannot be used");
    strides->push_back(strides_[i] / item);
    if (bytes > 0) *extent += static_cast<uint64_t>((dims[i] - 1) * strides_[i]);
  }
}

}  // namespace mote::python
