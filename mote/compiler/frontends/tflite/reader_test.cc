// Files that are damaged or lie: an error with a reason, never a crash.

#include <random>

#include "mote/compiler/frontends/tflite/testing.h"

namespace mote::frontends::tflite {

TEST(TfliteReader, ReadsASoundModel) {
  const auto r = import_bytes(add_model());
  ASSERT_TRUE(r->ok) << r->text();
  ASSERT_EQ(r->graph.methods.size(), 1u);
  EXPECT_EQ(r->graph.methods[0].name, "main");
  EXPECT_EQ(r->graph.methods[0].input_names, std::vector<std::string>{"a"});
  EXPECT_EQ(r->graph.methods[0].output_names, std::vector<std::string>{"y"});
}

TEST(TfliteReader, RefusesOtherBytes) {
  EXPECT_NE(import_bytes({})->text().find("TFL3"), std::string::npos);
  EXPECT_NE(import_bytes(std::vector<uint8_t>(100, 7))->text().find("TFL3"), std::string::npos);
}

TEST(TfliteReader, RefusesEveryTruncation) {
  const std::vector<uint8_t> whole = add_model();
  for (size_t n = 0; n < whole.size(); n += 3) {
    const auto r = import_bytes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    EXPECT_FALSE(r->ok) << n;
    EXPECT_FALSE(r->problems.empty()) << n;
  }
}

TEST(TfliteReader, SurvivesMutations) {
  const std::vector<uint8_t> whole = add_model();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::vector<uint8_t> bytes = whole;
    for (int k = 0; k < 1 + i % 4; ++k) bytes[random() % bytes.size()] = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random());
    const auto r = import_bytes(std::move(bytes));
    EXPECT_EQ(r->ok, r->problems.empty());
  }
}

TEST(TfliteReader, RefusesIndicesThatLeadNowhere) {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {2});
  w.tensor("y", fb::TensorType::FLOAT32, {2});
  w.op(fb::BuiltinOperator::ABS, {0}, {7});
  w.subgraph({0}, {1});
  EXPECT_NE(import_bytes(w.finish())->text().find("expected a tensor index below 2, found 7"), std::string::npos);

  ModelWriter v;
  v.tensor("a", fb::TensorType::FLOAT32, {2}, 9);
  v.subgraph({0}, {0});
  EXPECT_NE(import_bytes(v.finish())->text().find("buffer index below 1, found 9"), std::string::npos);
}

TEST(TfliteReader, RefusesDataOfAnotherSize) {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {2, 3}, w.buffer(std::vector<uint8_t>(20, 0)));
  w.subgraph({}, {0});
  EXPECT_NE(import_bytes(w.finish())->text().find("expected 24 bytes of data, found 20"), std::string::npos);
}

TEST(TfliteReader, RefusesShapesBeyondTwoGigabytes) {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {65536, 65536});
  w.subgraph({0}, {0});
  EXPECT_NE(import_bytes(w.finish())->text().find("larger than 2 GB"), std::string::npos);
  ModelWriter v;
  v.tensor("a", fb::TensorType::FLOAT32, {-5});
  v.subgraph({0}, {0});
  EXPECT_NE(import_bytes(v.finish())->text().find("found -5"), std::string::npos);
}

TEST(TfliteReader, ReadsBuffersBehindTheFlatBuffer) {
  for (const uint64_t missing : {0, 1}) {
    // The offset is known once the size of the file is: it takes two passes.
    uint64_t offset = 1000;
    std::vector<uint8_t> bytes;
    for (int pass = 0; pass < 2; ++pass) {
      ModelWriter w;
      w.tensor("a", fb::TensorType::INT32, {2}, w.far_buffer(offset, 8 + missing));
      w.tensor("x", fb::TensorType::INT32, {2});
      w.tensor("y", fb::TensorType::INT32, {2});
      w.op(fb::BuiltinOperator::ADD, {0, 1}, {2});
      w.subgraph({1}, {2});
      bytes = w.finish();
      offset = (bytes.size() + 15) / 16 * 16;
    }
    bytes.resize(offset, 0);
    for (const uint8_t v : {5, 0, 0, 0, 6, 0, 0, 0}) bytes.push_back(v);
    const auto r = import_bytes(bytes);
    EXPECT_EQ(r->ok, missing == 0) << r->text();
    EXPECT_EQ(r->text().find("behind the end of the file") != std::string::npos, missing != 0);
  }
}

TEST(TfliteReader, RefusesSubgraphsThatCallThemselves) {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {2});
  w.tensor("y", fb::TensorType::FLOAT32, {2});
  w.op(fb::BuiltinOperator::CALL, {0}, {1}, fb::BuiltinOptions::CallOptions, fb::CreateCallOptions(w.b, 0).Union());
  w.subgraph({0}, {1});
  EXPECT_NE(import_bytes(w.finish())->text().find("calls itself"), std::string::npos);
}

TEST(TfliteReader, ListsEverythingUnsupportedAtOnce) {
  ModelWriter w;
  for (int i = 0; i < 4; ++i) w.tensor("t" + std::to_string(i), fb::TensorType::FLOAT32, {2});
  w.op(fb::BuiltinOperator::RANDOM_UNIFORM, {0}, {1});
  w.op(fb::BuiltinOperator::ABS, {1}, {2});
  w.op(fb::BuiltinOperator::CUSTOM, {2}, {3}, fb::BuiltinOptions::NONE, 0, "MyOwn");
  w.subgraph({0}, {3});
  const auto r = import_bytes(w.finish());
  EXPECT_EQ(r->problems.size(), 2u) << r->text();
  EXPECT_NE(r->text().find("t1 (RANDOM_UNIFORM, operator 0)"), std::string::npos) << r->text();
  EXPECT_NE(r->text().find("t3 (custom operator MyOwn, operator 2)"), std::string::npos) << r->text();
}

TEST(TfliteReader, RefusesMissingOperands) {
  ModelWriter w;
  w.tensor("a", fb::TensorType::FLOAT32, {2});
  w.tensor("y", fb::TensorType::FLOAT32, {2});
  w.op(fb::BuiltinOperator::ADD, {0}, {1});
  w.subgraph({0}, {1});
  EXPECT_NE(import_bytes(w.finish())->text().find("input 1 is missing"), std::string::npos);
}

}  // namespace mote::frontends::tflite
