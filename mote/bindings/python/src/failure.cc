#include "mote/bindings/python/src/failure.h"

namespace mote::python {

void raise_as(const char* name, nb::dict fields, const std::string& message) {
  const nb::object type = nb::module_::import_("mote._errors").attr(name);
  const nb::object error = type(message, **fields);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void raise(const Error& error) {
  nb::dict fields;
  fields["code"] = mote_code_name(error.code());
  fields["why"] = mote_status_why(error.status) != 0 ? mote_why_name(mote_status_why(error.status)) : "";
  fields["op"] = error.op.c_str();
  fields["source"] = error.source.c_str();
  fields["tensor"] = error.tensor.c_str();
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
