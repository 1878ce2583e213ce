// Sums, means, extrema, softmax and norms. A group of GROUP work-items shares the elements of one result.

// Results are (outer, inner), each over `length` elements `inner` apart. kind 0 sum, 1 mean, 2 maximum, 3 minimum, 4 product, 5 sum of
// squares, 6 sum of magnitudes, 7 root of the sum of squares.
float reduce_start(int kind) { return kind == 2 ? -INFINITY : kind == 3 ? INFINITY : kind == 4 ? 1 : 0; }
float reduce_with(int kind, float v, float e) {
  // NaN wins: fmax() and fmin() would drop it.
  if (kind == 2) return e > v || isnan(e) ? e : v;
  if (kind == 3) return e < v || isnan(e) ? e : v;
  if (kind == 4) return v * e;
  if (kind == 5 || kind == 7) return fma(e, e, v);
  return v + (kind == 6 ? fabs(e) : e);
}
float reduce_end(int kind, float v, int length) { return kind == 1 ? v / length : kind == 7 ? sqrt(v) : v; }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(__global const real* x, int x_at, __global real_out* y, int y_at,
                                                                         int length, int inner, int kind) {
  __local float part[GROUP];
  const int result = get_group_id(0), first = x_at + result / inner * length * inner + result % inner;
  float v = reduce_start(kind);
  for (int i = get_local_id(0); i < length; i += GROUP) v = reduce_with(kind, v, LOAD(x, first + i * inner));
  if (kind == 4) v = group_product(part, v);
  else if (kind == 2) v = group_max(part, v);
  else if (kind == 3) v = -group_max(part, -v);
  else v = group_sum(part, v);
  if (get_local_id(0) == 0) STORE(y, y_at + result, reduce_end(kind, v, length));
}

// The same for few elements of many results: a work-item each.
__kernel void reduce_columns(__global const real* x, int x_at, __global real_out* y, int y_at, int length, int inner, int kind, int count) {
  const int result = get_global_id(0);
  if (result >= count) return;
  const int first = x_at + result / inner * length * inner + result % inner;
  float v = reduce_start(kind);
  for (int i = 0; i < length; ++i) v = reduce_with(kind, v, LOAD(x, first + i * inner));
  STORE(y, y_at + result, reduce_end(kind, v, length));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void softmax(__global const real* x, int x_at, __global real_out* y, int y_at,
                                                                          int length, int inner, int logarithm) {
  __local float part[GROUP];
  const int row = get_group_id(0), first = row / inner * length * inner + row % inner;
  float largest = -INFINITY;
  for (int i = get_local_id(0); i < length; i += GROUP) largest = fmax(largest, LOAD(x, x_at + first + i * inner));
  largest = group_max(part, largest);
  float sum = 0;
  for (int i = get_local_id(0); i < length; i += GROUP) sum += exp(LOAD(x, x_at + first + i * inner) - largest);
  sum = group_sum(part, sum);
  for (int i = get_local_id(0); i < length; i += GROUP) {
    const float v = LOAD(x, x_at + first + i * inner) - largest;
    STORE(y, y_at + first + i * inner, logarithm ? v - log(sum) : exp(v) / sum);
  }
}

// Rows of `length`; scale and bias have as many values, or none.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void layer_norm(__global const real* x, int x_at, __global const real* scale,
                                                                             int scale_at, __global const real* bias, int bias_at,
                                                                             __global real_out* y, int y_at, int length, float epsilon,
                                                                             int has_scale, int has_bias) {
  __local float part[GROUP];
  const int first = get_group_id(0) * length;
  float sum = 0;
  for (int i = get_local_id(0); i < length; i += GROUP) sum += LOAD(x, x_at + first + i);
  const float mean = group_sum(part, sum) / length;
  sum = 0;
  for (int i = get_local_id(0); i < length; i += GROUP) {
    const float d = LOAD(x, x_at + first + i) - mean;
    sum = fma(d, d, sum);
  }
  const float inverse = 1 / sqrt(group_sum(part, sum) / length + epsilon);
  for (int i = get_local_id(0); i < length; i += GROUP) {
    float v = (LOAD(x, x_at + first + i) - mean) * inverse;
    if (has_scale) v *= LOAD(scale, scale_at + i);
    if (has_bias) v += LOAD(bias, bias_at + i);
    STORE(y, y_at + first + i, v);
  }
}
