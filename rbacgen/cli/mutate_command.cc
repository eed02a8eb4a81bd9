// rbacgen mutate: removes one permission at a time and runs the tests.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/mutate/mutations.h"
#include "rbacgen/report/table.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  SourceFlags sources;
  std::vector<std::string> tests;
  std::vector<std::string> components;
  bool reads = false;
  int timeout = 60;  // seconds
};

// The exit code of timeout(1) if the command ran too long.
constexpr int kTimedOut = 124;

// Whether the shell command `command` exits with 0. Its output is discarded; `without` is the value
// of MANDATE_WITHOUT in its environment.
absl::StatusOr<bool> Passes(const std::string& command, std::string_view without, int timeout) {
  setenv("MANDATE_WITHOUT", std::string(without).c_str(), 1);
  setenv("GTEST_FAIL_FAST", "1", 0);  // the first failure is enough
  std::string seconds = StrCat(timeout);
  std::string quiet = StrCat("exec >/dev/null 2>&1; ", command);
  const char* const argv[] = {"timeout", "-k", "5",           seconds.c_str(),
                              "/bin/sh", "-c", quiet.c_str(), nullptr};
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, argv[0], nullptr, nullptr, const_cast<char* const*>(argv), environ);
  if (error != 0) {
    return absl::UnavailableError(StrCat("cannot run timeout(1): ", std::strerror(error)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::InternalError(StrCat("waitpid: ", std::strerror(errno)));
  }
  // timeout(1) dies of the signal of the command; it sends this one to a command that does not end.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return absl::DeadlineExceededError(StrCat(command, " was killed without \"", without,
                                              "\": it took longer than ", timeout,
                                              " s and ignored SIGTERM, or memory was short"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kTimedOut) {
    return absl::DeadlineExceededError(
        StrCat(command, " takes longer than ", timeout, " s without \"", without, "\""));
  }
  // The shell could not run the command, so no test ran.
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127)) {
    return absl::NotFoundError(StrCat("cannot run ", command));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int Report(const std::vector<Mutation>& mutations) {
  Table table({{"COMPONENT"}, {"VERB"}, {"RESOURCE"}, {"WITHOUT IT"}}, isatty(STDOUT_FILENO) != 0);
  size_t unproven = 0;
  for (const Mutation& m : mutations) {
    unproven += !m.proven;
    const rbac::Permission& p = m.without;
    table.Add({p.component, p.verb, StrCat(p.resource, p.group.empty() ? "" : ".", p.group),
               m.proven ? "a test fails" : "no test fails"},
              !m.proven);
  }
  if (const int error = Emit("-", table.Write())) return error;
  if (unproven == 0) return 0;
  std::cerr << "rbacgen: " << unproven << " of " << mutations.size()
            << " permissions are unproven: write a test that needs them, or remove them from the "
               "markers\n";
  return kExitFound;
}

int Run(const Flags& flags) {
  Sources sources;
  Diagnostics diagnostics;
  if (ReadMandateSources(flags.sources, &sources, &diagnostics) != kExitOk) return kExitUnknown;
  for (const std::string& component : flags.components) {
    if (sources.components.contains(component)) continue;
    PrintMessage(StrCat("--component=", component, ": no source has this component"));
    return kExitUnknown;
  }
  std::vector<rbac::Permission> permissions = OwnPermissions(BuildMandates(sources));
  std::erase_if(permissions, [&](const rbac::Permission& p) {
    const bool wanted = flags.components.empty() ||
                        std::find(flags.components.begin(), flags.components.end(), p.component) !=
                            flags.components.end();
    return !wanted || (!flags.reads && !IsWrite(p));
  });
  const auto mutations = Mutate(permissions, [&](std::string_view without) -> absl::StatusOr<bool> {
    for (const std::string& test : flags.tests) {
      ASSIGN_OR_RETURN(const bool passes, Passes(test, without, flags.timeout));
      if (!passes) return false;
    }
    return true;
  });
  if (!mutations.ok()) {
    PrintMessage(AsStd(mutations.status().message()));
    return kExitUnknown;
  }
  return Report(*mutations);
}

}  // namespace

void AddMutateCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "mutate", "Find the permissions that no test needs: remove each one, and run the tests");
  command
      ->add_option("--test", flags->tests,
                   "A command that runs tests of the components; repeatable. It must support "
                   "MANDATE_WITHOUT, like tests that use manager/client/testing/mandate_server.h")
      ->allow_extra_args(false)
      ->required();
  command
      ->add_option("--component", flags->components,
                   "Try only this component's permissions; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--reads", flags->reads,
                    "Also test whether the permissions to get, list and watch are needed");
  command->add_option("--timeout", flags->timeout, "Seconds that one command may take")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  AddMandateSourceFlags(command, &flags->sources);
  command->footer(
      "A permission is one verb of one resource in the components' own markers. Those of\n"
      "granted=external and the rule for events are skipped. Exit code 1: a permission is "
      "unproven,\n"
      "because no test fails without it.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
