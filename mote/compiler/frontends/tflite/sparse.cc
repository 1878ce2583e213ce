#include "mote/compiler/frontends/tflite/sparse.h"

#include <cstring>

namespace mote::frontends::tflite {
namespace {

constexpr size_t kMostLevels = 2 * static_cast<size_t>(kMaxRank);

// Segments or indices of a compressed level, whatever their width.
struct Ints {
  const Vector<int32_t>* s32 = nullptr;
  const Vector<uint16_t>* u16 = nullptr;
  const Vector<uint8_t>* u8 = nullptr;

  static Ints segments(const fb::DimensionMetadata& d) {
    Ints r;
    if (const auto* v = d.array_segments_as_Int32Vector()) r.s32 = v->values();
    if (const auto* v = d.array_segments_as_Uint16Vector()) r.u16 = v->values();
    if (const auto* v = d.array_segments_as_Uint8Vector()) r.u8 = v->values();
    return r;
  }
  static Ints indices(const fb::DimensionMetadata& d) {
    Ints r;
    if (const auto* v = d.array_indices_as_Int32Vector()) r.s32 = v->values();
    if (const auto* v = d.array_indices_as_Uint16Vector()) r.u16 = v->values();
    if (const auto* v = d.array_indices_as_Uint8Vector()) r.u8 = v->values();
    return r;
  }
  uint32_t size() const { return s32 != nullptr ? s32->size() : u16 != nullptr ? u16->size() : u8 != nullptr ? u8->size() : 0; }
  int64_t at(uint32_t i) const { return s32 != nullptr ? s32->Get(i) : u16 != nullptr ? u16->Get(i) : u8->Get(i); }
};

// One level of the traversal: which dimension it walks, and how.
struct Level {
  bool compressed = false;
  int64_t size = 0;    // positions of a dense level; the bound of indices of a compressed one
  int64_t stride = 0;  // elements of the dense tensor between neighbouring positions
  Ints segments, indices;
};

class Densifier {
 public:
  Densifier(const Tensor& t, const ir::Dims& dims, std::vector<uint8_t>* out) : t_(t), dims_(dims), out_(*out) {}

  bool run(std::string* error) {
    const bool fine = dtype_bytes(t_.dtype) != 0 && plan() && walk(0, 0, 0) && next_ * dtype_bytes(t_.dtype) == t_.data.size;
    if (!fine) *error = "the sparse constant '" + std::string(t_.name) + "' contradicts its shape or data";
    return fine;
  }

 private:
  bool plan() {
    const fb::SparsityParameters& s = *t_.sparsity;
    const size_t rank = dims_.size(), blocks = s.block_map() == nullptr ? 0 : s.block_map()->size(), count = rank + blocks;
    if (s.traversal_order() == nullptr || s.dim_metadata() == nullptr || count > kMostLevels) return false;
    if (s.traversal_order()->size() != count || s.dim_metadata()->size() != count) return false;
    std::vector<int64_t> stride(rank, 1), block(rank, 1);
    for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * dims_[i];
    std::vector<bool> seen(count, false);
    levels_.resize(count);
    // Block sizes first: the outer levels of a blocked dimension count blocks.
    for (size_t pass = 0; pass < 2; ++pass) {
      for (uint32_t i = 0; i < count; ++i) {
        const int32_t dim = s.traversal_order()->Get(i);
        if (dim < 0 || static_cast<size_t>(dim) >= count) return false;
        const bool inner = static_cast<size_t>(dim) >= rank;
        if (inner != (pass == 0)) continue;
        if (seen[static_cast<size_t>(dim)]) return false;
        seen[static_cast<size_t>(dim)] = true;
        const fb::DimensionMetadata& m = *s.dim_metadata()->Get(i);
        Level& level = levels_[i];
        const int32_t of = inner ? s.block_map()->Get(static_cast<uint32_t>(dim) - static_cast<uint32_t>(rank)) : dim;
        if (of < 0 || static_cast<size_t>(of) >= rank) return false;
        const size_t o = static_cast<size_t>(of);
        level.compressed = m.format() == fb::DimensionType::SPARSE_CSR;
        if (inner) {
          if (level.compressed || m.dense_size() < 1 || block[o] != 1 || dims_[o] % m.dense_size() != 0) return false;
          block[o] = level.size = m.dense_size();
          level.stride = stride[o];
        } else {
          level.size = dims_[o] / block[o];
          level.stride = stride[o] * block[o];
          if (!level.compressed && m.dense_size() != level.size) return false;
          if (level.compressed) level.segments = Ints::segments(m), level.indices = Ints::indices(m);
        }
      }
    }
    return true;
  }

  // The part under `position` of a level; `at` is the dense element it begins at.
  bool walk(size_t depth, int64_t position, int64_t at) {
    const size_t width = dtype_bytes(t_.dtype);
    if (depth == levels_.size()) {
      if ((next_ + 1) * width > t_.data.size) return false;
      std::memcpy(out_.data() + static_cast<size_t>(at) * width, t_.data.data + next_++ * width, width);
      return true;
    }
    const Level& l = levels_[depth];
    if (!l.compressed) {
      for (int64_t i = 0; i < l.size; ++i)
        if (!walk(depth + 1, position * l.size + i, at + i * l.stride)) return false;
      return true;
    }
    if (position + 1 >= static_cast<int64_t>(l.segments.size())) return false;
    const int64_t begin = l.segments.at(static_cast<uint32_t>(position)), end = l.segments.at(static_cast<uint32_t>(position) + 1);
    if (begin < 0 || end < begin || end > static_cast<int64_t>(l.indices.size())) return false;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = l.indices.at(static_cast<uint32_t>(i));
      if (index < 0 || index >= l.size || !walk(depth + 1, i, at + index * l.stride)) return false;
    }
    return true;
  }

  const Tensor& t_;
  const ir::Dims& dims_;
  std::vector<uint8_t>& out_;
  std::vector<Level> levels_;
  size_t next_ = 0;
};

}  // namespace

bool densify(const Tensor& tensor, const ir::Dims& dims, std::vector<uint8_t>* out, std::string* error) {
  return Densifier(tensor, dims, out).run(error);
}

}  // namespace mote::frontends::tflite
