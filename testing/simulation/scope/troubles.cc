#include "testing/simulation/scope/troubles.h"

#include <utility>

#include "controllers/scope/mandates.h"
#include "testing/apiserver/errors.h"
#include "testing/simulation/scope/not_yet.h"

namespace mandate::simulation {

using apiserver::Fault;

struct Troubles::Kind {
  const char* name;
  bool late;    // makes something late
  bool access;  // removes a permission
  std::function<void(Troubles&)> strike;
};

const std::vector<Troubles::Kind>& Troubles::AllKinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"watch: cut in the middle of a frame", false, false,
       [](Troubles& t) {
         t.AddFault("watch", t.Written(),
                    {.end_after = static_cast<size_t>(t.dice_.Pick(3)), .cut = true});
       }},
      {"watch: ended", false, false,
       [](Troubles& t) {
         t.AddFault("watch", t.Written(), {.end_after = static_cast<size_t>(t.dice_.Pick(3))});
       }},
      {"watch: 410", false, false,
       [](Troubles& t) {
         t.AddFault("watch", t.Written(),
                    {.end_after = static_cast<size_t>(t.dice_.Pick(3)),
                     .error_event = apiserver::ExpiredError("too old resource version")});
       }},
      {"watch: bookmarks dropped", false, false,
       [](Troubles& t) { t.AddFault("watch", t.Written(), {.drop_bookmarks = 0.7}); }},
      {"watch: stalled", true, false, [](Troubles& t) { t.StallWatch(); }},
      {"watch: slow", true, false, [](Troubles& t) { t.SlowWatch(); }},
      {"write: answer lost", false, false,
       [](Troubles& t) {
         const std::vector<std::string> verbs = {"create", "patch", "delete"};
         t.AddFault(t.dice_.OneOf(verbs), t.Written(), {.lose_answer = true});
       }},
      {"write: 500", false, false,
       [](Troubles& t) {
         const std::vector<std::string> verbs = {"create", "patch", "delete"};
         t.AddFault(t.dice_.OneOf(verbs), t.Written(),
                    {.refuse = apiserver::InternalError("etcdserver: request timed out")});
       }},
      {"request: 429", false, false,
       [](Troubles& t) {
         t.AddFault("", t.Written(), {.refuse = apiserver::TooManyRequests("busy", 1)});
       }},
      {"request: connection lost", false, false,
       [](Troubles& t) { t.AddFault("", t.Written(), {.drop = true}); }},
      {"request: no answer", true, false,
       [](Troubles& t) { t.AddFault("", t.Written(), {.ignore = true}); }},
      {"write: delayed", true, false, [](Troubles& t) { t.DelayWrite(); }},
      {"server: restarted", false, false, [](Troubles& t) { t.Restart(); }},
      {"server: history compacted", false, false, [](Troubles& t) { t.Compact(); }},
      {"access: a verb revoked", false, true, [](Troubles& t) { t.RevokeVerb(); }},
      {"access: everything revoked", false, true, [](Troubles& t) { t.RevokeAll(); }},
      {"access: tokens rejected", false, true, [](Troubles& t) { t.RejectTokens(); }},
      {"access: a kind removed", false, true, [](Troubles& t) { t.RemoveKind(); }},
  };
  return kinds;
}

Troubles::Troubles(Options options, Cluster& cluster, Dice& dice, Tally& tally)
    : options_(options), cluster_(cluster), dice_(dice), tally_(tally) {}

std::vector<std::string> Troubles::Kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : AllKinds()) names.emplace_back(kind.name);
  return names;
}

void Troubles::Strike() {
  const Kind& kind = dice_.OneOf(AllKinds());
  if ((kind.late && options_.prompt) || (kind.access && !options_.access)) return;
  if (NotYet().contains(kind.name)) return;
  tally_[kind.name]++;
  kind.strike(*this);
}

