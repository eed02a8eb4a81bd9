#include "manager/kubeconfig/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <thread>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;

// A command for sh. The code under test uses no shell.
ChildOptions Shell(const std::string& script) {
  return {.command = "sh", .args = {"-c", script, "sh"}};
}

absl::StatusOr<ChildResult> Ran(const ChildOptions& options,
                                absl::Duration timeout = absl::Seconds(30)) {
  const Clock& clock = Clock::Real();
  return RunChild({.deadline = clock.TimeNow() + timeout, .stop = {}}, clock, options);
}

TEST(ChildProcessTest, ReturnsOutputAndExitCode) {
  const auto result = Ran(Shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "err\n");
  EXPECT_EQ(result->code, 3);
}

TEST(ChildProcessTest, ReportsASignalAsACode) {
  const auto result = Ran(Shell("kill -TERM $$"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->code, 128 + SIGTERM);
}

TEST(ChildProcessTest, PassesArgumentsWithoutAShell) {
  const auto result = Ran({.command = "printf", .args = {"%s|", "a b", "$HOME", "`id`", ""}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "a b|$HOME|`id`||");
}

TEST(ChildProcessTest, AddsOrReplacesVariables) {
  setenv("CHILD_OURS", "ours", 1);
  setenv("CHILD_BOTH", "ours", 1);
  ChildOptions options = Shell("echo $CHILD_OURS $CHILD_BOTH $CHILD_ITS");
  options.env = {{"CHILD_BOTH", "its"}, {"CHILD_ITS", "its own"}};
  EXPECT_EQ(Ran(options)->output, "ours its its own\n");
}

TEST(ChildProcessTest, HasNoInputNoDescriptorsNoBlockedSignalsAndItsOwnGroup) {
  EXPECT_EQ(Ran(Shell("cat; echo end"))->output, "end\n");
  // The three standard ones, and the one by which ls reads the folder.
  const int ours = open("/dev/null", O_RDONLY);  // not O_CLOEXEC
  EXPECT_EQ(Ran({.command = "ls", .args = {"/proc/self/fd"}})->output, "0\n1\n2\n3\n");
  close(ours);
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  EXPECT_EQ(Ran({.command = "grep", .args = {"SigBlk", "/proc/self/status"}})->output,
            "SigBlk:\t0000000000000000\n");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(Ran(Shell("read -r pid name state parent group rest < /proc/self/stat; "
                      "[ $group = $$ ] && echo own"))
                ->output,
            "own\n");
}

TEST(ChildProcessTest, ReportsWhyAProgramCannotRun) {
  const std::string folder = StrCat(std::string_view(getenv("TEST_TMPDIR")), "/");
  std::ofstream(folder + "plain") << "#!/bin/sh\necho never\n";
  std::ofstream(folder + "empty").close();
  ASSERT_EQ(chmod((folder + "empty").c_str(), 0700), 0);
  EXPECT_EQ(Ran({.command = "no-such-program-anywhere"}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Ran({.command = folder + "gone"}).status().code(), absl::StatusCode::kNotFound);
  const absl::Status plain = Ran({.command = folder + "plain"}).status();
  EXPECT_EQ(plain.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(plain.message()), HasSubstr("check that it is executable"));
  const absl::Status empty = Ran({.command = folder + "empty"}).status();
  EXPECT_EQ(empty.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(empty.message()), HasSubstr("#!/bin/sh"));
}

TEST(ChildProcessTest, KillsAProgramAtItsDeadline) {
  const auto result = Ran({.command = "sleep", .args = {"1000"}}, absl::Milliseconds(50));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildProcessTest, EndsWithItsContextAndSoDoItsChildren) {
  const std::string pipe = StrCat(std::string_view(getenv("TEST_TMPDIR")), "/pids");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::stop_source stop;
  pid_t child = 0;
  pid_t grandchild = 0;
  // Stops it when both exist.
  std::jthread stopper([&] {
    std::ifstream(pipe) >> child >> grandchild;
    stop.request_stop();
  });
  const auto result =
      RunChild({.deadline = Clock::Real().TimeNow() + absl::Minutes(1), .stop = stop.get_token()},
               Clock::Real(), Shell(StrCat("sleep 1000 & echo $$ $! > ", pipe, "; wait")));
  stopper.join();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  ASSERT_GT(grandchild, 0);
  EXPECT_EQ(kill(child, 0), -1) << "it was reaped";
  // It was killed, and init reaps it.
  std::string state;
  const absl::Time end = Clock::Real().TimeNow() + absl::Seconds(10);
  do {
    std::ifstream stat(StrCat("/proc/", grandchild, "/stat"));
    std::string pid;
    std::string name;
    state.clear();
    stat >> pid >> name >> state;
  } while (!state.empty() && state != "Z" && state != "X" && Clock::Real().TimeNow() < end);
  EXPECT_TRUE(state.empty() || state == "Z" || state == "X") << state;
}

TEST(ChildProcessTest, LeavesNoDescriptorOpen) {
  const auto open_now = [] {
    const std::filesystem::directory_iterator folder("/proc/self/fd");
    return std::distance(begin(folder), end(folder));
  };
  const auto run_all = [] {
    EXPECT_EQ(Ran(Shell("echo out"))->output, "out\n");
    EXPECT_FALSE(Ran({.command = "no-such-program-anywhere"}).ok());
    EXPECT_FALSE(Ran({.command = "sleep", .args = {"1000"}}, absl::Milliseconds(1)).ok());
  };
  const auto before = open_now();
  run_all();
  EXPECT_EQ(open_now(), before);
  // Not 0, either, if that is the first free one.
  const int standard_input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  run_all();
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  dup2(standard_input, STDIN_FILENO);
  close(standard_input);
}

TEST(ChildProcessTest, DoesNotWaitForProcessesLeftBehind) {
  const std::string folder(getenv("TEST_TMPDIR"));
  const std::string asks = folder + "/asks";
  const std::string answers = folder + "/answers";
  ASSERT_EQ(mkfifo(asks.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(answers.c_str(), 0600), 0);
  // It is open both for reading and writing, so that neither side waits for the other.
  const int ask = open(asks.c_str(), O_RDWR | O_CLOEXEC);
  const int answer = open(answers.c_str(), O_RDWR | O_CLOEXEC);
  // It keeps the pipes of the output.
  const auto result =
      Ran(Shell(StrCat("{ read -r word < ", asks, "; echo $word > ", answers, "; } & echo left")));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, "left\n");
  ASSERT_EQ(write(ask, "there\n", 6), 6);
  pollfd wait = {answer, POLLIN, {}};
  EXPECT_EQ(poll(&wait, 1, 10'000), 1) << "it was killed";
  close(ask);
  close(answer);
}

TEST(ChildProcessTest, OutputIsBounded) {
  ChildOptions options = {.command = "yes"};
  options.max_output = 100'000;
  const auto result = Ran(options);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  options = Shell("head -c 300000 /dev/zero >&2; echo end");
  options.max_errors = 1000;
  const auto errors = Ran(options);
  ASSERT_TRUE(errors.ok()) << errors.status();
  EXPECT_EQ(errors->errors.size(), 1000u);
  EXPECT_EQ(errors->output, "end\n");
  options = Shell("head -c 300000 /dev/zero");
  EXPECT_EQ(Ran(options)->output.size(), 300'000u) << "more than a pipe holds";
  options = Shell("head -c 5000000 /dev/zero");
  options.max_output = 5'000'000;
  EXPECT_EQ(Ran(options)->output.size(), 5'000'000u) << "more than is taken at a time";
}

}  // namespace
}  // namespace mandate
