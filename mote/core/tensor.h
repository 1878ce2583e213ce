#pragma once

#include "mote/core/dtype.h"
#include "mote/core/span.h"

namespace mote {

constexpr int kMaxRank = 8;
constexpr int32_t kDimUnknown = -1;               // a size that only running can tell
constexpr uint32_t kMaxTensorBytes = 0x7fffffff;  // strides and extents fit 31 bits

// How the elements of a tensor lie in memory. Values are part of the program format.
enum class Layout : uint8_t {
  kPlain = 0,      // byte strides, dense innermost dimension
  kPanel16 = 1,    // f32, f16: (N/16, K, 16); N is dimension 0, K the rest, row major
  kPanel16k2 = 2,  // bf16: (N/16, K/2, 16, 2)
  kPanel16k4 = 3,  // s8: (N/16, K/4, 16, 4)
  kPanel16k8 = 4,  // s4: (N/16, K/8, 16, 4 bytes); low nibbles hold k 0-3, high nibbles k 4-7
  kPanel16k4Pairs =
      5,  // as kPanel16k4, and every two neighbours have pair_fits() (layout.h); kernels rely on it for numbers, not for safety
};

// Where the bytes of a tensor live. Values are part of the program format.
enum class Storage : uint8_t {
  kConstant = 0,  // in a segment of the file (`bank` = segment index)
  kArena = 1,     // in a memory bank, valid during one run
  kState = 2,     // in a memory bank, kept from run to run
  kInput = 3,     // bound by the caller
  kOutput = 4,    // bound by the caller
};

// A tensor as the program file describes it. The file holds exactly these bytes, so descriptors are read in place.
struct TensorDesc {
  uint64_t offset;            // bytes from the start of the segment or bank; 0 for input and output
  int32_t dims[kMaxRank];     // sizes, or upper bounds where the dimension is dynamic; unused ones are 0
  int32_t strides[kMaxRank];  // bytes; unused ones are 0; all 0 unless the layout is plain
  DType dtype;
  uint8_t rank;
  Layout layout;
  Storage storage;
  uint8_t bank;
  uint8_t dynamic;     // bit i: dimension i is known only when running
  uint16_t ring_rows;  // 0, or: dimension 1 is stored modulo this many rows (strips)
};
static_assert(sizeof(TensorDesc) == 80, "the descriptor is format ABI");

// Number of elements. The caller has made sure that it fits (verified descriptors do).
inline int32_t element_count(const TensorDesc& d) {
  int32_t n = 1;
  for (int i = 0; i < d.rank; ++i) n *= d.dims[i];
  return n;
}

// True when a plain tensor lies in memory without gaps, in row-major order.
bool is_dense(const TensorDesc& d) noexcept;

// Fills in the strides of a tensor without gaps.
void set_dense_strides(TensorDesc& d) noexcept;

bool same_shape(const TensorDesc& a, const TensorDesc& b) noexcept;

// A descriptor together with the bytes it describes. Borrowed; a kernel never keeps one.
struct Tensor {
  const TensorDesc* desc = nullptr;
  void* data = nullptr;

  DType dtype() const { return desc->dtype; }
  int rank() const { return desc->rank; }
  int32_t dim(int i) const { return desc->dims[i]; }
  int32_t stride(int i) const { return desc->strides[i]; }  // bytes
  int32_t count() const { return element_count(*desc); }

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  // The element at a byte offset, as row walks give it.
  template <class T>
  T* at(int32_t byte_offset) const {
    return reinterpret_cast<T*>(static_cast<uint8_t*>(data) + byte_offset);
  }
};

// What shape inference says of an output. A dimension may be kDimUnknown.
struct TensorType {
  DType dtype = DType::kNone;
  uint8_t rank = 0;
  int32_t dims[kMaxRank] = {};
};

}  // namespace mote
