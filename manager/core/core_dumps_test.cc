#include "manager/core/core_dumps.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mandate {
namespace {

TEST(CoreDumpsTest, ForbiddenAndAllowedAgain) {
  ForbidCoreDumps();
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
  AllowCoreDumps();
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
}

TEST(CoreDumpsTest, AProcessThatCrashesLeavesNoCore) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &unlimited);
    ForbidCoreDumps();
    signal(SIGABRT, SIG_DFL);
    abort();
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(WCOREDUMP(status));
}

}  // namespace
}  // namespace mandate
