#include "controllers/scope/binding_writer.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "controllers/scope/escalation_denied.h"
#include "controllers/scope/ownership.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

// Adds the permission that would allow it, if the server's message lacks it.
absl::Status WithRemedy(const absl::Status& status, const Binding& binding) {
  if (!IsEscalationDenied(status)) return status;
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

// Whether the server or a webhook will deny this request every time.
bool IsDenial(const absl::Status& status) {
  return IsForbidden(status) || IsInvalid(status) || IsBadRequest(status) ||
         IsDeniedByWebhook(status);
}

bool IsBeingDeleted(const Binding& binding) {
  return binding.object.metadata().has_deletiontimestamp();
}

// Identifies a binding and its desired state. The same fix, needed again and again, is a fight with
// another writer; a fix after an edit of the instance or the template (`versions`) is not.
std::string FixKey(const BindingFix& fix, std::string_view versions) {
  std::string subjects;
  for (const auto& subject : fix.desired.object.subjects()) subjects += subject.SerializeAsString();
  return StrCat(fix.actual.object.metadata().uid(), "/", versions, "/",
                absl::Hash<std::string>()(subjects));
}

}  // namespace

BindingWriter::BindingWriter(const CallContext& context, Parts parts)
    : context_(context), parts_(parts), portion_(parts.portion) {}

void BindingWriter::CarryOut(const InstancePlan& plan) {
  WriteRound& round = portion_.round();
  bool removed = false, all_removed = false;
  const auto remove = [&] {
    if (std::exchange(removed, true)) return;
    all_removed = portion_.Each(
        plan.remove, &Binding::key, round.removals,
        [&](const Binding& binding) { Remove(binding, plan.remove_unchanged); }, [] {});
  };
  const auto each = [&](const auto& list, const auto& key, FailedWrites& failed,
                        const auto& write) {
    return portion_.Each(list, key, failed, write, [&] {
      if (!portion_.log().failures().empty()) remove();
    });
  };
  const auto fix = [this](const BindingFix& one) { Fix(one); };
  const auto fixed = [](const BindingFix& one) { return one.actual.key; };
  const auto grants = std::ranges::find_if_not(plan.fix, &BindingFix::revokes);
  // A grant that replaces another is written first, so that no subject loses access in between. A
  // revocation waits neither for many or slow grants, nor for another revocation that failed.
  const size_t others = plan.writes() - plan.remove.size();
  const bool grants_take_long = others > portion_.max_writes() || portion_.patient();
  // The revocations of other objects, which were edited at the same time, come before these grants.
  if (portion_.is_first() && others > portion_.max_writes()) portion_.LeaveGrants();
  if (!plan.grant_first || grants_take_long) remove();
  const bool all_fixed =
      each(std::ranges::subrange(plan.fix.begin(), grants), fixed, round.revoking_fixes, fix);
  std::vector<const Binding*> freed;  // the bindings whose names are free now
  const bool all_freed = each(
      plan.replace, [](const auto& pair) { return pair.first.key; }, round.removals,
      [&](const auto& pair) {
        if (Remove(pair.first, /*unchanged=*/false)) freed.push_back(&pair.second);
      });
  if (all_fixed && all_freed && (!removed || all_removed)) {
    each(freed, &Binding::key, round.grants, [this](const Binding* one) { Create(*one); });
    each(std::ranges::subrange(grants, plan.fix.end()), fixed, round.grants, fix);
    each(plan.create, &NewBinding::key, round.grants,
         [this](const NewBinding& one) { Create(one.Make()); });
  }
  remove();
  round.revocations_tried = all_removed && all_fixed && all_freed;
}

void BindingWriter::Finish() {
  for (const auto& [role, skipped] : denied_) {
    if (skipped == 0) continue;
    portion_.log().AddSkipped(StrCat(skipped, " more bindings of ClusterRole \"", role,
                                     "\" were not tried: the API server denies them all"));
  }
}

bool BindingWriter::IsDenied(const Binding& binding) {
  const auto denied = denied_.find(binding.object.roleref().name());
  if (denied == denied_.end()) return false;
  ++denied->second;
  return true;
}

bool BindingWriter::Remove(const Binding& binding, bool unchanged) {
  const auto& meta = binding.object.metadata();
  DeleteOptions options{.uid = meta.uid()};
  if (unchanged) options.resource_version = meta.resourceversion();
  portion_.NoteRequest();
  const absl::StatusOr<DeleteResult> deletion =
      binding.in_cluster()
          ? parts_.client.Delete<ClusterRoleBinding>(portion_.ForRequest(context_), binding.key,
                                                     options)
          : parts_.client.Delete<RoleBinding>(portion_.ForRequest(context_), binding.key, options);
  WriteLog& log = portion_.log();
  const size_t failures = log.removal_failures().size();
  if (unchanged && IsConflict(deletion.status())) {
    log.AddOutdated(binding.ToString(), deletion.status());
  } else {
    log.AddRemoval(binding.ToString(), binding.key.name, deletion.status());
  }
  if (log.removal_failures().size() == failures) portion_.NoteSuccess();
  // The plan reports the finalizers that the binding had when it was read.
  if (deletion.ok() && *deletion == DeleteResult::kPending && meta.finalizers().empty()) {
    log.AddPending(binding.ToString());
  }
  // If a binding cannot be deleted, its subjects are removed.
  if (IsDenial(deletion.status()) && !binding.object.subjects().empty()) {
    Fix({WithoutSubjects(binding), binding}, /*or_remove=*/false);
  }
  return deletion.ok() ? *deletion == DeleteResult::kGone : IsNotFound(deletion.status());
}

