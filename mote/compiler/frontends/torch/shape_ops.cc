// Views: the same elements under another shape or in another order.

#include <algorithm>
#include <numeric>

#include "mote/compiler/frontends/torch/import.h"
#include "mote/ops/cast/cast.h"

namespace mote::frontends::torch {
namespace {

void import_identity(Op& o) { o.out(o.in("self")); }
void import_dropout(Op& o) { o.out(o.in(o.has("input") ? "input" : "self")); }

void import_to(Op& o) { o.out(o.cast(o.in("self"), o.out_type())); }

void import_view(Op& o) {
  Value* x = o.in("self");
  if (o.has("dtype")) {
    const DType to = o.dtype("dtype", DType::kNone), from = dtype_of_value(x);
    if (to == from) return o.out(x);
    if (dtype_bits(to) != dtype_bits(from) || from == DType::boolean || to == DType::boolean)
      return o.refuse("a view as an element type of another size is not supported");
    ops::cast::Attrs a;
    a.to = static_cast<int32_t>(to);
    return o.out(o.b.ok() ? o.b.op(OpId::bitcast, a, {x}) : nullptr);
  }
  o.out(o.bounded(0, [&] { return o.reshape_to(x, o.sizes(o.has("size") ? "size" : "shape")); }));
}

void import_view_as(Op& o) { o.out(o.reshape_to(o.in("self"), o.sizes_of(o.in("other")))); }

void import_expand(Op& o) {
  Value* x = o.in("self");
  o.out(o.bounded(0, [&] { return o.expand_to(x, o.sizes("size")); }));
}

void import_expand_as(Op& o) { o.out(o.expand_to(o.in("self"), o.sizes_of(o.in("other")))); }

void import_broadcast_tensors(Op& o) {
  const std::vector<Value*> all = o.tensors("tensors");
  std::vector<Size> sizes;
  for (const Value* v : all)
    if (v == nullptr) return o.refuse("expected tensors");
  for (size_t i = 0; i < all.size(); ++i) {
    Value* x = all[i];
    for (size_t k = 0; k < all.size() && o.b.ok(); ++k)
      if (k != i) x = o.op(OpId::expand, {x, o.shape_of(all[k])});
    o.out(i, x);
  }
}

void import_unsqueeze(Op& o) {
  Value* x = o.in("self");
  o.out(o.unsqueeze(x, {o.axis("dim", 0, rank_of(x) + 1)}));
}

void import_squeeze(Op& o) {
  Value* x = o.in("self");
  const bool all = !o.has("dim");
  std::vector<int64_t> gone;
  std::vector<int64_t> asked = o.axes("dim", rank_of(x));
  if (all) {
    asked.resize(static_cast<size_t>(rank_of(x)));
    std::iota(asked.begin(), asked.end(), 0);
  }
  for (int64_t a : asked)
    if (rank_of(x) > 0 && is_fixed(x, static_cast<int>(a)) && dim_of(x, a) == 1) gone.push_back(a);
  o.out(gone.empty() ? x : o.squeeze(x, gone));
}

void import_flatten(Op& o) {
  Value* x = o.in("self");
  const int rank = rank_of(x), begin = o.axis("start_dim", 0, rank), end = o.axis("end_dim", -1, rank);
  if (rank == 0) return o.out(o.reshape(x, {1}));
  if (begin > end) return o.refuse("start_dim comes behind end_dim");
  std::vector<Size> sizes = o.sizes_of(x), out(sizes.begin(), sizes.begin() + begin);
  Size joined{1, nullptr};
  for (int i = begin; i <= end; ++i) {
    const Size& s = sizes[static_cast<size_t>(i)];
    if (joined.running == nullptr && s.running == nullptr) joined.known *= s.known;
    else joined.running = o.mul(o.as_scalar(joined), o.as_scalar(s));
  }
  out.push_back(joined);
  out.insert(out.end(), sizes.begin() + end + 1, sizes.end());
  o.out(o.reshape_to(x, out));
}

void import_unflatten(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", 0, rank_of(x));
  std::vector<Size> sizes = o.sizes_of(x);
  if (sizes.empty()) return o.refuse("expected a tensor with axes");
  const std::vector<Size> parts = o.sizes("sizes");
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, parts.begin(), parts.end());
  o.out(o.reshape_to(x, sizes));
}

std::vector<int> identity(int rank) {
  std::vector<int> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

// The order of axes that an operator gives its input; empty after an error.
std::vector<int> permutation(Op& o, Value* x) {
  const int rank = rank_of(x);
  const std::string& t = o.node.target;
  std::vector<int> perm = identity(rank);
  if (t.find("permute") != std::string::npos) {
    perm.clear();
    for (int64_t a : o.axes("dims", rank)) perm.push_back(static_cast<int>(a));
    std::vector<int> sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != identity(rank)) o.refuse("'dims' is no order of " + std::to_string(rank) + " axes");
  } else if (t.find("movedim") != std::string::npos) {
    const int from = o.axis("source", 0, rank), to = o.axis("destination", 0, rank);
    if (rank > 0) {
      perm.erase(perm.begin() + from);
      perm.insert(perm.begin() + to, from);
    }
  } else if (t.find("transpose") != std::string::npos || t.find("swap") != std::string::npos) {
    const bool swap = o.has("axis0");
    const int a = o.axis(swap ? "axis0" : "dim0", 0, rank), b = o.axis(swap ? "axis1" : "dim1", 0, rank);
    if (rank > 0) std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  } else if (t.find("mT") != std::string::npos) {
    if (rank >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  } else {
    std::reverse(perm.begin(), perm.end());
  }
  return perm;
}

void import_permute(Op& o) {
  Value* x = o.in("self");
  o.out(o.transpose(x, permutation(o, x)));
}

// What undoes it; for changes of a transposed view.
void import_inverse(Op& o) {
  Value* x = o.in("self");
  const std::vector<int> perm = permutation(o, x);
  std::vector<int> inverse(perm.size());
  if (!o.b.ok()) return;
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int>(i);
  o.out(o.transpose(x, inverse));
}

// Elements at offset + sum(index * stride) of the flat tensor: gathered by positions that are known now.
void import_as_strided(Op& o) {
  Value* x = o.in("self");
  const std::vector<int64_t> sizes = o.integers("size"), strides = o.integers("stride");
  const int64_t offset = o.integer("storage_offset", 0);
  if (x == nullptr || !x->type.is_static()) return o.refuse("as_strided needs a tensor of fixed shape");
  if (sizes.size() != strides.size() || sizes.size() > 8) return o.refuse("expected as many strides as sizes, at most 8");
  int64_t count = 1, last = offset, first = offset;
  constexpr int64_t kMost = kMostPlaces;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > kMost || std::abs(strides[i]) > kMost) return o.refuse("a size or stride is too large");
    count *= sizes[i];
    if (count > kMost) return o.refuse("the result is too large");
    if (sizes[i] > 0) (strides[i] < 0 ? first : last) += (sizes[i] - 1) * strides[i];
  }
  if (count > 0 && (first < 0 || last >= x->type.count())) return o.refuse("elements lie outside of the tensor");
  std::vector<int64_t> at{offset};
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<int64_t> next;
    for (int64_t base : at)
      for (int64_t k = 0; k < sizes[i]; ++k) next.push_back(base + k * strides[i]);
    at = std::move(next);
  }
  Value* flat = o.gather(o.reshape(x, {-1}), o.ints(at), 0);
  if (x->type.count() == 0) flat = o.reshape(x, {0});
  o.out(o.reshape(flat, sizes));
}

