#include "rbacgen/audit/four_way.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/strings.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

bool IsWrite(std::string_view verb) { return verb != "get" && verb != "list" && verb != "watch"; }

// Whether the API server checks the rule only while it serves another request, so that the log has
// no event for it.
bool IsUnseen(const rbac::Rule& rule) {
  constexpr std::string_view kVerbs[] = {"bind", "escalate", "approve", "sign", "attest", "use"};
  const std::string& verb = rule.verbs.front();
  if (std::ranges::find(kVerbs, verb) != std::end(kVerbs)) return true;
  return !rule.resources.empty() && rule.resources.front().ends_with("/finalizers");
}

// A request that the rule allows.
rbac::Attributes RequestFor(const rbac::Rule& rule, const std::string& ns) {
  rbac::Attributes a;
  a.verb = rule.verbs.front();
  if (!rule.non_resource_urls.empty()) {
    a.is_resource_request = false;
    a.path = rule.non_resource_urls.front();
    return a;
  }
  a.api_group = rule.api_groups.front();
  const std::string& resource = rule.resources.front();
  const size_t slash = resource.find('/');
  a.resource = resource.substr(0, slash);
  if (slash != resource.npos) a.subresource = resource.substr(slash + 1);
  if (!rule.resource_names.empty()) a.name = rule.resource_names.front();
  a.ns = ns;
  return a;
}

double SecondsBetween(const std::string& first, const std::string& last) {
  absl::Time from, to;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, first, &from, &error) ||
      !absl::ParseTime(absl::RFC3339_full, last, &to, &error)) {
    return 0;
  }
  return absl::ToDoubleSeconds(to - from);
}

class Builder {
 public:
  Builder(const FourWayInput& input, const Ledger& ledger, const TraceReport& trace)
      : input_(input), ledger_(ledger), trace_(trace) {}

  FourWayReport Run() {
    report_.covered_seconds = SecondsBetween(trace_.first, trace_.last);
    too_short_ = report_.covered_seconds < input_.window_seconds;
    if (too_short_) {
      report_.notes.push_back(StrCat("the log covers ",
                                     static_cast<int64_t>(report_.covered_seconds), " s of the ",
                                     static_cast<int64_t>(input_.window_seconds),
                                     " s of --window: no rule is reported as unused"));
    }
    for (const auto& [component, identity] : ledger_.identities()) {
      for (const RuleAtom& atom : identity.declared.atoms()) {
        if (atom.uses > 0 && atom.rule.verbs.front() == "watch")
          watched_.emplace(atom.ns, atom.rule);
      }
    }
    for (const auto& [component, user] : input_.users) {
      const auto found = ledger_.identities().find(component);
      if (found != ledger_.identities().end()) AddIdentity(component, user, found->second);
    }
    for (const TraceFinding& finding : trace_.findings) Find(finding.kind, "", finding.text);
    return std::move(report_);
  }

 private:
  using Key = std::tuple<std::string, rbac::Rule>;  // namespace, atom

  void Find(std::string kind, std::string component, std::string text) {
    report_.findings.push_back({std::move(kind), std::move(component), std::move(text)});
  }

  std::optional<bool> Compiled(const std::string& component, const rbac::Rule& rule) const {
    if (!input_.compiled || component == "base") return std::nullopt;
    return std::ranges::any_of(*input_.compiled, [&](const CompiledCall& call) {
      return (call.component == component || call.component == "*") &&
             rbac::VerbMatches(rule, call.verb) && rbac::GroupMatches(rule, call.group) &&
             rbac::ResourceMatches(rule, call.resource, call.subresource);
    });
  }

  static bool Covers(const std::vector<RuleAtom>& atoms, const rbac::Rule& rule,
                     const std::string& ns) {
    const rbac::Attributes request = RequestFor(rule, ns);
    return std::ranges::any_of(atoms, [&](const RuleAtom& atom) {
      return (atom.ns.empty() || atom.ns == ns) && rbac::RuleAllows(atom.rule, request);
    });
  }

  void AddIdentity(const std::string& component, const rbac::UserInfo& user,
                   const IdentityLedger& ledger) {
    FourWayIdentity identity = {component, user, ledger.requests, Tokens(component), {}};
    const bool silent = ledger.requests == 0;
    std::map<Key, FourWayRow> rows = Rows(ledger);
    for (auto& [key, row] : rows) {
      row.compiled = Compiled(component, row.rule);
      row.verdict = Check(component, row, user);
      Report(component, row, silent);
      identity.rows.push_back(std::move(row));
    }
    if (silent) FindSilence(component, user);
    FindUnexplained(component, ledger);
    FindUndeclaredCalls(component, ledger);
    report_.identities.push_back(std::move(identity));
  }

