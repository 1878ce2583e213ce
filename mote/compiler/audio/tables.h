#pragma once

// A front end as the operators read it: windows, cosines, bands and fixed-point factors.

#include <vector>

#include "mote/compiler/audio/front_end.h"
#include "mote/ops/audio_dct/audio_dct.h"
#include "mote/ops/audio_log/audio_log.h"
#include "mote/ops/audio_mel/audio_mel.h"
#include "mote/ops/audio_pcan/audio_pcan.h"

namespace mote::audio {

// What integers stand for: (q - zero) * scale.
struct Grid {
  DType dtype = DType::s16;
  double scale = 1;
  int32_t zero = 0;
};

std::vector<int16_t> window_table(const FrontEnd& f);
std::vector<int32_t> cosine_table(int32_t size);

struct BandTable {
  std::vector<int32_t> bands;     // first frequency and count, for each band
  std::vector<uint16_t> weights;  // 12 fractional bits
};
BandTable band_table(const FrontEnd& f);

// (cepstra, bands); an entry is 2^*bits times the real one.
std::vector<int16_t> dct_table(const FrontEnd& f, int* bits);

ops::audio_pcan::Attrs pcan_attrs(const FrontEnd& f);
// Of what follows the bands, on a grid.
ops::audio_log::Attrs log_attrs(const FrontEnd& f, const Grid& grid);
ops::audio_dct::Attrs dct_attrs(const Grid& logs, int bits, const Grid& grid);

// 16-bit grids that hold every value: of the logarithms, and of the features.
Grid log_grid(const FrontEnd& f);
Grid feature_grid(const FrontEnd& f);

}  // namespace mote::audio
