#include "manager/kubeconfig/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <stop_token>

#include "absl/time/time.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
  std::string taken = {};
};

absl::Status NoRoom(const char* what) {
  return absl::UnavailableError(StrCat("cannot ", what, ": ", strerror(errno)));
}

absl::Status Open(Pipe& pipe) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return NoRoom("create a pipe");
  pipe.read.Reset(fds[0]);
  pipe.write.Reset(fds[1]);
  // Only our end is non-blocking; the child's may block.
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return absl::OkStatus();
}

// Reads the available bytes; more may follow. False at the end.
bool Drain(Pipe& pipe, size_t keep) {
  char buffer[8 << 10];
  bool more = true;
  for (int turns = 0; turns < 64; ++turns) {
    const ssize_t n = read(pipe.read.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      more = n < 0 && errno == EAGAIN;
      break;
    }
    pipe.taken.append(buffer, std::min(static_cast<size_t>(n), keep - pipe.taken.size()));
  }
  explicit_bzero(buffer, sizeof(buffer));
  return more;
}

// The process's variables; those of `env` replace variables of the same name.
std::vector<std::string> Variables(const std::vector<std::pair<std::string, std::string>>& env) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : env) variables.push_back(StrCat(name, "=", value));
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable(*at);
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool replaced =
        std::any_of(env.begin(), env.end(), [&](const auto& own) { return own.first == name; });
    if (!replaced) variables.emplace_back(variable);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The two objects with posix_spawn's settings.
class SpawnSettings {
 public:
  SpawnSettings(const Pipe& out, const Pipe& errors) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, errors.write.get(), STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);  // ours blocks SIGTERM
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

absl::StatusOr<pid_t> Spawn(const ChildOptions& options, const Pipe& out, const Pipe& errors) {
  std::vector<std::string> words = {options.command};
  words.insert(words.end(), options.args.begin(), options.args.end());
  std::vector<std::string> variables = Variables(options.env);
  const SpawnSettings settings(out, errors);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, options.command.c_str(), settings.files(), settings.attributes(),
                   Pointers(words).data(), Pointers(variables).data());
  if (error == 0) return pid;
  if (error == ENOENT) return absl::NotFoundError("the program does not exist");
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError("permission denied; check that it is executable");
  }
  if (error == ENOEXEC) {
    return absl::PermissionDeniedError(
        "it is not a program for this machine: a script begins with a line such as #!/bin/sh");
  }
  return absl::UnavailableError(strerror(error));
}

// The child, its pipes, and the other events that end the wait.
class Child {
 public:
  Child(const CallContext& context, const Clock& clock, const ChildOptions& options)
      : context_(context), clock_(clock), options_(options) {}
  ~Child() {
    if (pid_ <= 0) return;
    // The child is not reaped yet, so no other process has its ids.
    kill(-pid_, SIGKILL);
    Reap();
  }

  absl::StatusOr<ChildResult> Run() {
    RETURN_IF_ERROR(Open(out_));
    RETURN_IF_ERROR(Open(errors_));
    stopped_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stopped_.open()) return NoRoom("create an eventfd");
    ASSIGN_OR_RETURN(pid_, Spawn(options_, out_, errors_));
    out_.write.Close();
    errors_.write.Close();
    ended_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!ended_.open()) return NoRoom("open a pidfd");
    const std::stop_callback on_stop(context_.stop, [this] {
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(stopped_.get(), &one, sizeof(one));
    });
    RETURN_IF_ERROR(Await());
    const int status = Reap();
    return ChildResult{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                       .output = std::move(out_.taken),
                       .errors = std::move(errors_.taken)};
  }

 private:
  // Waits until the program has ended, but not for other processes that hold its pipes open.
  absl::Status Await() {
    while (true) {
      if (context_.stop.stop_requested()) return absl::CancelledError("cancelled");
      const absl::Duration left = context_.deadline - clock_.TimeNow();
      if (left <= absl::ZeroDuration()) {
        return absl::DeadlineExceededError("it did not end in time");
      }
      pollfd wait[4] = {{ended_.get(), POLLIN, {}},
                        {stopped_.get(), POLLIN, {}},
                        {out_.read.get(), POLLIN, {}},
                        {errors_.read.get(), POLLIN, {}}};
      const absl::Duration turn = std::min(left + absl::Milliseconds(1), absl::Hours(1));
      poll(wait, 4, static_cast<int>(absl::ToInt64Milliseconds(turn)));
      const bool ended = (wait[0].revents & POLLIN) != 0;
      if (out_.read.open() && !Drain(out_, options_.max_output + 1)) out_.read.Close();
      if (errors_.read.open() && !Drain(errors_, options_.max_errors)) errors_.read.Close();
      if (out_.taken.size() > options_.max_output) {
        return absl::ResourceExhaustedError(
            StrCat("it printed more than ", options_.max_output, " bytes"));
      }
      if (ended) return absl::OkStatus();
    }
  }

  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

  const CallContext& context_;
  const Clock& clock_;
  const ChildOptions& options_;
  Pipe out_;
  Pipe errors_;
  Fd stopped_;  // written when the context ends
  Fd ended_;    // a pidfd
  pid_t pid_ = 0;
};

}  // namespace

absl::StatusOr<ChildResult> RunChild(const CallContext& context, const Clock& clock,
                                     const ChildOptions& options) {
  return Child(context, clock, options).Run();
}

}  // namespace mandate