  // A row for each declared right, and for each grant that no declared right covers.
  std::map<Key, FourWayRow> Rows(const IdentityLedger& ledger) const {
    std::map<Key, FourWayRow> rows;
    for (const RuleAtom& atom : ledger.declared.atoms()) {
      const auto [its, is_new] = rows.try_emplace({atom.ns, atom.rule});
      FourWayRow& row = its->second;
      row.rule = atom.rule;
      row.ns = atom.ns;
      row.declared.push_back(atom.source);
      row.implicit = atom.implicit && (is_new || row.implicit);
      row.external = atom.external && (is_new || row.external);
      row.used = std::max(row.used, atom.uses);
      if (input_.has_granted) row.granted = Covers(ledger.granted.atoms(), atom.rule, atom.ns);
    }
    for (const RuleAtom& atom : ledger.granted.atoms()) {
      if (Covers(ledger.declared.atoms(), atom.rule, atom.ns)) continue;
      FourWayRow& row = rows[{atom.ns, atom.rule}];
      row.rule = atom.rule;
      row.ns = atom.ns;
      row.granted = true;
      row.granted_by = atom.source;
      row.used = std::max(row.used, atom.uses);
    }
    return rows;
  }

  Verdict Check(const std::string& component, const FourWayRow& row,
                const rbac::UserInfo& user) const {
    // The first verdict that holds counts.
    const std::pair<bool, Verdict> verdicts[] = {
        {row.declared.empty(), Verdict::kUndeclared},
        {row.used > 0, Verdict::kUsed},
        {IsUnseen(row.rule), Verdict::kUnseen},
        {IsHidden(row, user), Verdict::kHidden},
        {IsServed(row), Verdict::kServed},
        {row.external, Verdict::kExternal},
        {MakesTheLease(component, row.rule), Verdict::kOnce},
        {too_short_, Verdict::kNotYet},
        {row.compiled.value_or(false), Verdict::kUnexercised},
    };
    for (const auto& [holds, verdict] : verdicts) {
      if (holds) return verdict;
    }
    return Verdict::kUnused;
  }

  bool IsHidden(const FourWayRow& row, const rbac::UserInfo& user) const {
    return input_.policy != nullptr && !input_.policy->Logs(user, RequestFor(row.rule, row.ns));
  }

  // Base writes the Lease by apply, which needs patch, and create if the Lease does not exist yet.
  static bool MakesTheLease(const std::string& component, const rbac::Rule& rule) {
    const std::string& verb = rule.verbs.front();
    return component == "base" && (verb == "create" || verb == "patch") &&
           !rule.resources.empty() && rule.resources.front() == "leases";
  }

  // One watch serves all components that may read; which component's watch it is, is arbitrary.
  bool IsServed(const FourWayRow& row) const {
    rbac::Rule watch = row.rule;
    if (watch.verbs.front() != "list" && watch.verbs.front() != "watch") return false;
    watch.verbs = {"watch"};
    return watched_.contains({row.ns, watch});
  }

  void Report(const std::string& component, const FourWayRow& row, bool silent) {
    const std::string words = RuleWords(row.rule, row.ns);
    if (row.verdict == Verdict::kUndeclared) {
      Find("excess-grant", component,
           StrCat(row.granted_by, " grants the permission to ", words,
                  ", but no marker declares it", row.used == 0 ? "; never used" : ""));
      return;
    }
    const std::string place = StrCat("(", row.declared.front(), ")");
    if (row.granted == false && !row.external && !row.implicit) {
      Find("not-granted", component,
           StrCat("the marker in ", row.declared.front(), " declares the permission to ", words,
                  ", but no binding grants it"));
    }
    if (row.verdict == Verdict::kHidden) {
      Find("hidden", component,
           StrCat("the audit policy does not log ", words, " ", place, ", so its use is unknown"));
    }
    if (row.implicit || silent) return;
    if (row.verdict == Verdict::kUnexercised) {
      Find("unexercised", component,
           StrCat("never used: ", words, " ", place, ", but its code has the call"));
    } else if (row.verdict == Verdict::kUnused) {
      Find(IsWrite(row.rule.verbs.front()) ? "unused-write" : "unused-read", component,
           StrCat("never used: ", words, " ", place,
                  row.compiled == false ? ", and its code has no typed call for it" : ""));
    }
  }

  int64_t Tokens(const std::string& component) const {
    return std::ranges::count_if(
        trace_.tokens, [&](const TokenOrigin& token) { return token.component == component; });
  }

  void FindSilence(const std::string& component, const rbac::UserInfo& user) {
    const auto account = rbac::ParseServiceAccountUser(user.name);
    const bool got_token =
        account && trace_.issued_to.contains(StrCat(account->ns, "/", account->name));
    Find("hidden", component,
         got_token
             ? "base requested tokens for it, but the log has no request from it: the audit "
               "policy omits it"
             : "the log has no request from it: it did not run, the audit policy omits it, or "
               "--base-name and --namespace are those of another manager; the log proves "
               "nothing about it");
  }

