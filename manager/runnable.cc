#include "manager/runnable.h"

#include <exception>
#include <random>
#include <stop_token>
#include <utility>

#include "manager/core/log_reason.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/object/names.h"

namespace mandate {

class RunningRunnable::Core : public WorkLog, public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Options options)
      : options_(std::move(options)),
        log_(options_.log.With("component", options_.component)
                 .With("runnable", options_.runnable.name)),
        random_(options_.seed),
        backoff_(options_.retry),
        errors_(options_.metrics->Counter(
            "mandate_runnable_errors_total", "Runs of a runnable that ended with an error",
            {{"identity", options_.component}, {"runnable", options_.runnable.name}})) {}

  const Options& options() const { return options_; }
  Logger logger() const override { return log_; }

  // Any thread.
  void Start() { PostToLoop(&Core::StartOnLoop); }
  void RequestStop() {
    stop_.request_stop();
    PostToLoop(&Core::StopOnLoop);
  }
  absl::Status Stop(absl::Time deadline);
  absl::Status Ready() const {
    MutexLock lock(mutex_);
    return failure_;
  }

 private:
  enum class Phase { kIdle, kRunning, kWaiting, kEnded };

  void PostToLoop(void (Core::*what)()) {
    options_.loop->Post([core = shared_from_this(), what] { (*core.*what)(); });
  }

  // On the loop.
  void StartOnLoop() {
    if (phase_ != Phase::kIdle || stop_.stop_requested()) return;
    log_.Info("Starting runnable");
    Run();
  }
  void Run();
  void OnEnd(const absl::Status& status);
  void StopOnLoop() {
    timer_.reset();
    if (phase_ != Phase::kRunning) End();
  }
  void End() {
    phase_ = Phase::kEnded;
    ended_.Set();
  }
  void SetFailure(absl::Status failure) {
    MutexLock lock(mutex_);
    failure_ = std::move(failure);
  }

  // On the pool.
  absl::Status Contained(const CallContext& context) const;

  const Options options_;
  const Logger log_;
  std::mt19937_64 random_;
  Backoff backoff_;
  prometheus::Counter& errors_;
  std::stop_source stop_;
  Phase phase_ = Phase::kIdle;
  std::unique_ptr<Loop::Timer> timer_;
  std::unique_ptr<Loop::Timer> deadline_timer_;
  Latch ended_;  // it does not run, and will not; or the time to stop is over

  mutable Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // OK unless it waits for its next try
};

void RunningRunnable::Core::Run() {
  phase_ = Phase::kRunning;
  SetFailure(absl::OkStatus());
  options_.pool->Post([core = shared_from_this()] {
    absl::Status status =
        core->Contained({.stop = core->stop_.get_token(), .work_log = core.get()});
    core->options_.loop->Post([core, status = std::move(status)] { core->OnEnd(status); });
  });
}

void RunningRunnable::Core::OnEnd(const absl::Status& status) {
  if (status.ok() || stop_.stop_requested()) {
    log_.Info("Runnable has ended", {{"status", status.ok() ? "OK" : LogReason(status)}});
    return End();
  }
  errors_.Increment();
  const absl::Duration wait = backoff_.Next(random_);
  log_.Error("Runnable failed and runs again",
             {{"error", LogReason(status)}, {"after", absl::Trunc(wait, absl::Milliseconds(1))}});
  SetFailure(absl::UnavailableError(StrCat("runnable ", options_.runnable.name, " of component ",
                                           options_.component, " failed, and waits for its next ",
                                           "try: ", AsStd(status.message()))));
  phase_ = Phase::kWaiting;
  timer_ = options_.loop->RunAt(options_.loop->clock().TimeNow() + wait, [this] { Run(); });
}

absl::Status RunningRunnable::Core::Contained(const CallContext& context) const {
  std::string what = "an exception of unknown type";
  try {
    return options_.runnable.run(context);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  return absl::InternalError(StrCat("it threw: ", what));
}

absl::Status RunningRunnable::Core::Stop(absl::Time deadline) {
  RequestStop();
  Loop& loop = *options_.loop;
  loop.Post([core = shared_from_this(), deadline] {
    if (core->phase_ == Phase::kEnded || deadline == absl::InfiniteFuture()) return;
    core->deadline_timer_ =
        core->options_.loop->RunAt(deadline, [core = core.get()] { core->ended_.Set(); });
  });
  loop.Await(ended_);
  const bool runs = CallOnLoop(loop, [this] {
    deadline_timer_.reset();
    return phase_ == Phase::kRunning;
  });
  if (!runs) return absl::OkStatus();
  return absl::DeadlineExceededError(
      StrCat("runnable ", options_.runnable.name, " of component ", options_.component,
             " was still running at the end of the stop timeout; it must return when its ",
             "context's stop is requested"));
}

absl::StatusOr<std::unique_ptr<RunningRunnable>> RunningRunnable::Create(Options options) {
  const auto invalid = [&](std::string_view why) {
    return absl::InvalidArgumentError(StrCat("runnable \"", options.runnable.name,
                                             "\" of component ", options.component, ": ", why));
  };
  if (absl::Status status = CheckDnsLabel(options.runnable.name); !status.ok()) {
    return invalid(StrCat("its name is invalid: ", AsStd(status.message())));
  }
  if (options.runnable.run == nullptr) return invalid("it has nothing to run");
  return std::unique_ptr<RunningRunnable>(
      new RunningRunnable(std::make_shared<Core>(std::move(options))));
}

RunningRunnable::RunningRunnable(std::shared_ptr<Core> core) : core_(std::move(core)) {}
RunningRunnable::~RunningRunnable() = default;

void RunningRunnable::Start() { core_->Start(); }
void RunningRunnable::RequestStop() { core_->RequestStop(); }
absl::Status RunningRunnable::Stop(absl::Time deadline) { return core_->Stop(deadline); }
absl::Status RunningRunnable::Ready() const { return core_->Ready(); }
const std::string& RunningRunnable::name() const { return core_->options().runnable.name; }
bool RunningRunnable::needs_leader() const { return core_->options().runnable.needs_leader; }

}  // namespace mandate