void Troubles::Pass() {
  const absl::Time now = cluster_.loop().clock().TimeNow();
  std::vector<Lasting> over;
  std::erase_if(lasting_, [&](Lasting& one) {
    if (one.until > now) return false;
    over.push_back(std::move(one));
    return true;
  });
  for (Lasting& one : over) one.end();
}

void Troubles::Heal() {
  // The end of one trouble may begin another.
  while (!lasting_.empty()) {
    for (Lasting& one : std::exchange(lasting_, {})) one.end();
  }
  cluster_.core().faults().Clear();
}

std::string Troubles::Written() {
  const std::vector<std::string> kinds = {"rolebindings",   "clusterrolebindings", "clusterroles",
                                          "scopeinstances", "scopetemplates",      "namespaces"};
  return dice_.OneOf(kinds);
}

const rbac::Mandate& Troubles::SomeComponent() {
  return dice_.OneIn(2) ? kScopeTemplate : kScopeInstance;
}

void Troubles::AddFault(std::string verb, std::string resource, Fault fault) {
  cluster_.core().faults().Add({.verb = std::move(verb),
                                .resource = std::move(resource),
                                .except_bearer = apiserver::kAdminToken,
                                .times = static_cast<size_t>(1 + dice_.Pick(3)),
                                .fault = std::move(fault)});
}

void Troubles::Last(absl::Duration most, std::function<void()> end) {
  lasting_.push_back({cluster_.loop().clock().TimeNow() + dice_.UpTo(most), std::move(end)});
}

void Troubles::StallWatch() {
  AddFault("watch", Written(), {.stall_after = static_cast<size_t>(dice_.Pick(2))});
}

void Troubles::SlowWatch() {
  AddFault("watch", Written(), {.frame_delay = dice_.UpTo(absl::Seconds(20))});
}

void Troubles::DelayWrite() {
  AddFault(dice_.OneIn(2) ? "create" : "patch", Written(),
           {.delay = dice_.UpTo(absl::Seconds(20))});
}

void Troubles::Restart() {
  FakeTransport& transport = cluster_.server().transport();
  for (size_t i = 0; i < transport.stream_count(); ++i) {
    if (!transport.stream(i).ended()) {
      transport.stream(i).Close(absl::UnavailableError("connection reset (simulated)"));
    }
  }
  // At first connections are refused; then, for a moment, the server has not loaded any roles.
  const uint64_t down = cluster_.core().faults().Add(
      {.except_bearer = apiserver::kAdminToken, .fault = {.drop = true}});
  Last(absl::Seconds(20), [this, down] {
    cluster_.core().faults().Remove(down);
    Compact();
    const uint64_t early = cluster_.core().faults().Add(
        {.except_bearer = apiserver::kAdminToken,
         .fault = {.refuse = apiserver::ForbiddenError(RoleBindings(), "", "RBAC: not yet")}});
    Last(absl::Seconds(2), [this, early] { cluster_.core().faults().Remove(early); });
  });
}

void Troubles::Compact() { cluster_.store().Compact(cluster_.store().revision()); }

void Troubles::RevokeVerb() {
  const rbac::Mandate& component = SomeComponent();
  const std::vector<std::string> verbs = {"list", "watch", "create", "patch", "delete", "bind"};
  cluster_.Grant(component, dice_.OneOf(verbs), Written());
  Last(absl::Minutes(3), [this, &component] { cluster_.Grant(component); });
}

void Troubles::RevokeAll() {
  const rbac::Mandate& component = SomeComponent();
  cluster_.Bind(component, false);
  Last(absl::Minutes(10), [this, &component] { cluster_.Bind(component, true); });
}

void Troubles::RejectTokens() { cluster_.RenewAccount(SomeComponent()); }

void Troubles::RemoveKind() {
  const apiserver::GroupResource& kind = dice_.OneIn(2) ? Templates() : Instances();
  cluster_.Serve(kind, false);
  Last(absl::Minutes(3), [this, &kind] { cluster_.Serve(kind, true); });
}

}  // namespace mandate::simulation
