#include "rbacgen/audit/log_bytes.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string Write(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

// One gzip member.
std::string Packed(const std::string& text) {
  const std::string path = Path("member.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string ReadAll(const std::string& path, absl::Status* status) {
  std::string all;
  *status = ReadLogBytes(path, [&](std::string_view bytes) { all += bytes; });
  return all;
}

TEST(ReadLogBytes, ReadsPlainAndGzippedFiles) {
  std::string big;
  for (int i = 0; i < 200000; ++i) big += "line " + std::to_string(i) + "\n";
  absl::Status status;
  for (const std::string& text : {std::string(), std::string("x"), std::string("\x1f"), big}) {
    EXPECT_EQ(ReadAll(Write("plain", text), &status), text);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(ReadAll(Write("packed", Packed(text)), &status), text);
    EXPECT_TRUE(status.ok()) << status;
  }
  // `cat a.gz b.gz` joins rotated logs.
  EXPECT_EQ(ReadAll(Write("two", Packed(big) + Packed("end")), &status), big + "end");
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ReadLogBytes, ErrorsNameTheReason) {
  absl::Status status;
  EXPECT_EQ(ReadAll(Path("none"), &status), "");
  EXPECT_TRUE(absl::IsNotFound(status));
  const std::string packed = Packed("some text that is long enough to be cut in its middle");
  ReadAll(Write("cut", packed.substr(0, packed.size() / 2)), &status);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the file is truncated"));
  ReadAll(Write("damaged", packed.substr(0, 12) + "xxxxxxxx" + packed.substr(20)), &status);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  ReadAll(Write("log.zst", "\x28\xb5\x2f\xfd..."), &status);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the output of `zstd -dc` to LOG -"));
}

TEST(ReadLogBytes, SpecialFilesAreRejected) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  for (const std::string& path : {Path("fifo"), std::string("/dev/zero")}) {
    absl::Status status;
    EXPECT_EQ(ReadAll(path, &status), "");
    EXPECT_THAT(std::string(status.message()), HasSubstr("; use a regular file")) << path;
  }
}

TEST(ReadLogBytes, ClosesItsFiles) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  absl::Status status;
  ReadAll(Write("plain", "x"), &status);
  ReadAll(Write("log.bz2", "BZh..."), &status);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace mandate::rbacgen
