#include "mote/compiler/frontends/tflite/builtin_table.h"
#include "mote/compiler/frontends/tflite/op.h"
#include "mote/compiler/frontends/tflite/testing.h"

namespace mote::frontends::tflite {

TEST(TfliteTable, EveryBuiltinIsReadOrHasItsReason) {
  const std::string unknown = why_refused(static_cast<BuiltinOperator>(9999)).why, page = builtin_table();
  int known = 0;
  for (const BuiltinOperator code : fb::EnumValuesBuiltinOperator()) {
    Operator source;
    source.code = code;
    if (code == BuiltinOperator::CUSTOM) continue;
    const bool read = find_importer(source).import != nullptr;
    EXPECT_NE(read, why_refused(code).why != unknown) << fb::EnumNameBuiltinOperator(code);
    EXPECT_NE(page.find(std::string("| `") + fb::EnumNameBuiltinOperator(code) + (read ? "` | read |" : "` | refused: ")),
              std::string::npos)
        << fb::EnumNameBuiltinOperator(code);
    ++known;
  }
  EXPECT_EQ(known, 209);
}

TEST(TfliteTable, ARefusalTellsTheReasonAndWhatToDo) {
  ModelWriter w;
  w.tensor("y", fb::TensorType::RESOURCE, {1});
  w.op(BuiltinOperator::HASHTABLE, {}, {0});
  w.subgraph({}, {0});
  const auto r = import_bytes(w.finish());
  EXPECT_FALSE(r->ok);
  EXPECT_NE(r->text().find("strings"), std::string::npos) << r->text();
  EXPECT_NE(r->text().find("outside the model"), std::string::npos) << r->text();
}

}  // namespace mote::frontends::tflite
