// What tiles of matrix products know of the operands (product_tile.cl).

#define DEPTH 16
#define ITEMS 256

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
