#pragma once

// Families of kernels that take any number of channels: families_test.cc runs each with 1 to 130, and requires that together they cover
// every operator of kernels.def. A new kernel is a case in the families_*_test.cc of its kind.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "mote/kernels/testing/integers.h"

namespace mote::kerneltest {

struct Family {
  std::string name;
  std::function<void(Draw&, int32_t channels, bool shared)> run;  // shared: enough work for threads
  bool heavy = false;                                             // not every number of channels: those around register widths, and some
};

inline std::ostream& operator<<(std::ostream& out, const Family& f) { return out << f.name; }

void add_product_families(std::vector<Family>* all);
void add_quantized_families(std::vector<Family>* all);
void add_element_families(std::vector<Family>* all);
void add_move_families(std::vector<Family>* all);

// Positions of an image: few, or as many as it takes for threads to share the work. `steps`: what an element takes (common/parallel.h).
inline int32_t width_for(int32_t channels, int32_t height, double steps, bool many_parts) {
  return many_parts ? static_cast<int32_t>(210e3 / (steps * height * channels)) + 1 : 5;
}

}  // namespace mote::kerneltest
