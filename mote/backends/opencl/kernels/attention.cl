// Attention in one pass over the keys. A group of GROUP work-items serves QUERIES queries of one head and GROUP columns of the values: scores of
// GROUP keys at a time, sums that are scaled down whenever a larger score appears. Scores are never stored.

#define QUERIES 4
#define SLICE 16

typedef struct {
  int heads, key_heads, queries, keys, depth, width;
  int causal, left, right;  // left, right: below 0 no window
  int mask[4];              // steps of the mask, 0 where it repeats; has_mask: 0 none
  int has_mask;
  float scale, softcap;
} Attention;

// Keys [x, y) of the query at `position` among them.
inline int2 keys_of(Attention p, int position, int used) {
  int2 r = (int2)(0, used);
  if (p.causal) r.y = min(r.y, position + 1);
  if (p.right >= 0 && p.right < used) r.y = min(r.y, position + p.right + 1);
  if (p.left >= 0) r.x = max(r.x, position - p.left);
  return r;
}

// Score `e` of a product of query and key, as attention weighs it, the mask's element at `at` added; -INFINITY: the key does not count.
inline float masked(Attention p, __global const real* mask, int at, float e, bool counts) {
  e *= p.scale;
  if (p.softcap > 0) e = tanh(e / p.softcap) * p.softcap;
  if (!counts) return -INFINITY;
  if (!p.has_mask) return e;
  const float more = LOAD(mask, at);
  return more == -INFINITY ? -INFINITY : e + more;
}

// lengths: for each batch the keys in use, and the place of query 0 among them.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void attention(
    __global const real* q, int q_at, __global const real* k, int k_at, __global const real* v, int v_at, __global const real* mask,
    int mask_at, __global const int* lengths, int lengths_at, __global real_out* y, int y_at, Attention p) {
  __local float tile[GROUP][SLICE + 1], part[GROUP], weight[QUERIES][GROUP];
  const int id = get_local_id(0), s0 = get_group_id(0) * QUERIES, column = get_group_id(1) * GROUP + id;
  const int h = get_group_id(2) % p.heads, b = get_group_id(2) / p.heads;
  const int head = b * p.heads + h, key_head = b * p.key_heads + h / (p.heads / p.key_heads);
  const int used = lengths[lengths_at + 2 * b], offset = lengths[lengths_at + 2 * b + 1];
  float sum[QUERIES], total[QUERIES], peak[QUERIES];
  int2 range[QUERIES];
  int begin = used, end = 0;
  for (int r = 0; r < QUERIES; ++r) {
    sum[r] = total[r] = 0;
    peak[r] = -INFINITY;
    range[r] = s0 + r < p.queries ? keys_of(p, s0 + r + offset, used) : (int2)(0, 0);
    begin = range[r].x < range[r].y ? min(begin, range[r].x) : begin;
    end = max(end, range[r].y);
  }
  for (int t0 = begin; t0 < end; t0 += GROUP) {
    float score[QUERIES];
    for (int r = 0; r < QUERIES; ++r) score[r] = 0;
    for (int d0 = 0; d0 < p.depth; d0 += SLICE) {
      for (int i = id; i < GROUP * SLICE; i += GROUP) {
        const int t = t0 + i / SLICE, d = d0 + i % SLICE;
        tile[i / SLICE][i % SLICE] = t < p.keys && d < p.depth ? LOAD(k, k_at + (key_head * p.keys + t) * p.depth + d) : 0;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const int slice = min(SLICE, p.depth - d0);
      for (int r = 0; r < QUERIES; ++r)
        if (s0 + r < p.queries)
          for (int d = 0; d < slice; ++d)
            score[r] = fma(LOAD(q, q_at + (head * p.queries + s0 + r) * p.depth + d0 + d), tile[id][d], score[r]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int t = t0 + id;
    for (int r = 0; r < QUERIES; ++r) {
      const int at = mask_at + b * p.mask[0] + h * p.mask[1] + (s0 + r) * p.mask[2] + t * p.mask[3];
      const float e = masked(p, mask, at, score[r], t >= range[r].x && t < range[r].y);
      const float highest = fmax(peak[r], group_max(part, e)), shrink = highest == peak[r] ? 1 : exp(peak[r] - highest);
      const float w = e == -INFINITY ? 0 : exp(e - highest);
      peak[r] = highest;
      weight[r][id] = w;
      total[r] = total[r] * shrink + group_sum(part, w);
      sum[r] *= shrink;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int n = min(GROUP, end - t0);
    if (column < p.width) {
      for (int i = 0; i < n; ++i) {
        const float e = LOAD(v, v_at + (key_head * p.keys + t0 + i) * p.width + column);
        for (int r = 0; r < QUERIES; ++r)
          // What does not count must not spread NaN.
          if (weight[r][i] != 0) sum[r] = fma(weight[r][i], e, sum[r]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < QUERIES; ++r)
    if (s0 + r < p.queries && column < p.width)
      STORE(y, y_at + (head * p.queries + s0 + r) * p.width + column, total[r] == 0 ? 0 : sum[r] / total[r]);
}
