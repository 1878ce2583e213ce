// Below a device's folder names are not trusted: links, pipes and second names of files are refused, and nobody waits for ever.

#include "mote/fleet/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "mote/fleet/base/error.h"

namespace mote::fleet {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    char name[] = "/tmp/mote_files_XXXXXX";
    top = ::mkdtemp(name);
    ::chmod(top.c_str(), 0755);
    root = top + "/device";
    ::mkdir(root.c_str(), 0755);
    ::chmod(root.c_str(), 0755);
    SystemFiles plain;
    replace_file(plain, top + "/secret", "secret");
  }
  ~FilesTest() override { fs::remove_all(top); }
  std::string secret() { return SystemFiles().read(top + "/secret", 0, 100); }
  static mode_t mode(const std::string& path) {
    struct stat about {};
    EXPECT_EQ(::lstat(path.c_str(), &about), 0) << path;
    return about.st_mode & 07777;
  }
  std::string top, root;
};

TEST_F(FilesTest, LinksAreNotFollowed) {
  SystemFiles files(root);
  fs::create_symlink(top + "/secret", root + "/a");
  EXPECT_FALSE(files.size(root + "/a"));
  EXPECT_THROW((void)files.read(root + "/a", 0, 10), IoError);
  EXPECT_THROW((void)files.map(root + "/a"), IoError);
  EXPECT_THROW(files.write(root + "/a", 0, "evil"), IoError);
  EXPECT_THROW(files.sync(root + "/a"), IoError);
  EXPECT_THROW((void)files.lock(root + "/a", 0), IoError);
  EXPECT_TRUE(files.list(root).empty());
  files.create(root + "/a");  // a new file in its place
  files.write(root + "/a", 0, "mine");
  EXPECT_EQ(files.read(root + "/a", 0, 10), "mine");
  fs::create_symlink(top + "/secret", root + "/b.new");
  replace_file(files, root + "/b", "mine");
  EXPECT_EQ(secret(), "secret");
}

TEST_F(FilesTest, FoldersOnTheWayAreNoLinksEither) {
  SystemFiles files(root);
  fs::create_directory(top + "/elsewhere");
  fs::create_directory_symlink(top + "/elsewhere", root + "/models");
  EXPECT_THROW(files.create(root + "/models/x"), IoError);
  EXPECT_THROW(files.make_dir(root + "/models/x"), IoError);
  EXPECT_THROW((void)files.list(root + "/models"), IoError);
  EXPECT_THROW(files.rename(root + "/x", root + "/models/x"), IoError);
  EXPECT_THROW((void)files.size(root + "/models/../secret"), IoError);
  EXPECT_THROW(files.create(root + "/../x"), IoError);
  EXPECT_TRUE(fs::is_empty(top + "/elsewhere"));
  // The folder itself may be reached through one: that is its owner's choice.
  fs::create_directory_symlink(root, top + "/link");
  SystemFiles through(top + "/link");
  replace_file(through, top + "/link/x", "x");
  EXPECT_EQ(files.read(root + "/x", 0, 9), "x");
}

TEST_F(FilesTest, SecondNamesArePreservedFromWriting) {
  SystemFiles files(root);
  fs::create_hard_link(top + "/secret", root + "/a");
  EXPECT_THROW(files.write(root + "/a", 0, "evil"), IoError);
  replace_file(files, root + "/a", "mine");
  EXPECT_EQ(secret(), "secret");
}

TEST_F(FilesTest, PipesDoNotHoldAnybodyUp) {
  SystemFiles files(root);
  ASSERT_EQ(::mkfifo((root + "/a").c_str(), 0666), 0);
  EXPECT_FALSE(files.size(root + "/a"));
  EXPECT_THROW((void)files.read(root + "/a", 0, 10), IoError);
  EXPECT_THROW((void)files.map(root + "/a"), IoError);
  EXPECT_THROW(files.write(root + "/a", 0, "x"), IoError);
}

TEST_F(FilesTest, PermissionsComeFromTheFolder) {
  SystemFiles files(root);
  const mode_t before = ::umask(077);
  files.make_dir(root + "/models/kws/app");
  files.create(root + "/models/kws/f");
  EXPECT_EQ(mode(root + "/models/kws/app"), 0755u);
  EXPECT_EQ(mode(root + "/models/kws/f"), 0644u);
  ::chmod((root + "/models/kws/app").c_str(), 02770);
  files.create(root + "/models/kws/app/f");
  files.make_dir(root + "/models/kws/app/d");
  EXPECT_EQ(mode(root + "/models/kws/app/f"), 0660u);
  EXPECT_EQ(mode(root + "/models/kws/app/d"), 02770u);
  ::chmod(root.c_str(), 01777);  // never for everybody to write
  files.create(root + "/f");
  EXPECT_EQ(mode(root + "/f"), 0664u);
  ::umask(before);
}

TEST_F(FilesTest, LocksAreNotForReadersAndWaitsEnd) {
  SystemFiles files(root);
  const std::string path = root + "/lock";
  // As a program before this one left it: open for all to read.
  ::close(::open(path.c_str(), O_RDWR | O_CREAT, 0644));
  ::chmod(path.c_str(), 0644);
  const int reader = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(reader, LOCK_EX), 0);  // what anybody could do
  const auto mine = files.lock(path, 0);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mode(path), 0600u);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(SystemFiles(root).lock(path, 100));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  ::close(reader);
  if (::geteuid() != 0) GTEST_SKIP() << "another user's attempt needs root";
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(::setresuid(65534, 65534, 65534) == 0 && ::open(path.c_str(), O_RDONLY) < 0 && errno == EACCES ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "another user can open the lock";
}

TEST_F(FilesTest, WhatOthersMayWriteIsCopiedNotMapped) {
  SystemFiles files(root);
  replace_file(files, root + "/mine", "bytes");
  replace_file(files, root + "/theirs", "bytes");
  ::chmod((root + "/theirs").c_str(), 0666);
  const Mapping mine = files.map(root + "/mine"), theirs = files.map(root + "/theirs");
  files.write(root + "/theirs", 0, "BYTES");
  EXPECT_EQ(mine.bytes, "bytes");
  EXPECT_EQ(theirs.bytes, "bytes");
}

TEST(Error, IsOneLineWhateverItTells) {
  EXPECT_STREQ(Error("a\nb\x1b[2J").what(), "a?b?[2J");
  EXPECT_STREQ(IoError("a\n", 5).what(), "a?");
}

}  // namespace
}  // namespace mote::fleet