void BindingWriter::Create(const Binding& binding) {
  if (IsDenied(binding)) return;
  Note(binding, Ensure(binding, nullptr));
}

void BindingWriter::Fix(const BindingFix& fix, bool or_remove) {
  if (!fix.revokes() && IsDenied(fix.desired)) return;
  const std::string key = FixKey(fix, portion_.round().of);
  const absl::Duration wait = parts_.fixes.WaitFor(key, parts_.clock.TimeNow());
  if (wait > absl::ZeroDuration()) {
    portion_.NoteWait(wait);
    portion_.log().AddDifference(fix.actual.ToString(), Difference(fix.desired, fix.actual));
    return;
  }
  bool denied = false;
  const auto write = [&](const Binding& desired) {
    const absl::StatusOr<Binding> written = Ensure(desired, &fix.actual);
    if (written.ok()) {
      const bool revoked = fix.revokes() && !HasMoreSubjects(desired, *written);
      parts_.fixes.NoteFix(key, revoked, parts_.clock.TimeNow());
    }
    denied = IsEscalationDenied(written.status());
    Note(desired, written);
    if (written.ok() && IsBeingDeleted(*written) && !IsBeingDeleted(fix.actual)) {
      portion_.log().AddPending(desired.ToString());
    }
    return written.ok();
  };
  if (write(fix.desired) || !fix.revokes()) return;
  // Admission may deny the new grants, so the revocations do not wait for them.
  const Binding fewer = WithoutNewSubjects(fix.desired, fix.actual);
  const bool is_less = fewer.object.subjects_size() < fix.desired.object.subjects_size();
  if (is_less && write(fewer)) return;
  if (or_remove && denied && !IsBeingDeleted(fix.actual)) Remove(fix.actual, /*unchanged=*/false);
}

absl::StatusOr<Binding> BindingWriter::Ensure(const Binding& desired, const Binding* observed) {
  portion_.NoteRequest();
  if (desired.in_cluster()) {
    std::optional<ClusterRoleBinding> before;
    if (observed != nullptr) before = ToClusterRoleBinding(*observed);
    ASSIGN_OR_RETURN(const ClusterRoleBinding is,
                     EnsureObject(ToClusterRoleBinding(desired), std::move(before)));
    return ToBinding(is);
  }
  std::optional<RoleBinding> before;
  if (observed != nullptr) before = observed->object;
  ASSIGN_OR_RETURN(RoleBinding is, EnsureObject(desired.object, std::move(before)));
  return ToBinding(std::move(is));
}

template <class T>
absl::StatusOr<T> BindingWriter::EnsureObject(const T& desired, std::optional<T> observed) {
  // An apply without subjects does not remove those that another field manager wrote.
  if (observed.has_value() && desired.subjects().empty() && !observed->subjects().empty()) {
    ASSIGN_OR_RETURN(observed,
                     parts_.client.RemoveFields(portion_.ForRequest(context_), *std::move(observed),
                                                {.fields = {{"subjects"}}}));
  }
  const OwnerReferenceProto* owner = ControllerOf(desired.metadata());
  if (observed.has_value() && owner != nullptr) {
    auto freed =
        parts_.client.RemoveFields(portion_.ForRequest(context_), *observed,
                                   {.owner_uids = OtherOwners(observed->metadata(), owner->uid())});
    // Admission may deny this request. The other writes do not wait for it, and its response shows
    // the difference.
    if (freed.ok()) observed = *std::move(freed);
  }
  return parts_.client.Ensure(portion_.ForRequest(context_), desired,
                              observed.has_value() ? &*observed : nullptr);
}

void BindingWriter::Note(const Binding& desired, const absl::StatusOr<Binding>& written) {
  if (!written.ok()) {
    if (IsEscalationDenied(written.status())) {
      denied_.try_emplace(desired.object.roleref().name(), 0);
    }
    portion_.log().Add(desired.ToString(),
                       absl::StatusOr<Binding>(WithRemedy(written.status(), desired)));
    return;
  }
  portion_.NoteSuccess();
  const std::string difference = Difference(desired, *written);
  if (!difference.empty()) portion_.log().AddDifference(desired.ToString(), difference);
}

}  // namespace mandate::scope