void import_pixel_shuffle(Op& o) {
  Value* x = o.in("self");
  const int64_t r = o.integer("upscale_factor", 1);
  std::vector<Size> sizes = o.sizes_of(x);
  const int rank = rank_of(x);
  if (rank < 3 || r < 1 || r > 1024 || sizes[sizes.size() - 3].running != nullptr)
    return o.refuse("expected (..., C, H, W) with fixed channels");
  const size_t c = sizes.size() - 3;
  const int64_t channels = sizes[c].known / (r * r);
  std::vector<Size> split(sizes.begin(), sizes.begin() + rank - 3), joined = split;
  for (const Size& s : {Size{channels, nullptr}, Size{r, nullptr}, Size{r, nullptr}, sizes[c + 1], sizes[c + 2]}) split.push_back(s);
  std::vector<int> perm = identity(rank - 3);
  const int n = rank - 3;
  for (int i : {n, n + 3, n + 1, n + 4, n + 2}) perm.push_back(i);
  joined.push_back({channels, nullptr});
  for (size_t i = 1; i <= 2; ++i) {
    const Size& s = sizes[c + i];
    joined.push_back(s.running == nullptr ? Size{s.known * r, nullptr} : Size{0, o.mul(s.running, static_cast<double>(r))});
  }
  o.out(o.reshape_to(o.transpose(o.reshape_to(x, split), perm), joined));
}

