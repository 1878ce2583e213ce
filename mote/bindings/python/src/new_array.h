#pragma once

// Arrays for results: numpy's, or a tensor library's through DLPack.

#include "mote/bindings/python/src/array_view.h"

namespace mote::python {

class NewArray {
 public:
  NewArray() = default;
  NewArray(const NewArray&) = delete;
  NewArray& operator=(const NewArray&) = delete;
  ~NewArray() { Py_XDECREF(object_); }

  // Room for the largest size; one-dimensional where sizes are dynamic.
  void make(Family family, const Spec& spec);
  void* data() const { return data_; }
  // The array itself, at the sizes a run gave; a new reference. What is much smaller than its bound moves out of the large array.
  PyObject* take(const Spec& spec, const int32_t* dims, uint32_t rank);
  PyObject* take() {
    PyObject* o = object_;
    object_ = nullptr;
    return o;
  }

 private:
  void make_numpy(const Spec& spec);
  void make_tensor(Family family, const Spec& spec);

  PyObject* object_ = nullptr;
  void* data_ = nullptr;
  Family family_ = nullptr;
};

}  // namespace mote::python
