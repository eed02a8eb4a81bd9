#include "manager/core/read_file.h"

#include <fstream>
#include <string>

#include "gtest/gtest.h"

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

TEST(ReadFileTest, ReportsAFileThatCannotBeRead) {
  EXPECT_EQ(ReadFile(testing::TempDir() + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadFile(testing::TempDir()).ok());
}

}  // namespace
}  // namespace mandate
