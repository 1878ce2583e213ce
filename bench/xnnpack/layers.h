#pragma once

// The layers of MobileNetV2 (224 x 224, width 1) that do its work, each with how often it occurs.

#include <cstdint>
#include <vector>

namespace mote::bench {

enum class Activation { kNone, kRelu6 };

struct Layer {
  const char* kind;  // stem, expand, depthwise, project, head, classifier
  int32_t size, channels, outputs, kernel, stride;
  int32_t times;
  bool depthwise() const { return kernel == 3 && channels == outputs; }
  int32_t groups() const { return depthwise() ? channels : 1; }
  int32_t output_size() const { return (size + stride - 1) / stride; }
  // What is padded before the first row and column; one less behind where the stride is 2, as TFLite's "same" has it.
  int32_t pad_begin() const { return kernel == 3 && stride == 1 ? 1 : 0; }
  int32_t pad_end() const { return kernel == 3 ? 1 : 0; }
  bool relu6() const { return kind[0] != 'p' && kind[0] != 'c'; }
};

inline std::vector<Layer> mobilenet_v2() {
  struct Stage {
    int32_t expansion, outputs, blocks, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  std::vector<Layer> layers;
  const auto add = [&](const Layer& l) {
    for (Layer& o : layers)
      if (o.kind == l.kind && o.size == l.size && o.channels == l.channels && o.outputs == l.outputs && o.stride == l.stride) {
        ++o.times;
        return;
      }
    layers.push_back(l);
  };
  add({"stem", 224, 3, 32, 3, 2, 1});
  int32_t size = 112, channels = 32;
  for (const Stage& s : kStages) {
    for (int32_t block = 0; block < s.blocks; ++block) {
      const int32_t wide = channels * s.expansion, stride = block == 0 ? s.stride : 1;
      if (s.expansion > 1) add({"expand", size, channels, wide, 1, 1, 1});
      add({"depthwise", size, wide, wide, 3, stride, 1});
      size = (size + stride - 1) / stride;
      add({"project", size, wide, s.outputs, 1, 1, 1});
      channels = s.outputs;
    }
  }
  add({"head", size, channels, 1280, 1, 1, 1});
  add({"classifier", 1, 1280, 1000, 1, 1, 1});
  return layers;
}

}  // namespace mote::bench
