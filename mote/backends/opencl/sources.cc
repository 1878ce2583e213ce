#include "mote/backends/opencl/sources.h"

#include "opencl_common_data.h"
#include "opencl_element_data.h"
#include "opencl_product_data.h"
#include "opencl_product_tile_data.h"
#include "opencl_reduce_data.h"
#include "opencl_resize_data.h"
#include "opencl_window_data.h"

namespace mote::backends::opencl {
namespace {

std::string text(const unsigned char* data, unsigned int size) { return std::string(reinterpret_cast<const char*>(data), size) + "\n"; }

struct Tile {
  const char* name;
  int rows, cols, item_rows, item_cols;
};
constexpr Tile kTiles[] = {{"product_64x64", 64, 64, 4, 4}, {"product_32x32", 32, 32, 2, 2}, {"product_16x64", 16, 64, 2, 2}};

}  // namespace

std::string kernel_source() {
  std::string s = text(mote_opencl_common, mote_opencl_common_size) + text(mote_opencl_product, mote_opencl_product_size);
  for (const Tile& t : kTiles) {
    const auto define = [&](const char* name, const std::string& value) {
      s += std::string("#undef ") + name + "\n#define " + name + " " + value + "\n";
    };
    define("NAME", t.name);
    define("ROWS", std::to_string(t.rows));
    define("COLS", std::to_string(t.cols));
    define("TR", std::to_string(t.item_rows));
    define("TC", std::to_string(t.item_cols));
    s += text(mote_opencl_product_tile, mote_opencl_product_tile_size);
  }
  s += text(mote_opencl_window, mote_opencl_window_size) + text(mote_opencl_element, mote_opencl_element_size);
  return s + text(mote_opencl_reduce, mote_opencl_reduce_size) + text(mote_opencl_resize, mote_opencl_resize_size);
}

}  // namespace mote::backends::opencl
