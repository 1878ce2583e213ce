#include "mote/bindings/python/src/failure.h"

namespace mote::python {

nb::object text_of(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

void raise_as(const char* name, nb::dict fields, const std::string& message) {
  const nb::object type = nb::module_::import_("mote._errors").attr(name);
  const nb::object error = type(text_of(message), **fields);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void raise(const Error& error) {
  nb::dict fields;
  fields["code"] = mote_code_name(error.code());
  fields["why"] = mote_status_why(error.status) != 0 ? mote_why_name(mote_status_why(error.status)) : "";
  fields["op"] = text_of(error.op);
  fields["source"] = text_of(error.source);
  fields["tensor"] = text_of(error.tensor);
  raise_as("Error", fields, error.message);
}

void raise(mote_code code, const std::string& message) {
  Error e;
  e.status = static_cast<mote_status>(code);
  e.message = message;
  raise(e);
}

void raise_python() { throw nb::python_error(); }

}  // namespace mote::python
