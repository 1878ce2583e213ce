// Depthwise and grouped convolutions, transposed ones, pools: a work-item makes one output element.

// One channel in, one out. Weights (taps, channels).
__kernel void depthwise(__global const real* x, int x_at, __global const float* w, int w_at, __global const float* bias, int bias_at,
                        __global const real* residual, int residual_at, __global real_out* y, int y_at, Window p, Finish f) {
  const int c = get_global_id(0), pos = get_global_id(1);
  if (c >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  const int h0 = oh * p.stride_h - p.pad_h, w0 = ow * p.stride_w - p.pad_w;
  float v = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    const int h = h0 + i * p.dilation_h;
    if (h < 0 || h >= p.in_h) continue;
    for (int j = 0; j < p.kernel_w; ++j) {
      const int q = w0 + j * p.dilation_w;
      if (q < 0 || q >= p.in_w) continue;
      v = fma(LOAD(x, x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + c), w[w_at + (i * p.kernel_w + j) * p.padded_cols + c], v);
    }
  }
  const int at = pos * p.out_c + c;
  if (f.bias) v += bias[bias_at + c];
  if (f.residual) v += LOAD(residual, residual_at + at);
  STORE(y, y_at + at, activate(f.kind, f.a, f.b, v));
}

#ifdef MOTE_HALF_MATH
// The same with two channels to a work-item, multiplied in half: sums of a row of taps are half, too, and go over into a float. Weights
// were divided by alpha.
__kernel void depthwise_pairs(__global const half* x, int x_at, __global const half* w, int w_at, __global const float* bias, int bias_at,
                              __global const half* residual, int residual_at, __global real_out* y, int y_at, Window p, Finish f,
                              float alpha) {
  const int c = 2 * get_global_id(0), pos = get_global_id(1);
  if (c >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  const int h0 = oh * p.stride_h - p.pad_h, w0 = ow * p.stride_w - p.pad_w;
  float2 v = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    const int h = h0 + i * p.dilation_h;
    if (h < 0 || h >= p.in_h) continue;
    half2 row = 0;
    for (int j = 0; j < p.kernel_w; ++j) {
      const int q = w0 + j * p.dilation_w;
      if (q < 0 || q >= p.in_w) continue;
      row = fma(vload2(0, x + x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + c),
                vload2(0, w + w_at + (i * p.kernel_w + j) * p.padded_cols + c), row);
    }
    v += convert_float2(row);
  }
  v *= alpha;
  const int at = pos * p.out_c + c;
  if (f.bias) v += (float2)(bias[bias_at + c], bias[bias_at + c + 1]);
  if (f.residual) v += (float2)(LOAD(residual, residual_at + at), LOAD(residual, residual_at + at + 1));
  STORE(y, y_at + at, activate(f.kind, f.a, f.b, v.x));
  STORE(y, y_at + at + 1, activate(f.kind, f.a, f.b, v.y));
}
#endif

// Groups of several channels, and transposed convolutions of any groups.
__kernel void window_product(__global const real* x, int x_at, __global const float* w, int w_at, __global const float* bias, int bias_at,
                             __global const real* residual, int residual_at, __global real_out* y, int y_at, Window p, Finish f,
                             int transposed) {
  const int o = get_global_id(0), pos = get_global_id(1);
  if (o >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  const int depth = p.in_c / p.groups, first = o / (p.out_c / p.groups) * depth;
  float v = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    int h = transposed ? oh + p.pad_h - i * p.dilation_h : oh * p.stride_h + i * p.dilation_h - p.pad_h;
    if (transposed) {
      if (h < 0 || h % p.stride_h != 0) continue;
      h /= p.stride_h;
    }
    if (h < 0 || h >= p.in_h) continue;
    for (int j = 0; j < p.kernel_w; ++j) {
      int q = transposed ? ow + p.pad_w - j * p.dilation_w : ow * p.stride_w + j * p.dilation_w - p.pad_w;
      if (transposed) {
        if (q < 0 || q % p.stride_w != 0) continue;
        q /= p.stride_w;
      }
      if (q < 0 || q >= p.in_w) continue;
      const int from = x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + first;
      const int weight = w_at + (i * p.kernel_w + j) * depth * p.padded_cols + o;
      for (int c = 0; c < depth; ++c) v = fma(LOAD(x, from + c), w[weight + c * p.padded_cols], v);
    }
  }
  const int at = pos * p.out_c + o;
  if (f.bias) v += bias[bias_at + o];
  if (f.residual) v += LOAD(residual, residual_at + at);
  STORE(y, y_at + at, activate(f.kind, f.a, f.b, v));
}

// kind 0: maximum, NaN wins. 1: mean of what is inside. 2: sum over `divisor`. 3: mean over inside and padding of the window that lies
// within the padded input.
__kernel void pool(__global const real* x, int x_at, __global real_out* y, int y_at, Window p, int kind, float divisor, int padded_h,
                   int padded_w) {
  const int c = get_global_id(0), pos = get_global_id(1);
  if (c >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  float v = kind == 0 ? -INFINITY : 0;
  int inside = 0, counted = 0;
  for (int i = 0; i < p.kernel_h; ++i) {
    const int h = oh * p.stride_h + i * p.dilation_h - p.pad_h;
    for (int j = 0; j < p.kernel_w; ++j) {
      const int q = ow * p.stride_w + j * p.dilation_w - p.pad_w;
      counted += h < padded_h && q < padded_w;
      if (h < 0 || h >= p.in_h || q < 0 || q >= p.in_w) continue;
      ++inside;
      const float e = LOAD(x, x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + c);
      if (kind == 0) v = e > v || isnan(e) ? e : v;
      else v += e;
    }
  }
  if (kind == 1) v = inside > 0 ? v / inside : 0;
  if (kind == 2) v /= divisor;
  if (kind == 3) v = inside > 0 && counted > 0 ? v / counted : 0;
  STORE(y, y_at + pos * p.out_c + c, v);
}

// Windows that cover the input evenly: [i * in / out, ceil((i + 1) * in / out)).
__kernel void adaptive_pool(__global const real* x, int x_at, __global real_out* y, int y_at, Window p) {
  const int c = get_global_id(0), pos = get_global_id(1);
  if (c >= p.out_c || pos >= p.batch * p.out_h * p.out_w) return;
  const int3 where = position_of(p, pos);
  const int ow = where.x, oh = where.y, n = where.z;
  const int h0 = oh * p.in_h / p.out_h, h1 = ((oh + 1) * p.in_h + p.out_h - 1) / p.out_h;
  const int w0 = ow * p.in_w / p.out_w, w1 = ((ow + 1) * p.in_w + p.out_w - 1) / p.out_w;
  float v = 0;
  for (int h = h0; h < h1; ++h)
    for (int q = w0; q < w1; ++q) v += LOAD(x, x_at + ((n * p.in_h + h) * p.in_w + q) * p.in_c + c);
  STORE(y, y_at + pos * p.out_c + c, v / ((h1 - h0) * (w1 - w0)));
}
