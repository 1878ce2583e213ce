// One size of tile of the matrix product that product.cl describes: NAME, ROWS x COLS, each of ITEMS work-items makes TR x TC. Part of the
// source once for each size. What elements are and what becomes of a sum is defined before it, by product.cl and by quant.cl:
// X_ELEMENT, W_ELEMENT in memory, LEFT and RIGHT in local memory, of which the right one has LANES columns; LOAD_X, LOAD_W from one to the
// other, NOTHING where the window is outside the input. BLOCK elements along k are summed in a PART, from FIRST(sum), by MULTIPLY_ADD; then
// the sum, of LANES columns too, becomes CARRY(sum, part). LANE is one column of it, FINISH stores it.

__kernel __attribute__((reqd_work_group_size(COLS / TC, ROWS / TR, 1))) void NAME(__global const X_ELEMENT* x, int x_at,
                                                                                 __global const W_ELEMENT* w, int w_at, OUT_ARGS,
                                                                                 Product p, FINISH_ARGS) {
  __local LEFT left[DEPTH][ROWS + 1];
  __local RIGHT right[DEPTH][COLS / LANES];
  const int lx = get_local_id(0), ly = get_local_id(1), id = ly * (COLS / TC) + lx;
  const int row0 = get_group_id(1) * ROWS, col0 = get_group_id(0) * COLS, part = get_group_id(2);
  const int my_k = id % DEPTH, my_row = id / DEPTH, my_col = id % (COLS / LANES);
  if (p.batched) {
    x_at += part * p.rows * p.k;
    w_at += part * p.k * p.padded_cols;
  }
  int base[ROW_PASSES], first_h[ROW_PASSES], first_w[ROW_PASSES];
  for (int i = 0; i < ROW_PASSES; ++i) place_row(p, row0 + my_row + i * (ITEMS / DEPTH), x_at, &base[i], &first_h[i], &first_w[i]);
  SUM sum[TR][TC / LANES];
  for (int i = 0; i < TR; ++i)
    for (int j = 0; j < TC / LANES; ++j) sum[i][j] = 0;
  const int k_begin = p.batched ? 0 : part * p.k_part, k_end = min(p.k, k_begin + p.k_part);
  for (int k0 = k_begin; k0 < k_end; k0 += DEPTH) {
    const int k = k0 + my_k;
    if (ROWS >= ITEMS / DEPTH || my_row < ROWS) {
      if (p.plain) {
        for (int i = 0; i < ROW_PASSES; ++i)
          left[my_k][my_row + i * (ITEMS / DEPTH)] = k < k_end && first_h[i] >= 0 ? LOAD_X(base[i] + k) : NOTHING;
      } else {
        const int tap = k / p.in_c, c = k - tap * p.in_c, th = tap / p.kernel_w, tw = tap - th * p.kernel_w;
        for (int i = 0; i < ROW_PASSES; ++i) {
          const int pixel = pixel_at(p, base[i], first_h[i] + th * p.dilation_h, first_w[i] + tw * p.dilation_w);
          left[my_k][my_row + i * (ITEMS / DEPTH)] = k < k_end && pixel >= 0 ? LOAD_X(pixel + c) : NOTHING;
        }
      }
    }
    for (int i = 0; i < DEPTH * (COLS / LANES) / ITEMS; ++i) {
      const int kk = id / (COLS / LANES) + i * (ITEMS / (COLS / LANES));
      right[kk][my_col] = k0 + kk < k_end ? LOAD_W(w_at + (k0 + kk) * p.padded_cols + col0 + my_col * LANES) : (RIGHT)(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k1 = 0; k1 < DEPTH; k1 += BLOCK) {
      PART part_sum[TR][TC / LANES];
      for (int i = 0; i < TR; ++i)
        for (int j = 0; j < TC / LANES; ++j) part_sum[i][j] = FIRST(sum[i][j]);
      for (int kk = k1; kk < k1 + BLOCK; ++kk) {
        LEFT a[TR];
        RIGHT b[TC / LANES];
        for (int i = 0; i < TR; ++i) a[i] = left[kk][ly + i * (ROWS / TR)];
        for (int j = 0; j < TC / LANES; ++j) b[j] = right[kk][lx + j * (COLS / TC)];
        for (int i = 0; i < TR; ++i)
          for (int j = 0; j < TC / LANES; ++j) part_sum[i][j] = MULTIPLY_ADD(a[i], b[j], part_sum[i][j]);
      }
      for (int i = 0; i < TR; ++i)
        for (int j = 0; j < TC / LANES; ++j) sum[i][j] = CARRY(sum[i][j], part_sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < TR; ++i) {
    const int row = row0 + ly + i * (ROWS / TR);
    for (int j = 0; j < TC; ++j) {
      const int col = col0 + (lx + j / LANES * (COLS / TC)) * LANES + j % LANES;
      if (row < p.rows && col < p.cols) FINISH(row * p.cols + col, col, part, LANE(sum[i][j / LANES], j % LANES));
    }
  }
}
