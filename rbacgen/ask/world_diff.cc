#include "rbacgen/ask/world_diff.h"

#include <optional>
#include <utility>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/ask/rights_report.h"
#include "rbacgen/ask/subjects.h"

namespace mandate::rbacgen {
namespace {

RightsByNamespace Later(const World& world, const std::string& component) {
  RightsByNamespace rights;
  for (const LaterGrant& later : world.later) {
    if (later.component != component) continue;
    auto& rules = rights[later.ns];
    rules.insert(rules.end(), later.rules.begin(), later.rules.end());
  }
  return rights;
}

class Differ {
 public:
  Differ(const World& before, const World& now)
      : before_(before), now_(now), old_(before.policy), new_(now.policy) {}

  std::vector<IdentityDiff> Run() {
    const auto user = [](const Compared& c, const std::optional<SubjectKey>& its) {
      return its.has_value() ? std::optional(c.is_component ? WithGroups(*its) : Alone(*its))
                             : std::nullopt;
    };
    for (const Compared& c : SubjectsToCompare(before_, now_)) {
      Add(c.title, user(c, c.before), user(c, c.now));
    }
    return std::move(diffs_);
  }

 private:
  void Add(const std::string& title, const std::optional<rbac::UserInfo>& was,
           const std::optional<rbac::UserInfo>& is) {
    RightsByNamespace old_rights, new_rights;
    if (was) old_rights = ByNamespace(GrantedRightsOf(old_, *was));
    if (is) new_rights = ByNamespace(GrantedRightsOf(new_, *is));
    IdentityDiff diff = {title,
                         IdentityDiff::Kind::kChanged,
                         Gained(old_rights, new_rights),
                         Gained(new_rights, old_rights),
                         {},
                         {}};
    if (before_.knows_later && now_.knows_later) {
      const RightsByNamespace old_later = Later(before_, title), new_later = Later(now_, title);
      diff.gained_later = Gained(old_later, new_later);
      diff.lost_later = Gained(new_later, old_later);
    }
    if (!was) diff.kind = IdentityDiff::Kind::kNew;
    if (!is) diff.kind = IdentityDiff::Kind::kGone;
    if (was && is && diff.gained.empty() && diff.lost.empty() && diff.gained_later.empty() &&
        diff.lost_later.empty()) {
      return;
    }
    diffs_.push_back(std::move(diff));
  }

  const World& before_;
  const World& now_;
  const rbac::Authorizer old_, new_;
  std::vector<IdentityDiff> diffs_;
};

}  // namespace

std::vector<IdentityDiff> DiffWorlds(const World& before, const World& now) {
  return Differ(before, now).Run();
}

std::string DiffText(const std::vector<IdentityDiff>& diffs) {
  std::string text;
  for (const IdentityDiff& diff : diffs) {
    const bool is_new = diff.kind == IdentityDiff::Kind::kNew;
    const bool is_gone = diff.kind == IdentityDiff::Kind::kGone;
    StrAppend(&text, Printable(diff.title), is_new ? " (new)" : is_gone ? " (gone)" : "", "\n");
    text += RightsText("  + may ", diff.gained, true);
    text += RightsText("  + may, after an administrator grants it, ", diff.gained_later, true);
    text += RightsText("  - may no longer ", diff.lost, false);
    text +=
        RightsText("  - may no longer, after an administrator grants it, ", diff.lost_later, false);
  }
  return text;
}

std::string DiffJson(const std::vector<IdentityDiff>& diffs) {
  Json::Value list(Json::arrayValue);
  for (const IdentityDiff& diff : diffs) {
    Json::Value entry(Json::objectValue);
    entry["identity"] = diff.title;
    entry["kind"] = diff.kind == IdentityDiff::Kind::kNew    ? "new"
                    : diff.kind == IdentityDiff::Kind::kGone ? "gone"
                                                             : "changed";
    entry["gained"] = RightsJson(diff.gained);
    entry["lost"] = RightsJson(diff.lost);
    entry["gainedLater"] = RightsJson(diff.gained_later);
    entry["lostLater"] = RightsJson(diff.lost_later);
    list.append(entry);
  }
  return PrintableJson(WriteJson(list)) + "\n";
}

}  // namespace mandate::rbacgen
