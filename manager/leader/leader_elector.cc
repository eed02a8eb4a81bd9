#include "manager/leader/leader_elector.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/resource_version.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

constexpr double kJitter = 1.2;
// How much slower our clock may run than another one, over one lease.
constexpr double kClockDrift = 0.05;

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderElector>> LeaderElector::Create(Options options) {
  const auto invalid = [](const std::string& why) {
    return absl::InvalidArgumentError(AsAbsl("leader election: " + why));
  };
  if (options.client == nullptr || options.metrics == nullptr) {
    return invalid("it needs a client and metrics");
  }
  if (options.lease.ns.empty() || options.lease.name.empty()) {
    return invalid("the Lease needs a namespace and a name");
  }
  if (options.identity.empty()) return invalid("the identity is empty");
  if (options.lease_duration != absl::Floor(options.lease_duration, absl::Seconds(1))) {
    return invalid("the lease duration must be whole seconds");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return invalid(StrCat("the lease duration (", absl::FormatDuration(options.lease_duration),
                          ") must be above the renew deadline (",
                          absl::FormatDuration(options.renew_deadline), ")"));
  }
  if (options.retry_period <= absl::ZeroDuration() ||
      options.renew_deadline <= options.retry_period * kJitter) {
    return invalid(StrCat("the renew deadline (", absl::FormatDuration(options.renew_deadline),
                          ") must be above 1.2 times the retry period (",
                          absl::FormatDuration(options.retry_period),
                          "); the retry period must be greater than zero"));
  }
  return std::unique_ptr<LeaderElector>(new LeaderElector(std::move(options)));
}

LeaderElector::LeaderElector(Options options)
    : options_(std::move(options)),
      loop_(options_.client->loop()),
      client_(*options_.client, options_.lease),
      log_(options_.log.With("component", options_.client->component())
               .With("lease", options_.lease.ToString())),
      master_(options_.metrics->Gauge(
          "leader_election_master_status",
          "Whether this process holds the lease (1) or not (0), by the lease's name",
          {{"name", options_.lease.name}})),
      slow_paths_(options_.metrics->Counter(
          "leader_election_slowpath_total",
          "Total number of renewals that had to read the lease first, by the lease's name",
          {{"name", options_.lease.name}})),
      random_(options_.seed) {
  master_.Set(0);
  SetStatus(absl::UnavailableError("leader election has not started"));
}

LeaderElector::~LeaderElector() {
  in_flight_.request_stop();
  master_.Set(0);
}

absl::Status LeaderElector::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void LeaderElector::SetStatus(const absl::Status& status) {
  MutexLock lock(mutex_);
  status_ = status;
}

void LeaderElector::Start() {
  if (state_ != State::kIdle) return;
  state_ = State::kFollower;
  SetStatus(absl::UnavailableError("leader election: the Lease has not been read yet"));
  log_.Info("Attempting to acquire the Lease", {{"identity", options_.identity}});
  ScheduleTry(absl::ZeroDuration());
}

CallContext LeaderElector::RequestContext() const {
  const absl::Duration timeout = std::max(absl::Seconds(1), options_.renew_deadline / 2);
  absl::Time deadline = Now() + timeout;
  if (state_ == State::kLeader) deadline = std::min(deadline, give_up_at_);
  if (stopped_) deadline = std::min(deadline, release_by_);
  return {deadline, in_flight_.get_token()};
}

template <class Then>
LeaseClient::Done LeaderElector::Guarded(Then then) {
  return weak_.Bind(
      [this, turn = ++turn_, then = std::move(then)](absl::StatusOr<Lease> lease) mutable {
        if (turn != turn_) return;
        updating_ = false;
        then(std::move(lease));
      });
}

void LeaderElector::ScheduleTry(absl::Duration delay) {
  timer_ = loop_.RunAt(Now() + delay, [this] { Try(); });
}

