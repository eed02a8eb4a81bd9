#include "manager/controller/reconciler.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(TerminalErrorTest, KeepsCodeAndMessage) {
  const absl::Status error = absl::InvalidArgumentError("no such role");
  EXPECT_FALSE(IsTerminal(error));
  const absl::Status terminal = TerminalError(error);
  EXPECT_TRUE(IsTerminal(terminal));
  EXPECT_EQ(terminal.code(), error.code());
  EXPECT_EQ(terminal.message(), error.message());
}

TEST(TerminalErrorTest, OkIsNotTerminal) {
  EXPECT_TRUE(TerminalError(absl::OkStatus()).ok());
  EXPECT_FALSE(IsTerminal(TerminalError(absl::OkStatus())));
}

}  // namespace
}  // namespace mandate
