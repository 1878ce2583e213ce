#include "mote/tools/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "mote/tools/files.h"

namespace mote::tools {
namespace {

constexpr size_t kMaxHeader = 1u << 16;
constexpr size_t kMaxRankRead = 32;  // numpy's own limit

struct TypeName {
  const char* code;  // without byte order
  DType type;
};
constexpr TypeName kTypes[] = {{"f4", DType::f32}, {"f8", DType::f64}, {"f2", DType::f16},    {"V2", DType::bf16}, {"i1", DType::s8},
                               {"u1", DType::u8},  {"i2", DType::s16}, {"u2", DType::u16},    {"i4", DType::s32},  {"u4", DType::u32},
                               {"i8", DType::s64}, {"u8", DType::u64}, {"b1", DType::boolean}};

// Reads the header: a Python dictionary with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(const char* text, size_t size) : at_(text), end_(text + size) {}

  bool parse(std::string* descr, bool* fortran, std::vector<int64_t>* shape) {
    bool seen[3] = {};
    if (!take('{')) return false;
    while (!take('}')) {
      std::string key;
      if (!quoted(&key) || !take(':')) return false;
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) return false;
      seen[which] = true;
      const bool good = which == 0 ? quoted(descr) : which == 1 ? boolean(fortran) : tuple(shape);
      if (!good || (!take(',') && !peek('}'))) return false;
    }
    skip();
    return at_ == end_ && seen[0] && seen[1] && seen[2];
  }

 private:
  void skip() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool peek(char c) {
    skip();
    return at_ < end_ && *at_ == c;
  }
  bool take(char c) { return peek(c) ? (++at_, true) : false; }
  bool word(const char* w) {
    skip();
    const size_t n = std::strlen(w);
    if (static_cast<size_t>(end_ - at_) < n || std::memcmp(at_, w, n) != 0) return false;
    at_ += n;
    return true;
  }
  bool quoted(std::string* out) {
    skip();
    if (at_ == end_ || (*at_ != '\'' && *at_ != '"')) return false;
    const char quote = *at_++;
    const char* close = static_cast<const char*>(std::memchr(at_, quote, static_cast<size_t>(end_ - at_)));
    if (close == nullptr) return false;
    out->assign(at_, close);
    at_ = close + 1;
    return true;
  }
  bool boolean(bool* out) {
    *out = word("True");
    return *out || word("False");
  }
  bool number(int64_t* out) {
    skip();
    int64_t v = 0;
    int digits = 0;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_, ++digits) {
      if (digits == 18) return false;
      v = v * 10 + (*at_ - '0');
    }
    *out = v;
    return digits > 0;
  }
  bool tuple(std::vector<int64_t>* out) {
    if (!take('(')) return false;
    while (!take(')')) {
      int64_t v;
      if (out->size() == kMaxRankRead || !number(&v)) return false;
      take('L');  // Python 2 wrote long integers so
      out->push_back(v);
      if (!take(',') && !peek(')')) return false;
    }
    return true;
  }

  const char* at_;
  const char* end_;
};

bool find_type(const std::string& descr, DType* out, bool* swap) {
  if (descr.size() != 3) return false;
  const char order = descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') return false;
  for (const TypeName& t : kTypes) {
    if (descr.compare(1, 2, t.code) != 0) continue;
    *out = t.type;
    *swap = order == '>' && dtype_bytes(t.type) > 1;
    return true;
  }
  return false;
}

void swap_bytes(std::vector<uint8_t>& data, size_t width) {
  for (size_t i = 0; i + width <= data.size(); i += width)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i), data.begin() + static_cast<ptrdiff_t>(i + width));
}

// Column major to row major.
std::vector<uint8_t> reorder(const std::vector<uint8_t>& from, const std::vector<int64_t>& dims, size_t width) {
  std::vector<uint8_t> to(from.size());
  std::vector<size_t> strides(dims.size()), index(dims.size());
  size_t stride = width;
  for (size_t i = 0; i < dims.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<size_t>(dims[i]);
  }
  for (size_t at = 0; at < to.size(); at += width) {
    size_t source = 0;
    for (size_t i = 0; i < dims.size(); ++i) source += index[i] * strides[i];
    std::memcpy(&to[at], &from[source], width);
    for (size_t i = dims.size(); i-- > 0;) {
      if (++index[i] < static_cast<size_t>(dims[i])) break;
      index[i] = 0;
    }
  }
  return to;
}

