#include "mote/fleet/package/package.h"

#include <gtest/gtest.h>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/store/testing/sim_files.h"

namespace mote::fleet::package {
namespace {

class PackageTest : public testing::Test {
 protected:
  PackageTest() {
    std::string model;
    for (uint32_t i = 0; i < 3'000'000; ++i) model += static_cast<char>(i * 2654435761u >> 24);
    put("a.mote", model);
    put("golden.bin", "golden");
    put("empty", "");
    manifest.id = "kws";
    manifest.version = "1.2.3";
    manifest.licence = "Apache-2.0";
    manifest.data_class = "public";
    manifest.security_counter = 4;
    manifest.runtime_min = "0.1.0";
    manifest.health.p99_us = 5000;
    manifest.variants = {{"a.mote", {{"mote::conv", "mote::relu"}, {"f32"}, {"avx2"}, {}, 123456}}};
  }
  void put(const std::string& name, const std::string& bytes) {
    files.create("src/" + name);
    files.write("src/" + name, 0, bytes);
  }
  void make() {
    create(files, manifest, {{"a.mote", "src/a.mote"}, {"golden.bin", "src/golden.bin"}, {"empty", "src/empty"}}, "out/p.mpkg");
  }
  std::string bytes() { return files.read("out/p.mpkg", 0, 1 << 30); }
  void replace(const std::string& b) {
    files.create("out/p.mpkg");
    files.write("out/p.mpkg", 0, b);
  }
  store::SimFiles files;
  Manifest manifest;
};

TEST_F(PackageTest, WhatWasCreatedVerifies) {
  make();
  const Header h = verify(files, "out/p.mpkg");
  EXPECT_EQ(h.manifest.id, "kws");
  EXPECT_EQ(h.manifest.chunks.size(), 3u);
  EXPECT_EQ(h.manifest.variants[0].needs.ops, manifest.variants[0].needs.ops);
  EXPECT_EQ(manifest_text(parse_manifest(manifest_text(h.manifest))), manifest_text(h.manifest));
  EXPECT_EQ(h.bytes % 4096, 0u);
  extract(files, "out/p.mpkg", h, "golden.bin", "out/g");
  EXPECT_EQ(files.read("out/g", 0, 100), "golden");
  EXPECT_THROW(extract(files, "out/p.mpkg", h, "other", "out/g"), Error);
  const std::string first = bytes();
  make();
  EXPECT_EQ(bytes(), first);  // the same inputs make the same bytes
}

// Texts of the manifest may change unnoticed by the package itself, never by who knows the header's digest, which is what is signed.
TEST_F(PackageTest, EveryDamagedByteIsNoticed) {
  put("a.mote", std::string(5000, 'a'));
  make();
  const std::string good = bytes(), signed_digest = read_header(files, "out/p.mpkg").sha256;
  const auto passes = [&] {
    try {
      return verify(files, "out/p.mpkg").sha256 == signed_digest;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(passes());
  for (size_t i = 0; i < good.size(); i += i < 2000 ? 1 : 97) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    replace(damaged);
    EXPECT_FALSE(passes()) << "byte " << i;
  }
  for (const size_t size : {size_t{0}, size_t{15}, size_t{100}, size_t{4096}, good.size() - 1}) {
    replace(good.substr(0, size));
    EXPECT_THROW(verify(files, "out/p.mpkg"), Error) << size << " bytes";
  }
  replace(good + "x");
  EXPECT_THROW(verify(files, "out/p.mpkg"), Error);
}

TEST_F(PackageTest, ChunksAreVerifiedAsTheyCome) {
  make();
  const Header h = parse_header(std::string_view(bytes()).substr(0, header_bytes(std::string_view(bytes()).substr(0, 16))));
  const std::string payload = bytes().substr(h.bytes);
  EXPECT_TRUE(chunk_matches(h.manifest, 1, std::string_view(payload).substr(kChunkBytes, kChunkBytes)));
  EXPECT_TRUE(chunk_matches(h.manifest, 2, std::string_view(payload).substr(2 * kChunkBytes)));
  EXPECT_FALSE(chunk_matches(h.manifest, 1, std::string_view(payload).substr(2 * kChunkBytes)));
  EXPECT_FALSE(chunk_matches(h.manifest, 0, std::string_view(payload).substr(1, kChunkBytes)));
  EXPECT_FALSE(chunk_matches(h.manifest, 3, ""));
}

TEST_F(PackageTest, ManifestsThatMakeNoSenseAreRefused) {
  make();
  const std::string text = manifest_text(read_header(files, "out/p.mpkg").manifest);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    const size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  EXPECT_NO_THROW(parse_manifest(text));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"1.2.3\"", "\"1.2\""},
                                                        {"\"1.2.3\"", "\"1.2.3.4\""},
                                                        {"\"format\":1", "\"format\":2"},
                                                        {"\"id\":\"kws\"", "\"id\":\"../kws\""},
                                                        {"\"id\":\"kws\"", "\"id\":\"\""},
                                                        {"\"golden.bin\"", "\".bashrc\""},
                                                        {"\"golden.bin\"", "\"a.mote\""},
                                                        {"\"golden.bin\"", "\"a/b\""},
                                                        {"\"security_counter\":4", "\"security_counter\":-4"},
                                                        {"\"security_counter\":4", "\"security_counter\":4,\"seen\":1"},
                                                        {"\"bytes\":3000000", "\"bytes\":9000000"},
                                                        {"\"bytes\":3000000", "\"bytes\":9223372036854775807"},
                                                        {"\"payload_bytes\":", "\"payload_bytes\":9"},
                                                        {"\"id\"", " \"id\""},
                                                        {"\"golden\":true", "\"golden\":1"}})
    EXPECT_THROW(parse_manifest(changed(from, to)), Error) << from << " -> " << to;
  for (const char c : {'\0', '\1', '\n', '\x1b', '\x7f'}) {
    EXPECT_THROW(parse_manifest(changed("mote::relu", std::string("mote::") + c + "elu")), Error) << static_cast<int>(c);
    EXPECT_THROW(parse_manifest(changed("Apache-2.0", std::string("Apache") + c + "2.0")), Error) << static_cast<int>(c);
    Manifest own = parse_manifest(text);
    own.licence = std::string("Apache") + c + "2.0";
    EXPECT_THROW((void)manifest_text(own), Error) << static_cast<int>(c);
  }
  // The same digest in other letters would be a second text of the same manifest.
  std::string shouted = text;
  const size_t digest = text.find("[\"") + 2, letter = text.find_first_of("abcdef", digest);
  ASSERT_LT(letter, digest + 64);
  shouted[letter] = static_cast<char>(shouted[letter] - 'a' + 'A');
  EXPECT_THROW(parse_manifest(shouted), Error);
}

TEST(Version, Compares) {
  EXPECT_EQ(compare_versions("1.10.0", "1.9.9"), 1);
  EXPECT_EQ(compare_versions("1.0.0", "1.0.0"), 0);
  EXPECT_EQ(compare_versions("0.9.9", "1.0.0"), -1);
  for (const char* text : {"", "1", "1..2", "1.2.x", "1.2.3.4", "-1.2.3", "1.2.9999999999"})
    EXPECT_THROW(compare_versions(text, "1.0.0"), Error) << text;
}

}  // namespace
}  // namespace mote::fleet::package