  void FindUnexplained(const std::string& component, const IdentityLedger& ledger) {
    const auto where = [](const Unexplained& u) {
      return StrCat(u.example.name.empty() ? "" : StrCat(" ", u.example.name),
                    u.example.ns.empty() ? "" : StrCat(" in ", u.example.ns), ", ", u.count,
                    u.count == 1 ? " time, " : " times, first ", u.when, ", audit id ", u.audit_id);
    };
    for (const auto& [operation, u] : ledger.denied) {
      Find("denied", component,
           StrCat("was denied ", operation, where(u),
                  u.declared ? "; a marker declares it: check whether it was granted at that time"
                             : "; no marker declares it"));
    }
    for (const auto& [operation, u] : ledger.not_granted) {
      Find("denied-external", component,
           StrCat("was denied ", operation, where(u),
                  "; only markers with granted=external declare it: no administrator had granted "
                  "it at that time"));
    }
    for (const auto& [operation, u] : ledger.refused) {
      Find("admission-denied", component,
           StrCat("was denied ", operation, where(u),
                  "; it was authorized: admission denied it (a fence, a webhook, a quota), or the "
                  "check for escalation did"));
    }
    for (const auto& [key, u] : ledger.undeclared) {
      Find("undeclared", component,
           StrCat("used ", OperationWords(u.example), where(u),
                  ", which no marker declares; allowed by ", u.by.binding,
                  u.by.subject.empty() ? "" : StrCat(" to ", u.by.subject)));
    }
    if (ledger.left_out) {
      report_.notes.push_back(
          StrCat(component, ": some operations were not explained, because there were too many"));
    }
  }

  void FindUndeclaredCalls(const std::string& component, const IdentityLedger& ledger) {
    if (!input_.compiled) return;
    for (const CompiledCall& call : *input_.compiled) {
      if (call.component != component) continue;
      const bool declared = std::ranges::any_of(ledger.declared.atoms(), [&](const RuleAtom& atom) {
        return rbac::VerbMatches(atom.rule, call.verb) &&
               rbac::GroupMatches(atom.rule, call.group) &&
               rbac::ResourceMatches(atom.rule, call.resource, call.subresource);
      });
      if (declared) continue;
      rbac::Attributes request;
      request.verb = call.verb;
      request.api_group = call.group;
      request.resource = call.resource;
      request.subresource = call.subresource;
      Find("undeclared-call", component,
           StrCat("the binary has a call for ", OperationWords(request),
                  ", which no marker declares: the binary was built from other sources"));
    }
  }

  const FourWayInput& input_;
  const Ledger& ledger_;
  const TraceReport& trace_;
  FourWayReport report_;
  bool too_short_ = false;
  std::set<Key> watched_;  // the watches of any component
};

}  // namespace

const std::vector<FindingKind>& FindingKinds() {
  static const auto& kinds = *[] {
    auto* all = new std::vector<FindingKind>{
        {"unused-write", "a rule that writes was never used", true},
        {"unused-read", "a rule that reads was never used", false},
        {"unexercised", "a rule was never used, although the program contains a call that needs it",
         false},
        {"denied", "a request was denied", true},
        {"denied-external", "a request was denied that an administrator may grant", false},
        {"admission-denied",
         "RBAC allowed a request, and admission (for example, a fence) denied it", true},
        {"undeclared", "a request was allowed that no marker declares", true},
        {"undeclared-call", "the binary has a call that no marker declares", true},
        {"not-granted", "a declared rule is not granted", true},
        {"excess-grant", "a granted rule is not declared", true},
        {"hidden", "the log cannot prove whether a rule was used", true},
        {"unreadable", "a part of the log could not be read", false},
    };
    for (const TraceFindingKind& kind : TraceFindingKinds()) {
      all->push_back({kind.name, kind.says, true});
    }
    return all;
  }();
  return kinds;
}

const char* VerdictWords(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUsed:
      return "";
    case Verdict::kServed:
      return "served by the shared cache";
    case Verdict::kUnused:
      return "unused";
    case Verdict::kUnexercised:
      return "not exercised";
    case Verdict::kUnseen:
      return "never logged: the server checks it internally";
    case Verdict::kHidden:
      return "hidden by the audit policy";
    case Verdict::kOnce:
      return "used once, to create the Lease";
    case Verdict::kNotYet:
      return "not used yet";
    case Verdict::kExternal:
      return "granted externally";
    case Verdict::kUndeclared:
      return "not declared";
  }
  return "";
}

FourWayReport BuildFourWay(const FourWayInput& input, const Ledger& ledger,
                           const TraceReport& trace) {
  FourWayReport report = Builder(input, ledger, trace).Run();
  for (const std::string& place : trace.unreadable)
    report.findings.push_back({"unreadable", "", place});
  const auto more = trace.unreadable_lines - static_cast<int64_t>(trace.unreadable.size());
  if (more > 0) report.findings.push_back({"unreadable", "", StrCat(more, " more")});
  return report;
}

}  // namespace mandate::rbacgen