void LeaderElector::Try() {
  if (state_ != State::kLeader) return TrySlow();
  if (Now() >= give_up_at_) {
    const absl::Status why = last_failure_.ok()
                                 ? absl::DeadlineExceededError("the renew deadline passed")
                                 : last_failure_;
    // An API server that has just started denies everything: the error does not say so, but the
    // time does.
    return Lose(absl::Status(
        why.code(), AsAbsl(StrCat("not renewed for ", absl::ToInt64Seconds(Now() - renewed_at_),
                                  " s; the last error: ", AsStd(why.message())))));
  }
  TryFast();
}

void LeaderElector::TryFast() {
  const absl::Time sent = Now();
  client_.Update(RequestContext(), Claimed(), Guarded([this, sent](absl::StatusOr<Lease> stored) {
                   if (!stored.ok()) {
                     slow_paths_.Increment();
                     return Now() < give_up_at_ ? TrySlow() : Fail(stored.status());
                   }
                   Observe(*stored);
                   Succeed(sent);
                 }));
}

void LeaderElector::TrySlow() {
  client_.Get(RequestContext(), Guarded([this](absl::StatusOr<Lease> lease) {
                IsNotFound(lease.status()) ? OnMissing(lease.status()) : OnRead(std::move(lease));
              }));
}

void LeaderElector::OnMissing(const absl::Status& why) {
  // A leader whose Lease was deleted still leads, and may have renewed it just before.
  if (!std::exchange(missing_, true)) observed_at_ = Now();
  if (HeldByOther()) return Fail(why);
  log_.Info("The Lease does not exist; creating it");
  client_.Create(RequestContext(),
                 Guarded([this](absl::StatusOr<Lease> created) { OnRead(std::move(created)); }));
}

void LeaderElector::OnRead(absl::StatusOr<Lease> lease) {
  if (!lease.ok()) return Fail(lease.status());
  Observe(*lease);
  if (HeldByOther()) return Fail(absl::OkStatus());
  const absl::Time sent = Now();
  updating_ = true;
  client_.Update(RequestContext(), Claimed(), Guarded([this, sent](absl::StatusOr<Lease> stored) {
                   if (!stored.ok()) return Fail(stored.status());
                   Observe(*stored);
                   Succeed(sent);
                 }));
}

void LeaderElector::Observe(const Lease& lease) {
  missing_ = false;
  const bool is_restored =
      IsOlder(lease.metadata().resourceversion(), observed_.metadata().resourceversion());
  if (observed_at_ == absl::Time() ||
      lease.spec().SerializeAsString() != observed_.spec().SerializeAsString()) {
    observed_at_ = Now();
  }
  observed_ = lease;
  if (holder() != announced_holder_ && holder() != options_.identity && !holder().empty()) {
    log_.Info("Another process holds the Lease", {{"holder", holder()}});
  }
  announced_holder_ = holder();
  if (is_restored && options_.on_restored) options_.on_restored();
}

bool LeaderElector::HeldByOther() const {
  if (holder().empty() || holder() == options_.identity) return false;
  const int seconds = observed_.spec().leasedurationseconds();
  const absl::Duration validity = seconds > 0 ? absl::Seconds(seconds) : options_.lease_duration;
  return observed_at_ + validity > Now();
}

LeaderElector::Lease LeaderElector::Claimed() const {
  Lease lease = observed_;
  auto& spec = *lease.mutable_spec();
  const absl::Time wall = WallNow();
  if (spec.holderidentity() != options_.identity) {
    SetTime(wall, spec.mutable_acquiretime());
    spec.set_leasetransitions(spec.leasetransitions() + 1);
  }
  spec.set_holderidentity(options_.identity);
  spec.set_leasedurationseconds(
      static_cast<int32_t>(absl::ToInt64Seconds(options_.lease_duration)));
  SetTime(wall, spec.mutable_renewtime());
  return lease;
}

void LeaderElector::Succeed(absl::Time sent) {
  renewed_at_ = sent;
  if (!last_failure_.ok()) {
    last_failure_ = absl::OkStatus();
    log_.Info("Leader election recovered from errors");
  }
  SetStatus(absl::OkStatus());
  // To the others the hold began, at the earliest, when the request was sent.
  give_up_at_ = std::min(Now() + options_.retry_period + options_.renew_deadline,
                         renewed_at_ + options_.lease_duration * (1 - kClockDrift));
  ScheduleTry(options_.retry_period);
  if (state_ == State::kLeader) return;
  state_ = State::kLeader;
  master_.Set(1);
  log_.Info("Became leader", {{"identity", options_.identity}});
  if (options_.on_leading) options_.on_leading();
}

