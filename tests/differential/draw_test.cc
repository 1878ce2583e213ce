// Every operator that the ONNX front end imports is drawn, or stands here with the reason why not.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "mote/compiler/frontends/onnx/import.h"
#include "tests/differential/case.h"

namespace mote::differential {
namespace {

// tests/onnx compares them with ONNX Runtime, importers_test has the two that it does not run.
constexpr char kLegacy[] = "models of before operator set 10 alone have it; written with operators that are drawn";

const std::map<std::string, const char*> kNotDrawn = {
    // Refused with a message (refused_ops.cc and others): there is nothing to run.
    {"ATen", "refused"},
    {"Bernoulli", "random numbers are refused"},
    {"Multinomial", "random numbers are refused"},
    {"RandomNormal", "random numbers are refused"},
    {"RandomNormalLike", "random numbers are refused"},
    {"RandomUniform", "random numbers are refused"},
    {"RandomUniformLike", "random numbers are refused"},
    {"ImageDecoder", "refused"},
    {"MaxRoiPool", "refused"},
    {"RegexFullMatch", "strings are refused"},
    {"StringConcat", "strings are refused"},
    {"StringNormalizer", "strings are refused"},
    {"StringSplit", "strings are refused"},
    {"ai.onnx.ml.CastMap", "maps are refused"},
    {"ai.onnx.ml.CategoryMapper", "its texts must be in the model: importers_test has cases by hand"},
    {"ai.onnx.ml.DictVectorizer", "maps are refused"},
    {"ai.onnx.ml.SVMClassifier", "its tables must fit each other: tests/onnx has pipelines of scikit-learn"},
    {"ai.onnx.ml.ZipMap", "left out: tests/onnx has pipelines of scikit-learn"},
    {"ai.onnx.preview.training.Gradient", "refused"},
    // Others.
    {"LinearAttention", "a Loop over operators that are drawn; models of operator set 27 alone have it"},
    {"Scatter", "ScatterElements by its name up to operator set 10: the same importer"},
    {"TfIdfVectorizer", "its tables must fit each other: importers_test has cases by hand"},
    {"Upsample", "Resize by its name up to operator set 9: the same importer"},
    {"Affine", kLegacy},
    {"Crop", kLegacy},
    {"DynamicSlice", kLegacy},
    {"GRUUnit", kLegacy},
    {"GivenTensorFill", kLegacy},
    {"ImageScaler", kLegacy},
    {"ParametricSoftplus", kLegacy},
    {"Scale", kLegacy},
    {"ScaledTanh", kLegacy},
    {"ai.onnx.ml.TreeEnsemble", "the newer way to write the forests that are drawn: the same tables"},
    {"ai.onnx.preview.FlexAttention", "a preview: Attention is drawn"},
};

TEST(Draw, EveryOperatorThatIsImportedIsDrawn) {
  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 30000; ++seed) {
    std::istringstream names(operators_of(draw_case(seed).model));
    for (std::string name; names >> name;) drawn.insert(name);
  }
  for (const auto& [name, lines] : frontends::onnx::op_table())
    EXPECT_EQ(drawn.count(name) + kNotDrawn.count(name), 1u)
        << name
        << (drawn.count(name) != 0 ? " is drawn and has a reason not to be" : " is imported and never drawn: add it to a draw_*.cc");
  for (const auto& [name, reason] : kNotDrawn)
    EXPECT_EQ(frontends::onnx::op_table().count(name), 1u) << name << " is no operator: " << reason;
  for (const std::string& name : drawn)
    EXPECT_EQ(frontends::onnx::op_table().count(name), 1u) << name << " is drawn, and no importer has it";
}

}  // namespace
}  // namespace mote::differential
