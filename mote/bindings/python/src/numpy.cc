#include "mote/bindings/python/src/numpy.h"

#include <string>

namespace mote::python {
namespace {

nb::module_ numpy_module() { return nb::module_::import_("numpy"); }

template <class Work>
PyObject* returned(Work work) noexcept {
  return guarded([&] { return work().release().ptr(); });
}

}  // namespace

const Numpy& numpy() {
  static const Numpy* const loaded = [] {
    auto* n = new Numpy;  // lives as long as the process: the interpreter may be gone before static objects are
    const nb::module_ m = numpy_module();
    n->array_type = reinterpret_cast<PyTypeObject*>(nb::object(m.attr("ndarray")).release().ptr());
    n->empty = nb::object(m.attr("empty")).release().ptr();
    return n;
  }();
  return *loaded;
}

nb::object Numpy::dtype(mote_dtype dtype) const {
  static const char* const kNames[] = {nullptr,  "float32", "float64", "float16", "V2",     "int8",  "uint8", "int16",
                                       "uint16", "int32",   "uint32",  "int64",   "uint64", "bool_", "uint8", "uint8"};
  if (dtype == MOTE_BF16) {
    try {
      return numpy_module().attr("dtype")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
    } catch (const nb::python_error&) {
      PyErr_Clear();
    }
  }
  return numpy_module().attr("dtype")(dtype == MOTE_BOOL ? "bool" : kNames[dtype]);
}

nb::object Numpy::dtype_of_codes(const std::string& element, mote_dtype codes) const {
  static const char* const kNames[][2] = {{"float8e4m3fn", "float8_e4m3fn"}, {"float8e4m3fnuz", "float8_e4m3fnuz"},
                                          {"float8e5m2", "float8_e5m2"},     {"float8e5m2fnuz", "float8_e5m2fnuz"},
                                          {"float8e8m0", "float8_e8m0fnu"},  {"float4e2m1", "float4_e2m1fn"}};
  for (const auto& [name, in_numpy] : kNames) {
    if (element != name) continue;
    try {
      return numpy_module().attr("dtype")(nb::module_::import_("ml_dtypes").attr(in_numpy));
    } catch (const nb::python_error&) {  // not installed, or a version without this type
      PyErr_Clear();
    }
  }
  return dtype(codes);
}

PyObject* Numpy::make(PyObject* values, PyObject* dtype) const {
  return returned([&] { return nb::object(numpy_module().attr("asarray")(nb::handle(values), nb::handle(dtype))); });
}

PyObject* Numpy::dense_copy(PyObject* object) const {
  return returned([&] {
    const nb::module_ m = numpy_module();
    const nb::object array = PyObject_CheckBuffer(object) ? nb::borrow(object) : nb::object(m.attr("from_dlpack")(nb::handle(object)));
    return nb::object(m.attr("array")(array, nb::arg("order") = "C", nb::arg("copy") = true));
  });
}

PyObject* Numpy::as_bf16(PyObject* array) const {
  return returned([&] {
    const nb::object a = nb::borrow(array), type = a.attr("dtype");
    const std::string name = nb::cast<std::string>(type.attr("name"));
    if (name != "bfloat16" && name != "void16") return a;
    return nb::object(a.attr("view")("uint16"));
  });
}

PyObject* Numpy::as_codes(PyObject* array, PyObject* dtype, const std::string& element, mote_dtype codes) const {
  return returned([&] {
    const nb::object a = nb::borrow(array), type = a.attr("dtype");
    const char* const plain = codes == MOTE_S8 ? "int8" : "uint8";
    if (nb::cast<std::string>(type.attr("name")) == element) return nb::object(a.attr("astype")(plain));  // int4 has no sign in its bytes
    return type.equal(nb::borrow(dtype)) ? nb::object(a.attr("view")(plain)) : a;
  });
}

}  // namespace mote::python