bool fail(std::string* error, const std::string& text) {
  *error = text;
  return false;
}

}  // namespace

bool parse_npy(const uint8_t* bytes, size_t size, NpyArray* out, std::string* error) {
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0) return fail(error, "not a .npy file: expected it to begin with \\x93NUMPY");
  const int version = bytes[6];
  if (version < 1 || version > 3) return fail(error, ".npy version not supported: expected 1, 2 or 3, found " + std::to_string(version));
  const size_t prefix = version == 1 ? 10 : 12;
  if (size < prefix) return fail(error, "the .npy header is cut off");
  size_t header = bytes[8] | static_cast<size_t>(bytes[9]) << 8;
  if (version > 1) header |= static_cast<size_t>(bytes[10]) << 16 | static_cast<size_t>(bytes[11]) << 24;
  if (header > kMaxHeader || header > size - prefix)
    return fail(error, "the .npy header is cut off or too long: expected at most " + std::to_string(std::min(kMaxHeader, size - prefix)) +
                           " bytes, found " + std::to_string(header));
  NpyArray a;
  std::string descr;
  bool fortran = false, swap = false;
  if (!HeaderParser(reinterpret_cast<const char*>(bytes) + prefix, header).parse(&descr, &fortran, &a.dims))
    return fail(error, "the .npy header is malformed");
  if (!find_type(descr, &a.dtype, &swap))
    return fail(error, ".npy element type not supported: expected one of f2 f4 f8 V2 i1 i2 i4 i8 u1 u2 u4 u8 b1, found '" + descr + "'");
  const size_t width = dtype_bytes(a.dtype);
  size_t total = width;
  const bool empty = std::find(a.dims.begin(), a.dims.end(), 0) != a.dims.end();
  for (const int64_t d : a.dims) {
    if (empty) break;
    if (static_cast<uint64_t>(d) > SIZE_MAX / total) return fail(error, "the .npy shape is too large");
    total *= static_cast<size_t>(d);
  }
  if (empty) total = 0;
  const size_t have = size - prefix - header;
  if (have < total)
    return fail(error, "the .npy data is cut off: expected " + std::to_string(total) + " bytes, found " + std::to_string(have));
  a.data.assign(bytes + prefix + header, bytes + prefix + header + total);
  if (swap) swap_bytes(a.data, width);
  if (fortran && a.dims.size() > 1) a.data = reorder(a.data, a.dims, width);
  *out = std::move(a);
  return true;
}

bool read_npy(const std::string& path, NpyArray* out, std::string* error) {
  std::vector<uint8_t> bytes;
  return read_whole_file(path, &bytes, error) && parse_npy(bytes.data(), bytes.size(), out, error);
}

std::vector<uint8_t> format_npy(const NpyArray& array) {
  std::string code = "V1";
  for (const TypeName& t : kTypes)
    if (t.type == array.dtype) code = t.code;
  std::string header =
      "{'descr': '" + std::string(dtype_bytes(array.dtype) > 1 ? "<" : "|") + code + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.dims.size(); ++i) header += (i > 0 ? ", " : "") + std::to_string(array.dims[i]);
  header += array.dims.size() == 1 ? ",), }" : "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const uint8_t magic[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<uint8_t>(header.size()), static_cast<uint8_t>(header.size() >> 8)};
  std::vector<uint8_t> bytes(sizeof magic + header.size() + array.data.size());
  std::copy(magic, magic + sizeof magic, bytes.begin());
  std::copy(header.begin(), header.end(), bytes.begin() + sizeof magic);
  std::copy(array.data.begin(), array.data.end(), bytes.end() - static_cast<std::ptrdiff_t>(array.data.size()));
  return bytes;
}

bool write_npy(const std::string& path, const NpyArray& array, std::string* error) {
  return write_whole_file(path, format_npy(array), error);
}

}  // namespace mote::tools
