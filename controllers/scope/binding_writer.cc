#include "controllers/scope/binding_writer.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "absl/hash/hash.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

// The API server's words for a binding whose maker neither holds what it grants nor may `bind`.
constexpr std::string_view kNotHeld = "attempting to grant RBAC permissions not currently held";

bool IsNotHeld(const absl::Status& status) {
  return IsForbidden(status) && AsStd(status.message()).find(kNotHeld) != std::string_view::npos;
}

// Adds what would allow it, where the server's message does not.
absl::Status WithRemedy(const absl::Status& status, const Binding& binding) {
  if (!IsNotHeld(status)) return status;
  absl::Status result(
      status.code(),
      StrCat(
          "component ", kScopeInstance.component, " may not bind ClusterRole \"",
          binding.object.roleref().name(),
          "\": its role lacks the verb \"bind\" on clusterroles.rbac.authorization.k8s.io; apply "
          "the chart's generated roles again. The API server says: ",
          AsStd(status.message())));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

// A binding and what it is to be: a fix that is wanted again and again is a fight, one that a
// person asks for by editing the template is not.
std::string FixKey(const BindingFix& fix) {
  std::string subjects;
  for (const auto& subject : fix.desired.object.subjects()) subjects += subject.SerializeAsString();
  return StrCat(fix.actual.object.metadata().uid(), "/", absl::Hash<std::string>()(subjects));
}

const ObjectKey& KeyOf(const Binding& binding) { return binding.key; }
const ObjectKey& KeyOf(const BindingFix& fix) { return fix.actual.key; }
const ObjectKey& KeyOf(const std::pair<Binding, Binding>& replaced) { return replaced.first.key; }

}  // namespace

BindingWriter::BindingWriter(const CallContext& context, Parts parts)
    : context_(context),
      parts_(parts),
      left_(parts.max_writes),
      several_(std::exchange(parts.round.begun, true)) {
  if (std::exchange(parts.round.revocations_tried, false)) parts.round.revocations = {};
}

template <class List, class Write, class After>
bool BindingWriter::Each(const List& list, FailedWrites& failed, const Write& write,
                         const After& after) {
  const absl::Time end = parts_.clock.TimeNow() + parts_.max_time;
  size_t tries = 0;
  for (const auto& one : list) {
    if (failed.keys.contains(KeyOf(one))) continue;
    if (left_ == 0 || tries >= parts_.max_writes || parts_.clock.TimeNow() >= end) {
      unfinished_ = true;
      return false;
    }
    const size_t left = left_, requests = requests_;
    const size_t failures = log_.failures().size(), removals = log_.removal_failures().size();
    write(one);
    tries += requests_ - requests;
    if (left_ == left) {
      failed.keys.insert(KeyOf(one));
      for (const auto& [texts, known] :
           {std::pair(&log_.failures(), failures), std::pair(&log_.removal_failures(), removals)}) {
        if (failed.first.empty() && texts->size() > known) failed.first = texts->at(known);
      }
    }
    after();
  }
  return true;
}

bool BindingWriter::RemoveEach(const std::vector<Binding>& bindings, bool unchanged) {
  return Each(
      bindings, parts_.round.revocations,
      [&](const Binding& binding) { Remove(binding, unchanged); }, [] {});
}

void BindingWriter::RemoveAll(const std::vector<Binding>& bindings) {
  parts_.round.revocations_tried = RemoveEach(bindings, /*unchanged=*/true);
}

void BindingWriter::CarryOut(const InstancePlan& plan) {
  WriteRound& round = parts_.round;
  bool removed = false, all_removed = false;
  const auto remove = [&] {
    if (!std::exchange(removed, true)) all_removed = RemoveEach(plan.remove, /*unchanged=*/false);
  };
  const auto each = [&](const auto& list, FailedWrites& failed, const auto& write) {
    return Each(list, failed, write, [&] {
      if (!log_.failures().empty()) remove();
    });
  };
  const auto fix = [this](const BindingFix& one) { Fix(one); };
  const auto grants = std::ranges::find_if_not(plan.fix, &BindingFix::revokes);
  // A grant that takes the place of another goes first, so that nobody is without in between. A
  // revocation waits neither for many grants nor for another one when the server has failed one.
  if (!plan.grant_first || plan.writes() > parts_.max_writes) remove();
  const bool all_fixed =
      each(std::ranges::subrange(plan.fix.begin(), grants), round.revocations, fix);
  each(std::ranges::subrange(grants, plan.fix.end()), round.grants, fix);
  each(plan.replace, round.grants, [this](const auto& pair) { Replace(pair.first, pair.second); });
  each(plan.create, round.grants, [this](const Binding& binding) { Create(binding); });
  remove();
  round.revocations_tried = all_removed && all_fixed;
}

