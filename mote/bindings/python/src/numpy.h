#pragma once

// numpy as seen from here: a few of its functions, looked up once. Building needs none of its headers.

#include "mote/bindings/python/src/failure.h"

namespace mote::python {

struct Numpy {
  PyTypeObject* array_type = nullptr;
  PyObject* empty = nullptr;

  // The numpy type for an element type; bf16 is that of ml_dtypes where it is installed, two raw bytes elsewhere.
  nb::object dtype(mote_dtype dtype) const;

  // The one of ml_dtypes for codes of a type of floats (SPEC.md, 11) where it is installed, else that of the codes.
  nb::object dtype_of_codes(const std::string& element, mote_dtype codes) const;

  // All return a new reference, or null with Python's error set.
  PyObject* make(PyObject* values, PyObject* dtype) const;
  PyObject* dense_copy(PyObject* object) const;  // of a buffer, or of what has __dlpack__
  PyObject* as_bf16(PyObject* array) const;      // the bits of bfloat16 elements as u16; any other array as it is
  // Codes of an array of `dtype`, in place, or of an integer type of ml_dtypes that is called `element`, copied; any other as it is.
  PyObject* as_codes(PyObject* array, PyObject* dtype, const std::string& element, mote_dtype codes) const;
};

// Imports numpy on first use.
const Numpy& numpy();

}  // namespace mote::python
