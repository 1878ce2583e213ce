// Plug-ins that fit and plug-ins that do not; the libraries are built beside this test (CMakeLists.txt).

#include "mote/backends/plugin/plugin.h"

#include <gtest/gtest.h>

#include <fstream>

namespace mote::backends {
namespace {

std::string message_of(const std::string& path) {
  const mote_backend_plugin* plugin = nullptr;
  std::string error;
  EXPECT_FALSE(load_plugin(path, &plugin, &error));
  EXPECT_EQ(plugin, nullptr);
  EXPECT_EQ(error.compare(0, path.size(), path), 0) << error;
  return error;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Plugin, HandsOverItsBackend) {
  const mote_backend_plugin* plugin = nullptr;
  std::string error;
  ASSERT_TRUE(load_plugin(MOTE_NULL_PLUGIN, &plugin, &error)) << error;
  EXPECT_STREQ(plugin->device->name, "null_plugin");
  EXPECT_EQ(plugin->device->probe("1", "copy"), 0u);
  EXPECT_EQ(plugin->compiler, nullptr);
  const mote_backend_plugin* again = nullptr;
  EXPECT_TRUE(load_plugin(MOTE_NULL_PLUGIN, &again, &error));
  EXPECT_EQ(again, plugin);
}

TEST(Plugin, MayHaveACompilerHalf) {
  const mote_backend_plugin* plugin = nullptr;
  std::string error;
  ASSERT_TRUE(load_plugin(MOTE_WRONG_KERNEL_PLUGIN, &plugin, &error)) << error;
  ASSERT_NE(plugin->compiler, nullptr);
  EXPECT_STREQ(plugin->compiler->name, plugin->device->name);
}

TEST(Plugin, AnotherInterfaceIsRefusedWithBothVersions) {
  EXPECT_TRUE(contains(message_of(MOTE_OTHER_PLUGIN_ABI),
                       "plug-in interface has version 99, this Mote has version " + std::to_string(MOTE_BACKEND_PLUGIN_ABI)));
  EXPECT_TRUE(contains(message_of(MOTE_OTHER_BACKEND_ABI),
                       "backend interface has version 99, this Mote has version " + std::to_string(MOTE_BACKEND_ABI)));
}

TEST(Plugin, LibrariesThatAreNone) {
  EXPECT_TRUE(contains(message_of(MOTE_NO_ENTRY), "it has no function mote_backend_plugin_entry"));
  EXPECT_TRUE(contains(message_of("/no/such/library.so"), "cannot be loaded as a plug-in"));
  const std::string text = testing::TempDir() + "/plugin_test_text.so";
  std::ofstream(text) << "not a library";
  EXPECT_TRUE(contains(message_of(text), "cannot be loaded as a plug-in"));
}

}  // namespace
}  // namespace mote::backends
