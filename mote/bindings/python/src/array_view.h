#pragma once

// The bytes of somebody's array, borrowed for as long as the view lives: numpy's and every other buffer through the buffer protocol,
// PyTorch's and others' tensors through DLPack. Nothing is copied unless the elements do not lie densely, or not aligned.

#include <cstdint>
#include <string>
#include <vector>

#include "mote/bindings/python/src/dlpack.h"
#include "mote/bindings/python/src/failure.h"

namespace mote::python {

// An input or output of a method, with what Python needs made ready.
struct Spec {
  std::string name;
  mote_dtype dtype = MOTE_F32;  // of the arrays; 4-bit elements are bytes there
  mote_dtype stored = MOTE_F32;
  int32_t rank = 0;
  int32_t dims[MOTE_MAX_RANK] = {};  // of the arrays, upper bounds where dynamic
  uint32_t dynamic = 0;
  uint64_t bytes = 0;
  uint32_t item_bytes = 4;
  bool in_bank = false, quantized = false;
  float scale = 0;
  int32_t zero_point = 0;
  std::string element;  // where elements are codes: of which type, as "float8e4m3fn" (SPEC.md, 11)
  nb::object shape, numpy_dtype;

  std::string type_text() const;  // "f32 (1, 3, 224, 224)"
};

std::string dims_text(const int64_t* dims, int32_t rank);

// Whose arrays the results shall be: null is numpy.
using Family = const dlpack::ExchangeApi*;

class ArrayView {
 public:
  ArrayView() = default;
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;
  ~ArrayView();

  enum Access { kRead, kReadInPlace, kWrite };

  // Raises mote.Error unless the array has the element type and a size the specification allows. Only kRead may take a dense copy of it.
  void take(PyObject* object, const Spec& spec, Access access);
  // Any array of an element type that Mote has, for `name` in messages; copied where it is not dense.
  void take_any(PyObject* object, const std::string& name);
  // A tensor of any strides, in place: they are in elements; `extent` is how many bytes from `data` on they reach.
  void take_strided(PyObject* object, const std::string& name, std::vector<int64_t>* strides, uint64_t* extent);
  void release();

  mote_dtype dtype() const { return dtype_; }

  void* data = nullptr;
  int32_t rank = 0;
  int64_t dims[MOTE_MAX_RANK] = {};
  uint64_t bytes = 0;
  Family family = nullptr;

 private:
  // Finds out where the elements lie. `spec` tells what numbers without a type become; may be null.
  void look(PyObject* object, const Spec* spec);
  bool from_buffer(PyObject* object);
  void from_capsule(PyObject* object);
  void from_tensor(const dlpack::Tensor& t);
  void set_sizes(int32_t ndim, const int64_t* shape, const int64_t* strides, int64_t stride_unit, int64_t item_bytes);
  bool fits(const Spec& spec) const;
  void adopt(PyObject* object);  // a temporary that this view owns
  void make_dense(PyObject* object);
  std::string found_text(PyObject* object) const;
  [[noreturn]] void refuse(PyObject* object, const Spec& spec, const char* why) const;

  mote_dtype dtype_ = MOTE_DTYPE_WIDTH;
  bool dense_ = true, writable_ = true, has_buffer_ = false;
  const char* unknown_ = nullptr;        // why the array cannot be used
  int64_t strides_[MOTE_MAX_RANK] = {};  // in bytes
  Py_buffer buffer_;
  PyObject* own_ = nullptr;
};

// The table of a type that offers DLPack's C exchange, or null. Borrows nothing; types are kept.
Family exchange_of(PyTypeObject* type);

}  // namespace mote::python
