// Convolutions and products with constant weights, as one matrix product: rows are output positions, columns output channels, k runs over
// (kernel row, kernel column, input channel). The left operand is gathered on the way into local memory, weights lie as (k, columns).
//
// The tiles are in product_tile.cl. With several parts (the third dimension) each
// sums a range of k into `partial`, and `product_finish` adds them up; batched, each is a product whose sums go there.

__kernel void product_finish(__global const float* partial, int partial_at, int parts, __global const float* bias, int bias_at,
                             __global const real* residual, int residual_at, __global real_out* y, int y_at, int count, int cols, Finish f,
                             float alpha) {
  const int i = get_global_id(0);
  if (i >= count) return;
  float v = 0;
  for (int p = 0; p < parts; ++p) v += partial[partial_at + p * count + i];
  v *= alpha;
  if (f.bias) v += bias[bias_at + i % cols];
  if (f.residual) v += LOAD(residual, residual_at + i);
  STORE(y, y_at + i, activate(f.kind, f.a, f.b, v));
}

// Batches of two matrices that are both computed. a_batch, b_batch: where each batch begins.
typedef struct {
  int m, n, k, a_row, a_col, b_row, b_col, batches;
} Matrices;
__kernel void matmul(__global const real* a, int a_at, __global const real* b, int b_at, __global const int* a_batch,
                     int a_batch_at, __global const int* b_batch, int b_batch_at, __global const float* bias, int bias_at,
                     __global const real* residual, int residual_at, __global real_out* y, int y_at, Matrices s, Finish f, float alpha) {
  const int col = get_global_id(0), row = get_global_id(1), batch = get_global_id(2);
  if (col >= s.n || row >= s.m) return;
  const int ai = a_at + a_batch[a_batch_at + batch] + row * s.a_row, bi = b_at + b_batch[b_batch_at + batch] + col * s.b_col;
  float v = 0;
  for (int k = 0; k < s.k; ++k) v = fma(LOAD(a, ai + k * s.a_col), LOAD(b, bi + k * s.b_row), v);
  v *= alpha;
  const int at = (batch * s.m + row) * s.n + col;
  if (f.bias) v += bias[bias_at + col];
  if (f.residual) v += LOAD(residual, residual_at + at);
  STORE(y, y_at + at, activate(f.kind, f.a, f.b, v));
}

#define X_ELEMENT real
#define NOTHING (LEFT)0
#ifdef MOTE_HALF_MATH
// Tiles that multiply in half, two columns at a time. Of BLOCK terms the sum is half, too, and goes over into a float.
#define LEFT half
#define RIGHT half2
#define LANES 2
#define W_ELEMENT half
#define LOAD_X(i) x[i]
#define LOAD_W(i) vload2(0, w + (i))
#define BLOCK 8
#define PART half2
#define FIRST(sum) (half2)(0)
#define MULTIPLY_ADD(a, b, c) fma((half2)(a), b, c)
#define SUM float2
#define CARRY(sum, part) ((sum) + convert_float2(part))
#define LANE(sum, l) ((l) == 0 ? (sum).x : (sum).y)
#else
#define SUM float
#define LEFT float
#define RIGHT float
#define LANES 1
#define W_ELEMENT float
#define LOAD_X(i) LOAD(x, i)
#define LOAD_W(i) w[i]
#define BLOCK DEPTH
#define PART float
#define FIRST(sum) (sum)
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#define CARRY(sum, part) (part)
#define LANE(sum, l) (sum)
#endif
#define OUT_ARGS                                                                                                              \
  __global const float *bias, int bias_at, __global const real *residual, int residual_at, __global real_out *y, int y_at, \
      __global float *partial, int partial_at
#define FINISH_ARGS Finish f, float alpha
#define FINISH(at, col, part, v)                                                               \
  do {                                                                                         \
    float e = v;                                                                               \
    if (get_num_groups(2) > 1) {                                                               \
      partial[partial_at + part * p.rows * p.cols + at] = e;                                   \
    } else {                                                                                   \
      e *= alpha;                                                                              \
      if (f.bias) e += bias[bias_at + col];                                                    \
      if (f.residual) e += LOAD(residual, residual_at + at);                                   \
      STORE(y, y_at + at, activate(f.kind, f.a, f.b, e));                                      \
    }                                                                                          \
  } while (0)
