// What tiles of matrix products know of the operands (product_tile.cl).

#ifdef MOTE_BYTE_DOTS
#define DEPTH 8  // elements of a tile along k; of bytes in fours
#else
#define DEPTH 16
#endif
#define ITEMS 256
#define ROW_PASSES ((ROWS * DEPTH + ITEMS - 1) / ITEMS)  // in which all items read the left operand of a tile

typedef struct {
  int rows, cols, padded_cols, k;             // padded_cols: of the weights
  int in_h, in_w, in_c;                       // of the input
  int out_h, out_w;                           // of the output
  int kernel_w;                               // taps in a row
  int stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  int k_part;                                 // k of one part, a multiple of DEPTH
  int plain;                                  // 1: the left operand is a matrix (rows, k)
  int batched;                                // 1: parts are products of their own, one behind the other
} Product;

// Where row `row` of the left operand begins, and of a window its first position; far below 0 where there is no such row.
inline void place_row(Product p, int row, int x_at, int* base, int* first_h, int* first_w) {
  if (p.plain) {
    *base = x_at + row * p.k;
    *first_h = *first_w = row < p.rows ? 0 : -1;
  } else {
    const int ow = row % p.out_w, rest = row / p.out_w, oh = rest % p.out_h, n = rest / p.out_h;
    *first_h = row < p.rows ? oh * p.stride_h - p.pad_h : -(1 << 28);
    *first_w = ow * p.stride_w - p.pad_w;
    *base = x_at + n * p.in_h * p.in_w * p.in_c;
  }
}

// The first channel of a pixel of the input; below 0 outside of it.
inline int pixel_at(Product p, int base, int h, int w) {
  return h >= 0 && h < p.in_h && w >= 0 && w < p.in_w ? base + (h * p.in_w + w) * p.in_c : -1;
}