void import_pixel_unshuffle(Op& o) {
  Value* x = o.in("self");
  const int64_t r = o.integer("downscale_factor", 1);
  const int rank = rank_of(x);
  if (rank < 3 || r < 1 || r > 1024 || x == nullptr || !x->type.is_static()) return o.refuse("expected (..., C, H, W) of fixed sizes");
  const ir::Dims d = dims_of(x);
  const size_t c = d.size() - 3;
  std::vector<int64_t> split(d.begin(), d.begin() + rank - 2), joined(d.begin(), d.begin() + rank - 3);
  for (int64_t s : {d[c + 1] / r, r, d[c + 2] / r, r}) split.push_back(s);
  for (int64_t s : {d[c] * r * r, d[c + 1] / r, d[c + 2] / r}) joined.push_back(s);
  std::vector<int> perm = identity(rank - 3);
  const int n = rank - 3;
  for (int i : {n, n + 2, n + 4, n + 1, n + 3}) perm.push_back(i);
  o.out(o.reshape(o.transpose(o.reshape(x, split), perm), joined));
}

void import_channel_shuffle(Op& o) {
  Value* x = o.in("self");
  const int64_t groups = o.integer("groups", 1);
  std::vector<Size> sizes = o.sizes_of(x);
  if (rank_of(x) < 3 || groups < 1 || sizes[1].running != nullptr) return o.refuse("expected (N, C, ...) with fixed channels");
  std::vector<Size> split = sizes;
  split[1] = {groups, nullptr};
  split.insert(split.begin() + 2, Size{sizes[1].known / groups, nullptr});
  std::vector<int> perm = identity(rank_of(x) + 1);
  std::swap(perm[1], perm[2]);
  o.out(o.reshape_to(o.transpose(o.reshape_to(x, split), perm), sizes));
}

}  // namespace

void add_shape_ops(OpTable& t);
void add_shape_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.alias", "default", &import_identity},
                   {"aten.clone", "default", &import_identity},
                   {"aten.contiguous", "default", &import_identity},
                   {"aten.detach", "default", &import_identity},
                   {"aten.lift_fresh_copy", "default", &import_identity},
                   {"aten.lift_fresh", "default", &import_identity},
                   {"aten.resolve_conj", "default", &import_identity},
                   {"aten.resolve_neg", "default", &import_identity},
                   {"aten.positive", "default", &import_identity},
                   {"aten.dropout", "default", &import_dropout, kAny, "as in inference: identity"},
                   {"aten.feature_dropout", "default", &import_dropout, kAny, "as in inference: identity"},
                   {"aten.alpha_dropout", "default", &import_dropout, kAny, "as in inference: identity"},
                   {"aten.native_dropout", "default", &import_dropout, kAny, "as in inference: identity"},
                   {"aten._to_copy", "default", &import_to},
                   {"aten.to", "dtype dtype_layout device other", &import_to},
                   {"aten.type_as", "default", &import_to},
                   {"aten.view", "default dtype", &import_view},
                   {"aten.reshape", "default", &import_view},
                   {"aten._unsafe_view", "default", &import_view},
                   {"aten.view_copy", "default", &import_view},
                   {"aten.view_as", "default", &import_view_as},
                   {"aten.reshape_as", "default", &import_view_as},
                   {"aten.expand", "default", &import_expand},
                   {"aten.expand_copy", "default", &import_expand},
                   {"aten.broadcast_to", "default", &import_expand},
                   {"aten.expand_as", "default", &import_expand_as},
                   {"aten.broadcast_tensors", "default", &import_broadcast_tensors},
                   {"aten.unsqueeze", "default", &import_unsqueeze},
                   {"aten.unsqueeze_copy", "default", &import_unsqueeze},
                   {"aten.squeeze", "default dim dims", &import_squeeze},
                   {"aten.squeeze_copy", "default dim dims", &import_squeeze},
                   {"aten.flatten", "using_ints", &import_flatten},
                   {"aten.unflatten", "int", &import_unflatten},
                   {"aten.permute", "default", &import_permute},
                   {"aten.permute_copy", "default", &import_permute},
                   {"aten.transpose", "int", &import_permute},
                   {"aten.swapaxes", "default", &import_permute},
                   {"aten.swapdims", "default", &import_permute},
                   {"aten.movedim", "int", &import_permute},
                   {"aten.t", "default", &import_permute},
                   {"aten.numpy_T", "default", &import_permute},
                   {"aten.mT", "default", &import_permute},
                   {"mote.inverse.aten.permute", "default", &import_inverse},
                   {"mote.inverse.aten.transpose", "int", &import_inverse},
                   {"mote.inverse.aten.movedim", "int", &import_inverse},
                   {"mote.inverse.aten.t", "default", &import_inverse},
                   {"mote.inverse.aten.numpy_T", "default", &import_inverse},
                   {"aten.as_strided", "default", &import_as_strided},
                   {"aten.as_strided_copy", "default", &import_as_strided},
                   {"aten.pixel_shuffle", "default", &import_pixel_shuffle},
                   {"aten.pixel_unshuffle", "default", &import_pixel_unshuffle},
                   {"aten.channel_shuffle", "default", &import_channel_shuffle},
               });
}

}  // namespace mote::frontends::torch
