#include "manager/core/read_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST(ReadFileTest, ReadsTheWholeFile) {
  const std::string path = testing::TempDir() + "/file";
  for (const size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    const std::string text(size, '\0');
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(ReadFile(path).value(), text) << size;
    EXPECT_EQ(ReadFile(path, size).value(), text) << size;
    if (size > 0) {
      EXPECT_EQ(ReadFile(path, size - 1).status().code(), absl::StatusCode::kOutOfRange) << size;
    }
  }
}

TEST(ReadFileTest, ReadsAFileWithoutASize) {
  EXPECT_NE(ReadFile("/proc/self/status").value().find("VmRSS"), std::string::npos);
}

TEST(ReadFileTest, AHugeFileIsNotRead) {
  const std::string path = testing::TempDir() + "/huge";
  std::ofstream(path, std::ios::binary) << "x";
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  EXPECT_EQ(
      ReadFile(path).status(),
      absl::OutOfRangeError(StrCat("cannot read ", path, ": it has more than 67108864 bytes")));
}

TEST(ReadFileTest, SpecialFilesAreRejected) {
  const std::string fifo = testing::TempDir() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string next = "; use a regular file, or use the shell's <(…)";
  const struct {
    std::string path, kind;
  } cases[] = {{fifo, "FIFO"}, {"/dev/zero", "device"}, {"/dev/full", "device"}};
  for (const auto& c : cases) {
    EXPECT_EQ(ReadFile(c.path).status(), absl::InvalidArgumentError(StrCat(
                                             "cannot open ", c.path, ": it is a ", c.kind, next)));
  }
  EXPECT_EQ(ReadFile("/dev/null").value(), "");
}

// The shell's <(…) names a pipe in this way.
TEST(ReadFileTest, ReadsAnOpenDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "text", 4), 4);
  close(ends[1]);
  const std::string path = StrCat("/dev/fd/", ends[0]);
  EXPECT_TRUE(NamesDescriptor(path));
  EXPECT_FALSE(NamesDescriptor("/dev/zero"));
  EXPECT_EQ(ReadFile(path).value(), "text");
  EXPECT_EQ(ReadFile(path).value(), "");
  close(ends[0]);
}

TEST(ReadFileTest, ADescriptorIsBoundedToo) {
  FILE* zero = fopen("/dev/zero", "rb");
  ASSERT_NE(zero, nullptr);
  const auto text = ReadFile(StrCat("/dev/fd/", fileno(zero)), 10'000);
  EXPECT_EQ(text.status().code(), absl::StatusCode::kOutOfRange);
  fclose(zero);
}

TEST(ReadFileTest, ReportsAFileThatCannotBeRead) {
  EXPECT_EQ(ReadFile(testing::TempDir() + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadFile(testing::TempDir()).ok());
}

}  // namespace
}  // namespace mandate
