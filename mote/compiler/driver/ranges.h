#pragma once

// Sizes of open dimensions: which of a range a model can be computed at.

#include <string>
#include <vector>

#include "mote/compiler/frontends/frontend.h"

namespace mote::driver {

// Sizes of a range to try: all of at most 64; of more the ends, the powers of two and the middle. Ascending.
std::vector<int32_t> sizes_to_try(int32_t least, int32_t most);

// 0 to count - 1: both ends, then the middle of each gap.
std::vector<size_t> halving_order(size_t count);

// Asks every operator of an imported graph at the sizes of each range. Where some are refused (a window larger than what it slides over),
// the range in *options becomes the longest piece without any, and *notes says so. True when the graph must be made again, with *options.
bool narrow_ranges(ir::Graph& graph, frontends::ImportOptions* options, std::vector<std::string>* notes);

// Looks for sizes at which something holds that the graph's samples do not show: the last of three equal parts is largest where the whole
// divides by three. All sizes of a range of at most 64 are tried, and of two such ranges together where they are few; of a wider range
// those of sizes_to_try() and so many at the end that a split has every remainder, even where the model's strides come to 64. True when
// one was found: the graph must be made again, with *options. *what says what was found there.
bool find_samples(ir::Graph& graph, frontends::ImportOptions* options, std::string* what);

}  // namespace mote::driver
