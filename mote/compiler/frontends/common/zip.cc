#include "mote/compiler/frontends/common/zip.h"

#include <algorithm>
#include <cstring>

namespace mote::frontends {
namespace {

uint32_t number(const uint8_t* p, int bytes) {
  uint32_t v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
  return v;
}

// Unpacks RFC 1951. Every length is checked against the input and the output's bound.
class Inflate {
 public:
  Inflate(const uint8_t* data, size_t size, size_t most, std::string* out) : data_(data), size_(size), most_(most), out_(*out) {}

  bool run() {
    for (bool last = false; !last;) {
      last = bits(1) != 0;
      const uint32_t kind = bits(2);
      if (bad_ || kind == 3) return false;
      if (!(kind == 0 ? stored() : kind == 1 ? fixed() : dynamic())) return false;
    }
    return true;
  }

 private:
  // A canonical Huffman code: how many codes of each length, and the symbols in their order.
  struct Code {
    uint16_t count[16] = {};
    std::vector<uint16_t> symbols;

    explicit Code(const std::vector<uint8_t>& lengths) : symbols(lengths.size()) {
      for (const uint8_t l : lengths) ++count[l];
      count[0] = 0;
      uint16_t next[17] = {};
      for (int i = 1; i < 16; ++i) next[i + 1] = static_cast<uint16_t>(next[i] + count[i]);
      for (size_t i = 0; i < lengths.size(); ++i)
        if (lengths[i] != 0) symbols[next[lengths[i]]++] = static_cast<uint16_t>(i);
    }
  };

  uint32_t bits(int n) {
    uint32_t v = 0;
    for (int i = 0; i < n; ++i, ++at_) {
      if (at_ / 8 >= size_) {
        bad_ = true;
        return 0;
      }
      v |= static_cast<uint32_t>(data_[at_ / 8] >> (at_ % 8) & 1) << i;
    }
    return v;
  }

  int symbol(const Code& c) {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length < 16; ++length) {
      code |= static_cast<int>(bits(1));
      if (bad_) return -1;
      if (code - first < c.count[length]) return c.symbols[static_cast<size_t>(index + code - first)];
      index += c.count[length];
      first = (first + c.count[length]) << 1;
      code <<= 1;
    }
    return -1;
  }

  bool stored() {
    at_ = (at_ + 7) / 8 * 8;
    const uint32_t n = bits(16), complement = bits(16);
    if (bad_ || (n ^ 0xffffu) != complement || n > size_ - at_ / 8 || n > most_ - out_.size()) return false;
    out_.append(reinterpret_cast<const char*>(data_ + at_ / 8), n);
    at_ += size_t{n} * 8;
    return true;
  }

  bool fixed() {
    std::vector<uint8_t> lengths(288, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, uint8_t{9});
    std::fill(lengths.begin() + 256, lengths.begin() + 280, uint8_t{7});
    return codes(Code(lengths), Code(std::vector<uint8_t>(30, 5)));
  }

  bool dynamic() {
    constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const uint32_t literals = bits(5) + 257, distances = bits(5) + 1, given = bits(4) + 4;
    if (bad_ || literals > 286 || distances > 30) return false;
    std::vector<uint8_t> small(19, 0), lengths;
    for (uint32_t i = 0; i < given; ++i) small[kOrder[i]] = static_cast<uint8_t>(bits(3));
    const Code code(small);
    while (lengths.size() < literals + distances) {
      const int s = symbol(code);
      if (s < 0) return false;
      if (s == 16 && lengths.empty()) return false;
      const size_t repeat = s < 16 ? 1 : s == 16 ? 3 + bits(2) : s == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), repeat, s < 16 ? static_cast<uint8_t>(s) : s == 16 ? lengths.back() : uint8_t{0});
    }
    if (bad_ || lengths.size() != literals + distances) return false;
    const auto middle = lengths.begin() + literals;
    return codes(Code({lengths.begin(), middle}), Code({middle, lengths.end()}));
  }

  bool codes(const Code& literal, const Code& distance) {
    constexpr uint16_t kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr uint8_t kLengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    for (;;) {
      const int s = symbol(literal);
      if (s < 0 || s > 285) return false;
      if (s == 256) return true;
      if (out_.size() >= most_) return false;
      if (s < 256) {
        out_.push_back(static_cast<char>(s));
        continue;
      }
      const size_t length = kLength[s - 257] + bits(kLengthBits[s - 257]);
      const int d = symbol(distance);
      if (d < 0 || d > 29) return false;
      const int extra = d < 2 ? 0 : d / 2 - 1;
      const size_t back = (d < 2 ? static_cast<size_t>(d) : size_t{2u + static_cast<uint32_t>(d & 1)} << extra) + bits(extra) + 1;
      if (bad_ || back > out_.size() || length > most_ - out_.size()) return false;
      for (size_t i = 0; i < length; ++i) out_.push_back(out_[out_.size() - back]);
    }
  }

  const uint8_t* data_;
  size_t size_, most_, at_ = 0;
  std::string& out_;
  bool bad_ = false;
};

