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
