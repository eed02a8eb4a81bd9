#include "controllers/portion.h"

#include <algorithm>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// The next portion of writes, after the requests that wait in the queue. What an edit began goes on
// at the default priority, so that other objects' edits come first.
constexpr absl::Duration kNextPortion = absl::Milliseconds(1);
// The first delay before an object is fixed again that differs from what was written.
// ObjectFixLimiter increases the delay.
constexpr absl::Duration kDifferenceRetry = absl::Seconds(1);

size_t MaxWrites(const PortionLimits& limits, const WriteRound& round) {
  const size_t share = round.begun ? limits.max_writes / (1 + round.others) : 0;
  return std::min(limits.max_writes, std::max(limits.first_writes, share));
}

std::vector<std::string> Summary(std::string_view done, const FailedWrites& failed,
                                 const FailedWrites& more) {
  const size_t count = failed.keys.size() + more.keys.size();
  const std::string& first = failed.first.empty() ? more.first : failed.first;
  if (count == 0) return {};
  if (count == 1) return {first};
  return {StrCat(count, " objects could not be ", done, ", the first: ", first)};
}

}  // namespace

Portion::Portion(const Clock& clock, PortionLimits limits, WriteRound& round, bool patient)
    : clock_(clock),
      limits_(limits),
      max_writes_(MaxWrites(limits, round)),
      round_(round),
      patient_(patient),
      several_(std::exchange(round.begun, true)),
      log_(patient) {
  if (std::exchange(round.revocations_tried, false)) round.revoking_fixes = round.removals = {};
}

CallContext Portion::ForRequest(const CallContext& context) const {
  if (patient_) return context;
  return context.WithDeadline(clock_.TimeNow() + limits_.max_time);
}

absl::Status Portion::Report(const CallContext& context,
                             absl::FunctionRef<absl::Status(const CallContext&)> report) {
  const absl::Time begun = clock_.TimeNow();
  absl::Status status = report(ForRequest(context));
  const bool cut_short = !patient_ && absl::IsDeadlineExceeded(status);
  reported_slowly_ = reported_slowly_ || cut_short || IsLong(begun);
  if (!cut_short) return status;
  unfinished_ = true;
  return absl::OkStatus();
}

void Portion::NoteWait(absl::Duration wait) {
  wait_ = wait_ == absl::ZeroDuration() ? wait : std::min(wait_, wait);
}

Portion::Known Portion::KnownFailures() const {
  return {log_.failures().size(), log_.removal_failures().size()};
}

void Portion::NoteFailure(const ObjectKey& key, const Known& before, FailedWrites& failed) const {
  failed.keys.insert(key);
  for (const auto& [texts, known] : {std::pair(&log_.failures(), before.failures),
                                     std::pair(&log_.removal_failures(), before.removals)}) {
    if (failed.first.empty() && texts->size() > known) failed.first = texts->at(known);
  }
}

void Portion::NoteTarget(const ObjectKey& key, bool quick) {
  bool& is_quick = tried_targets_.try_emplace(TargetOf(key), true).first->second;
  is_quick = is_quick && quick;
}

void Portion::NoteRetryAfter() {
  round_.not_before = std::max(round_.not_before, clock_.TimeNow() + log_.TakeRetryAfter());
}

absl::Duration Portion::RetryAfter() const {
  if (unfinished_) return absl::ZeroDuration();
  return std::clamp(round_.not_before - clock_.TimeNow(), absl::ZeroDuration(), kLongestRetry);
}

absl::Status Portion::RequeueError(const absl::Status& error) const {
  return NotBefore({RetryAfter()}, error);
}

bool Portion::failed_in_several() const {
  return several_ && !(round_.grants.keys.empty() && round_.revoking_fixes.keys.empty() &&
                       round_.removals.keys.empty());
}

std::vector<std::string> Portion::failures() const {
  if (unfinished_ || !failed_in_several()) return log_.failures();
  return Summary("written", round_.revoking_fixes, round_.grants);
}

std::vector<std::string> Portion::removal_failures() const {
  if (unfinished_ || !failed_in_several()) return log_.removal_failures();
  return Summary("deleted", round_.removals, {});
}

WriteRound WriteRounds::Take(const ObjectKey& key, std::string of) {
  MutexLock lock(mutex_);
  const auto found = rounds_.find(key);
  WriteRound round;
  if (found != rounds_.end()) {
    if (found->second.of == of) round = std::move(found->second);
    rounds_.erase(found);
  }
  round.of = std::move(of);
  round.others = rounds_.size();
  return round;
}

absl::StatusOr<Result> WriteRounds::ResultOf(const ObjectKey& key, Portion& portion) {
  if (portion.unfinished()) {
    MutexLock lock(mutex_);
    rounds_[key] = std::move(portion.round());
    return Result{kNextPortion, kDefaultPriority};
  }
  absl::StatusOr<Result> result = NextTry(key, portion);
  const absl::Duration asked = portion.RetryAfter();
  if (!result.ok()) {
    const bool same = RetryAfter(result.status()).value_or(absl::ZeroDuration()) == asked;
    return same ? result : WithRetryAfter(result.status(), asked);
  }
  if (result->requeue_after > absl::ZeroDuration()) {
    result->requeue_after = std::max(result->requeue_after, asked);
  }
  return result;
}

absl::StatusOr<Result> WriteRounds::NextTry(const ObjectKey& key, const Portion& portion) {
  if (portion.failed_in_several()) return Result{denied_.Next(key)};
  const WriteLog& log = portion.log_;
  if (!log.forbidden()) denied_.Reset(key);
  ASSIGN_OR_RETURN(Result result,
                   log.ToResult(log.forbidden() ? denied_.Next(key) : absl::ZeroDuration()));
  RequeueWithin(portion.wait_, result);
  if (log.differs() && portion.wait_ == absl::ZeroDuration()) {
    RequeueWithin(kDifferenceRetry, result);
  }
  return result;
}

void WriteRounds::Forget(const ObjectKey& key) {
  denied_.Reset(key);
  MutexLock lock(mutex_);
  rounds_.erase(key);
}

void RequeueWithin(absl::Duration after, Result& result) {
  if (after == absl::ZeroDuration()) return;
  const bool is_set = result.requeue_after > absl::ZeroDuration();
  result.requeue_after = is_set ? std::min(result.requeue_after, after) : after;
}

absl::Status NotBefore(const Result& result, const absl::Status& error) {
  const absl::Duration wait = result.requeue_after;
  if (error.ok() || wait == absl::ZeroDuration()) return error;
  return WithRetryAfter(error, std::max(wait, RetryAfter(error).value_or(wait)));
}

}  // namespace mandate
