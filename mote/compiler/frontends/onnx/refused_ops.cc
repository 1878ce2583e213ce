// Operators that Mote knows and does not run, each with the reason.

#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

void refuse_strings(NodeContext& c) { c.fail("works on strings, which Mote does not have", "do this step before the model runs"); }
void refuse_images(NodeContext& c) { c.fail("decodes image files, which Mote does not do", "give decoded pixels to the model"); }
void refuse_training(NodeContext& c) { c.fail("computes gradients, which Mote does not do", "export the model for inference"); }
void refuse_maps(NodeContext& c) {
  c.fail("reads maps, which programs do not have", "give the model a tensor with one column for each key");
}

}  // namespace

void add_refused_ops(OpTable& table);
void add_refused_ops(OpTable& table) {
  add_lines(table, {{"StringConcat", refuse_strings, 1, 0},
                    {"StringNormalizer", refuse_strings, 1, 0},
                    {"StringSplit", refuse_strings, 1, 0},
                    {"RegexFullMatch", refuse_strings, 1, 0},
                    {"ImageDecoder", refuse_images, 1, 0}});
  add_lines(table, {{"Gradient", refuse_training, 1, 0}}, "ai.onnx.preview.training");
  add_lines(table, {{"CastMap", refuse_maps, 1, 0}, {"DictVectorizer", refuse_maps, 1, 0}}, "ai.onnx.ml");
}

}  // namespace mote::frontends::onnx
