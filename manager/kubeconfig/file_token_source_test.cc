#include "manager/kubeconfig/file_token_source.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <optional>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Result = absl::StatusOr<std::shared_ptr<const Token>>;

struct FileTokenSourceTest : testing::Test {
  SimulatedLoop loop;
  absl::StatusOr<std::string> file = "one\n";
  int reads = 0;
  FileTokenSource source{{.loop = &loop, .path = "/token", .reader = [this](const std::string& p) {
                            EXPECT_EQ(p, "/token");
                            ++reads;
                            return file;
                          }}};

  std::string Value() {
    auto token = source.Cached();
    return token == nullptr ? "none" : std::string(token->value->Reveal());
  }
  Result Get() {
    std::optional<Result> result;
    source.Fetch({}, [&](Result r) { result = std::move(r); });
    EXPECT_FALSE(result.has_value());
    loop.RunReady();
    return *result;
  }
};

TEST_F(FileTokenSourceTest, TrimsAndReadsOnlyOnceAMinuteLessItsLeeway) {
  EXPECT_EQ(Value(), "one");
  file = " two\t\r\n";
  loop.RunFor(absl::Seconds(49));
  EXPECT_EQ(Value(), "one");
  EXPECT_EQ(reads, 1);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(Value(), "two");
  EXPECT_EQ(reads, 2);
}

TEST_F(FileTokenSourceTest, AnUnchangedFileStaysTheSameToken) {
  const auto first = source.Cached();
  EXPECT_EQ(first->acquired, loop.clock().TimeNow());
  EXPECT_EQ(first->expires, absl::InfiniteFuture());
  loop.RunFor(absl::Minutes(5));
  EXPECT_EQ(source.Cached(), first);
  EXPECT_EQ(reads, 2);
}

TEST(FileTokenSourceNewsTest, ReportsANewTokenOnce) {
  SimulatedLoop loop;
  std::string file = "one";
  int told = 0;
  FileTokenSource source({.loop = &loop,
                          .path = "/token",
                          .reader = [&](const std::string&) { return file; },
                          .on_new = [&] { ++told; }});
  const auto read = [&] {
    loop.RunFor(absl::Minutes(1));
    source.Cached();
    const int before = told;
    loop.RunReady();
    return told - before;
  };
  EXPECT_EQ(read(), 0) << "the first one is not another";
  EXPECT_EQ(read(), 0);
  file = "two";
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(read(), 0);
  file = "one";
  EXPECT_EQ(read(), 1);
}

TEST_F(FileTokenSourceTest, KeepsTheTokenWhenTheFileCannotBeReadOrIsEmpty) {
  EXPECT_EQ(Value(), "one");
  for (const absl::StatusOr<std::string>& bad :
       {absl::StatusOr<std::string>(absl::NotFoundError("cannot open /token")),
        absl::StatusOr<std::string>(" \n")}) {
    file = bad;
    loop.RunFor(absl::Minutes(10));
    EXPECT_EQ(Value(), "one");
    EXPECT_FALSE(source.last_error().ok());
  }
  const int before = reads;
  for (int i = 0; i < 100; ++i) Value();
  EXPECT_EQ(reads, before) << "a bad file is not read for every request";
  file = "two";
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(Value(), "two");
  EXPECT_TRUE(source.last_error().ok());
}

TEST_F(FileTokenSourceTest, WithoutATokenTheErrorNamesTheFile) {
  file = "\n";
  EXPECT_EQ(Get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Get().status().message(),
            "the token file /token is empty; check that the process that writes it is running");
  file = absl::PermissionDeniedError("cannot open /token: Permission denied");
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(Get().status().message(),
            "the token file cannot be read: cannot open /token: Permission denied; check that it "
            "exists and that the manager may read it");
}

TEST_F(FileTokenSourceTest, InvalidateReadsAgainUnlessTheTokenIsAnotherByNow) {
  const auto first = source.Cached();
  file = "two";
  source.Invalidate(*first);
  EXPECT_EQ(Value(), "two");
  EXPECT_EQ(reads, 2);
  source.Invalidate(*first);
  EXPECT_EQ(Value(), "two");
  EXPECT_EQ(reads, 2);
  // The file still has the rejected token, which may be valid again.
  source.Invalidate(*source.Cached());
  EXPECT_EQ(Value(), "two");
  EXPECT_EQ(reads, 3);
}

TEST(LocalFileReaderTest, ReadsFilesAndNamesUnreadableOnes) {
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/token";
  std::ofstream(path) << "secret\n";
  EXPECT_EQ(LocalFileReader()(path).value(), "secret\n");
  const absl::Status missing = LocalFileReader()(path + ".not").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("token.not"), absl::string_view::npos);
  const absl::Status folder = LocalFileReader()(getenv("TEST_TMPDIR")).status();
  EXPECT_NE(folder.message().find("cannot read "), absl::string_view::npos) << folder;
  std::ofstream(path) << std::string(5 << 20, 'x');
  EXPECT_EQ(LocalFileReader()(path).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace mandate
