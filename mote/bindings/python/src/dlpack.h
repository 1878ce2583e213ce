#pragma once

// The parts of DLPack (https://github.com/dmlc/dlpack, version 1) that cross this boundary: layouts are facts of its ABI.

#include <cstdint>

namespace mote::python::dlpack {

constexpr int32_t kCpu = 1;
constexpr uint64_t kReadOnly = 1;
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Device {
  int32_t type, id;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: dense
  uint64_t byte_offset;
};
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct Version {
  uint32_t major, minor;
};
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

// What a type offers as __dlpack_c_exchange_api__: the same exchange without Python calls.
struct ExchangeApi {
  Version version;
  ExchangeApi* older;
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* context, void (*set_error)(void*, const char*, const char*));
  int (*from_object)(void* object, ManagedVersioned** out);
  int (*to_object)(ManagedVersioned* tensor, void** out_object);
  int (*borrow)(void* object, Tensor* out);  // may be null
  int (*stream)(int32_t device_type, int32_t device, void** out_stream);
};

}  // namespace mote::python::dlpack
