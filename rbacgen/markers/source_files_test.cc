#include "rbacgen/markers/source_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class SourceFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    for (const char* file :
         {"m/a.go", "m/b.cc", "m/b_test.cc", "m/notes.txt", "m/sub/c.rs", "m/testdata/d.go",
          "m/vendor/e.go", "m/.hidden/f.go", "m/_old/g.go", "m/_h.go", "m/inner/go.mod",
          "m/inner/i.go", "m/a-b/j.proto", "m/node_modules/k.ts"}) {
      ASSERT_TRUE(WriteWholeFile(root_ / file, "x").ok());
    }
  }

  std::vector<std::string> Find(const std::vector<std::string>& paths) {
    std::vector<std::string> absolute;
    for (const std::string& path : paths) absolute.push_back((root_ / path).string());
    const auto files = FindSourceFiles(absolute);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> relative;
    for (const std::string& file : files.value_or(std::vector<std::string>())) {
      relative.push_back(fs::relative(file, root_).string());
    }
    return relative;
  }

  fs::path root_;
};

TEST_F(SourceFilesTest, FindsSourceFilesBelowAFolder) {
  EXPECT_THAT(Find({"m"}),
              ElementsAre("m/a-b/j.proto", "m/a.go", "m/b.cc", "m/inner/i.go", "m/sub/c.rs"));
  EXPECT_EQ(Find({"m/..."}), Find({"m"}));
}

TEST_F(SourceFilesTest, ReadsNamedFilesOfAnyKind) {
  EXPECT_THAT(Find({"m/testdata"}), ElementsAre("m/testdata/d.go"));
  EXPECT_THAT(Find({"m/inner"}), ElementsAre("m/inner/i.go"));
  EXPECT_THAT(Find({"m/b_test.cc", "m/notes.txt"}), ElementsAre("m/b_test.cc", "m/notes.txt"));
}

TEST_F(SourceFilesTest, ListsEachFileOnceSorted) {
  EXPECT_THAT(Find({"m/sub/c.rs", "m/a.go", "m/sub", "m/./a.go"}),
              ElementsAre("m/a.go", "m/sub/c.rs"));
}

TEST_F(SourceFilesTest, DoesNotFollowLinksToFolders) {
  fs::create_directory_symlink(root_ / "m", root_ / "m/sub/loop");
  EXPECT_THAT(Find({"m/sub"}), ElementsAre("m/sub/c.rs"));
}

// Reading a FIFO blocks until a program writes it. A FIFO that the user names has a writer: the
// shell's <(…).
TEST_F(SourceFilesTest, SkipsSpecialFilesInFolders) {
  ASSERT_EQ(mkfifo((root_ / "m/sub/pipe.go").c_str(), 0600), 0);
  EXPECT_THAT(Find({"m/sub"}), ElementsAre("m/sub/c.rs"));
  EXPECT_THAT(Find({"m/sub/pipe.go"}), ElementsAre("m/sub/pipe.go"));
}

TEST_F(SourceFilesTest, ADanglingLinkIsListedButCannotBeRead) {
  fs::create_symlink("nowhere", root_ / "m/sub/broken.go");
  EXPECT_THAT(Find({"m/sub"}), ElementsAre("m/sub/broken.go", "m/sub/c.rs"));
}

TEST_F(SourceFilesTest, AMissingPathIsNotFound) {
  const auto files = FindSourceFiles(std::vector<std::string>{(root_ / "no").string()});
  EXPECT_EQ(files.status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadWholeFile((root_ / "no").string()).ok());
}

TEST_F(SourceFilesTest, ReadsWrittenFile) {
  const std::string path = (root_ / "new/folder/file").string();
  const std::string text(100000, 'y');
  ASSERT_TRUE(WriteWholeFile(path, text).ok());
  EXPECT_EQ(*ReadWholeFile(path), text);
  ASSERT_TRUE(WriteWholeFile(path, "").ok());
  EXPECT_EQ(*ReadWholeFile(path), "");
}

TEST_F(SourceFilesTest, ClosesItsFiles) {
  const auto open_files = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open_files();
  EXPECT_TRUE(ReadWholeFile((root_ / "m/a.go").string()).ok());
  EXPECT_FALSE(ReadWholeFile((root_ / "m").string()).ok());
  EXPECT_FALSE(ReadWholeFile((root_ / "no").string()).ok());
  EXPECT_EQ(open_files(), before);
}

TEST_F(SourceFilesTest, AWriteErrorNamesTheReason) {
  const std::string folder = (root_ / "m").string();
  EXPECT_EQ(AsStd(WriteWholeFile(folder, "x").message()),
            StrCat("cannot write ", folder, ": Is a directory"));
}

TEST_F(SourceFilesTest, SpecialFilesAreNeitherReadNorWritten) {
  const std::string fifo = (root_ / "m/pipe").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string next = "; use a regular file, or use the shell's <(…)";
  EXPECT_EQ(AsStd(ReadWholeFile(fifo).status().message()), "cannot read it: it is a FIFO" + next);
  EXPECT_EQ(AsStd(ReadWholeFile("/dev/zero").status().message()),
            "cannot read it: it is a device" + next);
  EXPECT_EQ(AsStd(WriteWholeFile(fifo, "x").message()),
            StrCat("cannot write ", fifo, ": it is a FIFO; use a file"));
  EXPECT_EQ(AsStd(WriteWholeFile("/dev/full", "x").message()),
            "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(WriteWholeFile("/dev/null", "x").ok());
}

TEST_F(SourceFilesTest, AHugeFileIsNotRead) {
  const std::string path = (root_ / "m/huge.go").string();
  ASSERT_TRUE(WriteWholeFile(path, "x").ok());
  fs::resize_file(path, uintmax_t{1} << 40);
  EXPECT_EQ(AsStd(ReadWholeFile(path).status().message()),
            "cannot read it: it has more than 268435456 bytes");
  EXPECT_TRUE(WriteWholeFile(path, "x").ok());
  EXPECT_EQ(*ReadWholeFile(path), "x");
}

// `--out=/dev/stdout`, or the shell's >(…).
TEST_F(SourceFilesTest, WritesAnOpenPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_TRUE(WriteWholeFile(StrCat("/dev/fd/", ends[1]), "text").ok());
  close(ends[1]);
  char buffer[8];
  EXPECT_EQ(std::string(buffer, read(ends[0], buffer, sizeof buffer)), "text");
  close(ends[0]);
}

TEST_F(SourceFilesTest, AnUnchangedFileKeepsItsTime) {
  const fs::path path = root_ / "m/a.go";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(path, old);
  const auto before = fs::last_write_time(path);
  ASSERT_TRUE(WriteWholeFile(path.string(), "x").ok());
  EXPECT_EQ(fs::last_write_time(path), before);
}

}  // namespace
}  // namespace mandate::rbacgen
