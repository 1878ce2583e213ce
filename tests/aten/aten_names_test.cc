// Where ATen has an operator of the same meaning, ours records its name. Each recorded name must be one PyTorch has.

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "mote/ops/op_docs.h"

namespace mote {
namespace {

TEST(AtenNames, EveryRecordedNameExists) {
  std::ifstream file(MOTE_ATEN_NAMES);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) names.insert(line);
  ASSERT_GT(names.size(), 500u) << "cannot read " << MOTE_ATEN_NAMES;
  int recorded = 0;
  for (const OpDoc& doc : op_docs()) {
    const std::string aten = doc.info.aten_;
    if (aten.empty()) continue;
    ++recorded;
    EXPECT_EQ(names.count(aten), 1u) << doc.name << " records '" << aten << "', which PyTorch does not have";
  }
  EXPECT_GT(static_cast<size_t>(recorded) * 3, op_docs().size());
}

// An operator that ATen knows under the same name should say so, unless its meaning differs: then it is listed here with the reason.
TEST(AtenNames, NamesakesAreRecordedOrExplained) {
  std::ifstream file(MOTE_ATEN_NAMES);
  std::set<std::string> bare;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("aten::", 0) == 0) bare.insert(line.substr(6, line.find('.') - 6));
  const std::set<std::string> different = {
      "col2im",      // ATen's columns are channels-first
      "dequantize",  // ATen's takes its own quantized tensors
      "div",         // ATen's gives floats for integers
      "embedding",   // ATen's takes float tables, ours packed ones with scales
      "fill",        // ATen's fills a tensor that exists
      "gather",      // ATen's is our gather_elements
      "nll_loss",    // ATen's gives the total weight too
      "resize",      // ATen's changes the storage of a tensor
  };
  for (const OpDoc& doc : op_docs()) {
    const bool explained = !std::string(doc.info.aten_).empty() || different.count(doc.name) > 0;
    EXPECT_TRUE(explained || bare.count(doc.name) == 0) << doc.name << ": record ATen's name, or say here why the meaning differs";
  }
}

}  // namespace
}  // namespace mote