uint64_t number64(const uint8_t* p) { return number(p, 4) | uint64_t{number(p + 4, 4)} << 32; }

constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kMaxComment = 65535, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint32_t kFull = 0xffffffff;  // the number stands in 64 bits elsewhere

// Where the list of entries lies: `begin` of it, how many, and how far the archive's own beginning is from the file's.
struct Directory {
  uint64_t begin = 0, end = 0, count = 0, start = 0;
};

bool read_directory(const ir::Bytes& bytes, Directory* out) {
  if (bytes.size < kEndSize) return false;
  const size_t least = bytes.size > kEndSize + kMaxComment ? bytes.size - kEndSize - kMaxComment : 0;
  size_t end = bytes.size - kEndSize;
  while (number(bytes.data + end, 4) != 0x06054b50) {
    if (end == least) return false;
    --end;
  }
  const uint8_t* p = bytes.data + end;
  uint64_t size = number(p + 12, 4), offset = number(p + 16, 4);
  out->count = number(p + 10, 2);
  // Large archives, and those of PyTorch, have their numbers in 64 bits in front of that.
  if (end >= kEnd64Size + kLocatorSize && number(p - kLocatorSize, 4) == 0x07064b50 &&
      number(p - kLocatorSize - kEnd64Size, 4) == 0x06064b50) {
    end -= kLocatorSize + kEnd64Size;
    const uint8_t* q = bytes.data + end;
    out->count = number64(q + 32);
    size = number64(q + 40);
    offset = number64(q + 48);
  }
  // Offsets count from the archive's own beginning, which is where the directory's place and its stored offset part.
  if (size > end || offset > end - size) return false;
  out->start = end - size - offset;
  out->begin = end - size;
  out->end = end;
  return true;
}

// Sizes and offset of an entry that stand in its extra field because they are too large for theirs.
bool read_extra(const uint8_t* extra, size_t size, uint64_t* unpacked, uint64_t* stored, uint64_t* offset) {
  while (size >= 4) {
    const size_t length = number(extra + 2, 2);
    if (length > size - 4) return false;
    if (number(extra, 2) == 1) {
      size_t at = 4;
      for (uint64_t* field : {unpacked, stored, offset}) {
        if (*field != kFull) continue;
        if (at + 8 > length + 4) return false;
        *field = number64(extra + at);
        at += 8;
      }
      return true;
    }
    extra += 4 + length;
    size -= 4 + length;
  }
  return true;
}

}  // namespace

std::vector<ZipEntry> read_zip(const ir::Bytes& bytes) {
  std::vector<ZipEntry> out;
  Directory d;
  if (!read_directory(bytes, &d)) return out;
  uint64_t at = d.begin;
  for (uint64_t i = 0; i < d.count; ++i) {
    const uint8_t* p = bytes.data + at;
    if (at > d.end || d.end - at < kEntrySize || number(p, 4) != 0x02014b50) return out;
    const size_t name = number(p + 28, 2), extra = number(p + 30, 2), comment = number(p + 32, 2);
    if (d.end - at - kEntrySize < name + extra + comment) return out;
    ZipEntry e;
    e.name = {reinterpret_cast<const char*>(p + kEntrySize), name};
    uint64_t stored = number(p + 20, 4), unpacked = number(p + 24, 4), offset = number(p + 42, 4);
    const bool fine = read_extra(p + kEntrySize + name, extra, &unpacked, &stored, &offset);
    const uint32_t method = number(p + 10, 2);
    e.deflated = method == 8;
    at += kEntrySize + name + extra + comment;
    if (!fine || (method != 0 && method != 8) || offset > d.end - d.start) continue;
    const uint64_t local = d.start + offset;
    if (d.end - local < kLocalSize || number(bytes.data + local, 4) != 0x04034b50) continue;
    const size_t skip = kLocalSize + number(bytes.data + local + 26, 2) + number(bytes.data + local + 28, 2);
    if (d.end - local < skip || d.end - local - skip < stored) continue;
    e.stored = static_cast<size_t>(stored);
    e.size = static_cast<size_t>(unpacked);
    e.data = bytes.data + local + skip;
    out.push_back(e);
  }
  return out;
}

bool unpack(const ZipEntry& entry, size_t most, std::string* out) {
  if (entry.size > most) return false;
  out->clear();
  if (entry.deflated) return Inflate(entry.data, entry.stored, entry.size, out).run() && out->size() == entry.size;
  out->assign(reinterpret_cast<const char*>(entry.data), entry.stored);
  return entry.stored == entry.size;
}

}  // namespace mote::frontends