void BindingWriter::Finish() {
  for (const auto& [role, skipped] : denied_) {
    if (skipped == 0) continue;
    log_.AddSkipped(StrCat(skipped, " more bindings of ClusterRole \"", role,
                           "\" were not tried, as the API server denies them all"));
  }
}

std::vector<std::string> BindingWriter::failures() const {
  if (failed_in_round() > 0 && !unfinished_) {
    const WriteRound& round = parts_.round;
    return {StrCat(round.failed(), " bindings could not be written, the first: ",
                   round.revocations.first.empty() ? round.grants.first : round.revocations.first)};
  }
  std::vector<std::string> failures = log_.failures();
  const auto& removals = log_.removal_failures();
  failures.insert(failures.end(), removals.begin(), removals.end());
  return failures;
}

bool BindingWriter::IsDenied(const Binding& binding) {
  const auto denied = denied_.find(binding.object.roleref().name());
  if (denied == denied_.end()) return false;
  ++denied->second;
  return true;
}

void BindingWriter::Remove(const Binding& binding, bool unchanged) {
  const auto& meta = binding.object.metadata();
  DeleteOptions options{.uid = meta.uid()};
  if (unchanged) options.resource_version = meta.resourceversion();
  ++requests_;
  const absl::Status status =
      binding.in_cluster()
          ? parts_.client.Delete<ClusterRoleBinding>(context_, binding.key, options)
          : parts_.client.Delete<RoleBinding>(context_, binding.key, options);
  const size_t failures = log_.removal_failures().size();
  if (unchanged && IsConflict(status)) {
    log_.AddOutdated(binding.ToString(), status);
  } else {
    log_.AddRemoval(binding.ToString(), binding.key.name, status);
  }
  if (log_.removal_failures().size() == failures && left_ > 0) --left_;
}

void BindingWriter::Replace(const Binding& old, const Binding& wanted) {
  if (IsDenied(wanted)) return;
  Remove(old, /*unchanged=*/false);
  Create(wanted);
}

void BindingWriter::Create(const Binding& binding) {
  if (IsDenied(binding)) return;
  Note(binding, Ensure(binding, nullptr));
}

void BindingWriter::Fix(const BindingFix& fix) {
  if (!fix.revokes() && IsDenied(fix.desired)) return;
  const absl::Duration wait = parts_.fixes.Take(FixKey(fix), parts_.clock.TimeNow());
  if (wait > absl::ZeroDuration()) {
    wait_ = wait_ == absl::ZeroDuration() ? wait : std::min(wait_, wait);
    log_.AddDifference(fix.actual.ToString(), Difference(fix.desired, fix.actual));
    return;
  }
  const absl::StatusOr<Binding> written = Ensure(fix.desired, &fix.actual);
  Note(fix.desired, written);
  if (written.ok() || !fix.revokes()) return;
  // Somebody may deny what would be granted: what is revoked does not wait for that.
  const Binding fewer = WithoutNewSubjects(fix.desired, fix.actual);
  if (fewer.object.subjects_size() == fix.desired.object.subjects_size()) return;
  Note(fewer, Ensure(fewer, &fix.actual));
}

absl::StatusOr<Binding> BindingWriter::Ensure(const Binding& desired, const Binding* observed) {
  ++requests_;
  if (desired.in_cluster()) {
    std::optional<ClusterRoleBinding> before;
    if (observed != nullptr) before = ToClusterRoleBinding(*observed);
    ASSIGN_OR_RETURN(const ClusterRoleBinding is,
                     EnsureObject(ToClusterRoleBinding(desired), std::move(before)));
    return FromClusterRoleBinding(is);
  }
  std::optional<RoleBinding> before;
  if (observed != nullptr) before = observed->object;
  ASSIGN_OR_RETURN(RoleBinding is, EnsureObject(desired.object, std::move(before)));
  return FromRoleBinding(std::move(is));
}

template <class T>
absl::StatusOr<T> BindingWriter::EnsureObject(const T& desired, std::optional<T> observed) {
  // An apply without subjects does not remove those that another field manager wrote.
  if (observed.has_value() && desired.subjects().empty() && !observed->subjects().empty()) {
    ASSIGN_OR_RETURN(observed, parts_.client.RemoveFields(context_, *std::move(observed),
                                                          {.fields = {{"subjects"}}}));
  }
  return parts_.client.Ensure(context_, desired, observed.has_value() ? &*observed : nullptr);
}

void BindingWriter::Note(const Binding& desired, const absl::StatusOr<Binding>& written) {
  if (!written.ok()) {
    if (IsNotHeld(written.status())) denied_.try_emplace(desired.object.roleref().name(), 0);
    log_.Add(desired.ToString(), absl::StatusOr<Binding>(WithRemedy(written.status(), desired)));
    return;
  }
  if (left_ > 0) --left_;
  const std::string difference = Difference(desired, *written);
  if (!difference.empty()) log_.AddDifference(desired.ToString(), difference);
}

}  // namespace mandate::scope
