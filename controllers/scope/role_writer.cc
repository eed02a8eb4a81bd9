#include "controllers/scope/role_writer.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/escalation_denied.h"
#include "controllers/scope/role_template.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRole;

// Identifies the role and its desired state. The same fix, needed again and again, is a fight with
// another writer; a fix after an edit of the template (`version`) has another key.
std::string FixKey(const RoleFix& fix, std::string_view version) {
  std::string rules;
  for (const auto& rule : fix.desired.rules()) rules += rule.SerializeAsString();
  return StrCat(fix.actual.metadata().uid(), "/", version, "/", absl::Hash<std::string>()(rules));
}

std::string Named(const ClusterRole& role) {
  return StrCat("ClusterRole ", role.metadata().name());
}

// An apply without rules does not remove those that another field manager wrote.
FieldsToRemove SurplusRules(const ClusterRole& desired, const ClusterRole& actual) {
  const bool emptied = desired.rules().empty() && !actual.rules().empty();
  return emptied ? FieldsToRemove{.fields = {{"rules"}}} : FieldsToRemove();
}

// The fields that other users added to our role and that it must not have.
FieldsToRemove Surplus(const ClusterRole& desired, const ClusterRole& actual) {
  FieldsToRemove removal = SurplusRules(desired, actual);
  if (actual.has_aggregationrule()) removal.fields.push_back({"aggregationRule"});
  for (const auto& [key, value] : actual.metadata().labels()) {
    if (!desired.metadata().labels().contains(key)) {
      removal.fields.push_back({"metadata", "labels", key});
    }
  }
  return removal;
}

}  // namespace

void RoleWriter::CarryOut(const TemplatePlan& plan) {
  WriteRound& round = portion_.round();
  bool removed = false, all_removed = false;
  const auto remove = [&] {
    if (std::exchange(removed, true)) return;
    all_removed = portion_.Each(
        plan.remove, &KeyOf<ClusterRole>, round.removals,
        [&](const ClusterRole& role) { Remove(role, plan.remove_unchanged); }, [] {});
  };
  const auto each = [&](const auto& list, const auto& key, FailedWrites& failed,
                        const auto& write) {
    return portion_.Each(list, key, failed, write, [&] {
      if (!portion_.log().failures().empty()) remove();
    });
  };
  const auto fix = [this](const RoleFix& one) { Fix(one); };
  const auto fixed = [](const RoleFix& one) { return KeyOf(one.actual); };
  const auto grants = std::ranges::find_if_not(plan.fix, &RoleFix::revokes);
  const bool all_fixed =
      each(std::ranges::subrange(plan.fix.begin(), grants), fixed, round.revoking_fixes, fix);
  // A renamed role is created under its new name before the old one is deleted, unless writes are
  // slow, one fails, or the portion ends first.
  if (portion_.patient()) remove();
  if (all_fixed && (!removed || all_removed)) {
    each(std::ranges::subrange(grants, plan.fix.end()), fixed, round.grants, fix);
    each(plan.create, &KeyOf<ClusterRole>, round.grants,
         [this](const ClusterRole& role) { Create(role); });
  }
  remove();
  round.revocations_tried = all_removed && all_fixed;
}

void RoleWriter::Remove(const ClusterRole& role, bool unchanged) {
  DeleteOptions options{.uid = role.metadata().uid()};
  if (unchanged) options.resource_version = role.metadata().resourceversion();
  portion_.NoteRequest();
  WriteLog& log = portion_.log();
  const size_t failures = log.removal_failures().size();
  const absl::StatusOr<DeleteResult> deletion =
      parts_.client.Delete<ClusterRole>(portion_.ForRequest(context_), KeyOf(role), options);
  if (unchanged && IsConflict(deletion.status())) {
    log.AddOutdated(Named(role), deletion.status());
  } else {
    log.AddRemoval(Named(role), role.metadata().name(), deletion.status());
  }
  if (log.removal_failures().size() == failures) portion_.NoteSuccess();
  // The plan reports the finalizers that the role had when it was read.
  if (deletion.ok() && *deletion == DeleteResult::kPending &&
      role.metadata().finalizers().empty()) {
    log.AddPending(Named(role));
  }
}

void RoleWriter::Create(const ClusterRole& role) {
  portion_.NoteRequest();
  Note(role, parts_.client.Ensure(portion_.ForRequest(context_), role,
                                  static_cast<const ClusterRole*>(nullptr)));
}

void RoleWriter::Fix(const RoleFix& fix) {
  const std::string key = FixKey(fix, portion_.round().of);
  const absl::Duration wait = parts_.fixes.WaitFor(key, parts_.clock.TimeNow());
  if (wait > absl::ZeroDuration()) {
    portion_.NoteWait(wait);
    portion_.log().AddDifference(Named(fix.actual), Difference(fix.desired, fix.actual));
    return;
  }
  bool taken = false;
  const absl::StatusOr<ClusterRole> is =
      Write(fix.desired, fix.actual, Surplus(fix.desired, fix.actual), taken);
  Note(fix.desired, is);
  if (is.ok() && is->metadata().has_deletiontimestamp() &&
      !fix.actual.metadata().has_deletiontimestamp()) {
    portion_.log().AddPending(Named(fix.desired));
  }
  bool revoked = fix.revokes() && is.ok() && !GrantsMore(*is, fix.desired);
  if (!is.ok() && fix.revokes()) revoked = WriteFewer(fix, is.status(), taken);
  if (taken) parts_.fixes.NoteFix(key, revoked, parts_.clock.TimeNow());
}

bool RoleWriter::WriteFewer(const RoleFix& fix, absl::Status denied, bool& taken) {
  const auto write = [&](const ClusterRole& fewer) {
    if (SameRules(fewer.rules(), fix.actual.rules())) return false;
    const auto written = Write(fewer, fix.actual, SurplusRules(fewer, fix.actual), taken);
    portion_.log().Add(Named(fewer), written);
    if (written.ok()) portion_.NoteSuccess();
    denied = written.status();
    return written.ok();
  };
  ClusterRole fewer = WithoutNewRules(fix.desired, fix.actual);
  if (write(fewer)) return true;
  if (!IsEscalationDenied(denied) || !GrantsMore(fix.actual, fewer)) return false;
  fewer.clear_rules();
  return write(fewer);
}

absl::StatusOr<ClusterRole> RoleWriter::Write(const ClusterRole& desired, const ClusterRole& actual,
                                              const FieldsToRemove& removal, bool& taken) {
  absl::StatusOr<ClusterRole> is = actual;
  // This comes first, because the fences deny writes of a role with such a label.
  if (!removal.fields.empty()) {
    portion_.NoteRequest();
    is = parts_.client.RemoveFields(portion_.ForRequest(context_), actual, removal);
    taken = taken || is.ok();
  }
  if (is.ok() && !Difference(desired, *is).empty()) {
    portion_.NoteRequest();
    const ClusterRole observed = *is;
    is = parts_.client.Ensure(portion_.ForRequest(context_), desired, &observed);
    taken = taken || is.ok();
  }
  return is;
}

void RoleWriter::Note(const ClusterRole& desired, const absl::StatusOr<ClusterRole>& written) {
  portion_.log().Add(Named(desired), written);
  if (!written.ok()) return;
  portion_.NoteSuccess();
  const std::string difference = Difference(desired, *written);
  if (!difference.empty()) portion_.log().AddDifference(Named(desired), difference);
}

}  // namespace mandate::scope
