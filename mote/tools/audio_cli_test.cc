// Programs that take samples, as a user makes and runs them.

#include <filesystem>

#include "mote/tools/testing/cli.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::Json;
using cli_test::mote;
using cli_test::Ran;

const std::string kKeyword = std::string(MOTE_SOURCE_DIR) + "/examples/tiny/keyword/";

class AudioCli : public ::testing::Test {
 protected:
  AudioCli() { std::filesystem::create_directories(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  Ran compile(const std::string& options) const {
    return mote("compile " + kKeyword + "whistle.tflite -o " + in("k.mote") + " --labels " + kKeyword + "labels.txt " + options);
  }
  const TempPath folder_{"audio_cli"};
};

TEST_F(AudioCli, HearsASoundAtOnce) {
  const Ran made = compile("--audio-frontend micro --json");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.json()["inputs"][0]["dims"], Json({15840}));
  const Ran r = mote("run " + in("k.mote") + " --sound " + kKeyword + "warble.wav --top 1 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json()["outputs"][0]["top"][0]["label"], "warble");
  EXPECT_FALSE(r.json().contains("heard"));
}

TEST_F(AudioCli, HearsASoundStepByStep) {
  const Ran made = compile("--audio-frontend micro --streaming 10 --json");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.json()["inputs"][0]["dims"], Json({320}));
  const Json j = mote("run " + in("k.mote") + " --sound " + kKeyword + "rising.wav --json").json();
  ASSERT_FALSE(j["heard"].empty());
  EXPECT_EQ(j["heard"].back()["label"], "rising");
  EXPECT_GT(j["heard"].back()["score"], 0.9);
  EXPECT_EQ(mote("selftest " + in("k.mote")).exit_code, 0);
  EXPECT_EQ(mote("validate " + kKeyword + "whistle.tflite " + in("k.mote") + " --reference mote").exit_code, 0);
}

TEST_F(AudioCli, SaysWhatIsWrong) {
  const auto why = [&](const std::string& options, int code) {
    const Ran r = compile(options);
    EXPECT_EQ(r.exit_code, code) << options << r.err;
    return r.err;
  };
  EXPECT_TRUE(contains(why("--audio-frontend loud", 1), "expected micro, mfcc, lfbe or a description"));
  EXPECT_TRUE(contains(why("--audio-frontend micro,step=160", 2), "TABLE.KEY=VALUE"));
  EXPECT_TRUE(contains(why("--audio-frontend micro,frames.step=0", 1), "frames.step: expected a whole number from 1"));
  EXPECT_TRUE(contains(why("--audio-frontend micro,bands.count=33", 1), "frames of 33 features"));
  EXPECT_TRUE(contains(why("--audio-frontend micro --streaming 0", 2), "a number of steps"));
  EXPECT_TRUE(contains(why("--streaming", 2), "expected --audio-frontend"));
  ASSERT_EQ(compile("").exit_code, 0);
  EXPECT_TRUE(contains(mote("run " + in("k.mote") + " --sound " + kKeyword + "rising.wav").err, "takes samples"));
  ASSERT_EQ(compile("--audio-frontend micro,frames.rate=8000,bands.high=4000").exit_code, 0);
  EXPECT_TRUE(
      contains(mote("run " + in("k.mote") + " --sound " + kKeyword + "rising.wav").err, "expected 8000 samples a second, found 16000"));
}

}  // namespace
}  // namespace mote::tools
