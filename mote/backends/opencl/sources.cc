#include "mote/backends/opencl/sources.h"

#include <vector>

#include "opencl_attention_data.h"
#include "opencl_common_data.h"
#include "opencl_element_data.h"
#include "opencl_fixed_point_data.h"
#include "opencl_group_data.h"
#include "opencl_product_args_data.h"
#include "opencl_product_data.h"
#include "opencl_product_tile_data.h"
#include "opencl_quant_data.h"
#include "opencl_quant_rows_data.h"
#include "opencl_reduce_data.h"
#include "opencl_resize_data.h"
#include "opencl_window_data.h"
#include "opencl_winograd_data.h"

namespace mote::backends::opencl {
namespace {

struct TileSource {
  const char* name;
  int rows, cols, item_rows, item_cols;
};
constexpr TileSource kTiles[] = {{"product_64x64", 64, 64, 4, 4}, {"product_32x32", 32, 32, 2, 2}, {"product_16x64", 16, 64, 2, 2}};

std::string tile_text(const std::string& kind, const TileSource& t, const std::string& source) {
  std::string s;
  const auto define = [&](const char* name, const std::string& value) {
    s += std::string("#undef ") + name + "\n#define " + name + " " + value + "\n";
  };
  define("NAME", kind + t.name);
  define("ROWS", std::to_string(t.rows));
  define("COLS", std::to_string(t.cols));
  define("TR", std::to_string(t.item_rows));
  define("TC", std::to_string(t.item_cols));
  return s + source;
}

std::vector<std::string> make_sources() {
#define MOTE_TEXT(family) (std::string(reinterpret_cast<const char*>(mote_opencl_##family), mote_opencl_##family##_size) + "\n")
  const std::string common = MOTE_TEXT(common), group = common + MOTE_TEXT(group), tile = MOTE_TEXT(product_tile),
                    args = MOTE_TEXT(product_args), fixed = MOTE_TEXT(fixed_point);
  std::vector<std::string> all = {common + args + MOTE_TEXT(product),   common + args + fixed + MOTE_TEXT(quant),
                                  common + MOTE_TEXT(window),           common + MOTE_TEXT(element),
                                  common + MOTE_TEXT(resize),           group + MOTE_TEXT(reduce),
                                  group + MOTE_TEXT(attention),         common + MOTE_TEXT(winograd),
                                  group + fixed + MOTE_TEXT(quant_rows)};
#undef MOTE_TEXT
  for (const TileSource& t : kTiles) {
    all[0] += tile_text("", t, tile);
    all[1] += tile_text("q_", t, tile);
  }
  return all;
}

}  // namespace

const std::string& source_of(const char* kernel) {
  static const std::vector<std::string> sources = make_sources();
  static const std::string none;
  for (const std::string& s : sources)
    for (const std::string& sign : {std::string(" ") + kernel + "(", std::string("NAME ") + kernel + "\n"})
      if (s.find(sign) != std::string::npos) return s;
  return none;
}

}  // namespace mote::backends::opencl