// Reports a failed attempt; OK means that another process holds the Lease.
void LeaderElector::Fail(const absl::Status& why) {
  if (state_ == State::kLeader) {
    if (why.ok()) {
      return Lose(absl::AbortedError(AsAbsl(StrCat(holder(), " has taken the Lease"))));
    }
    if (last_failure_.code() != why.code()) {
      log_.Error("Cannot renew the Lease; trying again",
                 {{"error", why}, {"renew_deadline_in", give_up_at_ - Now()}});
    }
    last_failure_ = why;
    SetStatus(why);
    const absl::Duration left = std::max(give_up_at_ - Now(), absl::ZeroDuration());
    return ScheduleTry(std::min(options_.retry_period, left));
  }
  // Two followers may try at once: the second gets a conflict, which is not a failure.
  const absl::Status status = IsConflict(why) ? absl::OkStatus() : why;
  if (!status.ok() && last_failure_.code() != status.code()) {
    log_.Error("Cannot acquire the Lease; trying again", {{"error", status}});
  }
  last_failure_ = status;
  SetStatus(status);
  ScheduleTry(options_.retry_period *
              (1 + std::uniform_real_distribution<double>(0, kJitter)(random_)));
}

void LeaderElector::Lose(const absl::Status& why) {
  timer_.reset();
  state_ = State::kLost;
  master_.Set(0);
  const absl::Status status(
      why.code(), AsAbsl(StrCat("leader election lost: Lease ", options_.lease.ToString(), ": ",
                                AsStd(why.message()))));
  SetStatus(status);
  log_.Error("Lost the Lease", {{"error", status}});
  if (options_.on_lost) options_.on_lost(status);
}

void LeaderElector::Stop(absl::AnyInvocable<void() &&> done) {
  timer_.reset();
  stopped_ = std::move(done);
  release_by_ = Now() + options_.renew_deadline;
  // A request in flight may have made us leader, or may be about to.
  const bool may_hold = state_ == State::kLeader || (state_ == State::kFollower && updating_);
  ++turn_;
  in_flight_.request_stop();
  in_flight_ = std::stop_source();
  master_.Set(0);
  if (state_ != State::kLost) {
    state_ = State::kStopped;
    SetStatus(absl::UnavailableError("leader election has stopped"));
  }
  if (may_hold) {
    Release();
  } else {
    FinishStop();
  }
}

void LeaderElector::Release() {
  client_.Get(
      RequestContext(), Guarded([this](absl::StatusOr<Lease> lease) {
        if (!lease.ok()) {
          log_.Error("Cannot release the Lease; it will expire", {{"error", lease.status()}});
          return FinishStop();
        }
        Observe(*lease);
        if (holder() != options_.identity) return FinishStop();
        Lease released = *std::move(lease);
        auto& spec = *released.mutable_spec();
        spec.set_holderidentity("");
        spec.set_leasedurationseconds(1);
        const absl::Time wall = WallNow();
        SetTime(wall, spec.mutable_renewtime());
        SetTime(wall, spec.mutable_acquiretime());
        client_.Update(RequestContext(), released, Guarded([this](absl::StatusOr<Lease> stored) {
                         if (IsConflict(stored.status()) && Now() < release_by_) {
                           return Release();
                         }
                         if (stored.ok()) {
                           log_.Info("Released the Lease");
                         } else {
                           log_.Error("Cannot release the Lease; it will expire",
                                      {{"error", stored.status()}});
                         }
                         FinishStop();
                       }));
      }));
}

void LeaderElector::FinishStop() {
  loop_.Post([done = std::move(stopped_)]() mutable { std::move(done)(); });
  stopped_ = nullptr;
}

}  // namespace mandate
