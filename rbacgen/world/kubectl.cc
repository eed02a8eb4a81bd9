#include "rbacgen/world/kubectl.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "manager/core/strings.h"

extern char** environ;

namespace mandate::rbacgen {

absl::StatusOr<std::string> Kubectl(const KubectlOptions& options,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {options.program};
  if (!options.kubeconfig.empty()) words.push_back("--kubeconfig=" + options.kubeconfig);
  if (!options.context.empty()) words.push_back("--context=" + options.context);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) {
    return absl::UnavailableError(StrCat("cannot create a pipe: ", std::strerror(errno)));
  }
  const auto close_reader = absl::MakeCleanup([&] { close(pipe[0]); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, options.program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  if (error != 0) {
    return absl::NotFoundError(
        StrCat("cannot run ", options.program, ": ", std::strerror(error),
               "; without it, use a file that `kubectl get clusterroles,clusterrolebindings,roles,"
               "rolebindings,serviceaccounts -A -o json` wrote"));
  }
  std::string output;
  char buffer[1 << 16];
  // No signal handler can interrupt these calls.
  for (ssize_t n = 0; (n = read(pipe[0], buffer, sizeof buffer)) > 0;) output.append(buffer, n);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::UnavailableError(StrCat(options.program,
                                         " failed; its message is above. Name the cluster with "
                                         "--kubeconfig=FILE or --context=NAME"));
  }
  return output;
}

}  // namespace mandate::rbacgen
