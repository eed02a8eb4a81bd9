// The four-way report: what each identity declares, contains calls for, used, and was granted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "manager/rbac/user.h"
#include "rbacgen/audit/ledger.h"
#include "rbacgen/audit/policy_file.h"
#include "rbacgen/audit/trace.h"
#include "rbacgen/calls/compiled_calls.h"

namespace mandate::rbacgen {

// The kinds of findings, with the names that --fail-on uses.
struct FindingKind {
  const char* name;
  const char* says;
  bool fails;  // unless --fail-on lists other kinds
};
const std::vector<FindingKind>& FindingKinds();

struct Finding {
  std::string kind;
  std::string component;  // empty if the finding is not about one component
  std::string text;
};

// The evidence for or against the need of a rule.
enum class Verdict {
  kUsed,
  kServed,  // a list or watch that the shared cache serves from a watch that was used
  kUnused,
  kUnexercised,  // not used, but the binary has a call for it
  kUnseen,       // the server checks it internally: no log has it (bind, escalate, finalizers)
  kHidden,       // the audit policy omits it
  kOnce,         // not used, because its object existed already
  kNotYet,       // the log is too short for an answer
  kExternal,     // an administrator must grant it, and it is not granted or was not used
  kUndeclared,   // granted or compiled, but no marker declares it
};
const char* VerdictWords(Verdict verdict);

struct FourWayRow {
  rbac::Rule rule;  // with one verb and one resource
  std::string ns;
  std::vector<std::string> declared;  // the places of its markers
  bool implicit = false;
  bool external = false;         // all its markers have granted=external
  std::optional<bool> compiled;  // nullopt if the input has no binary
  int64_t used = 0;
  std::optional<bool> granted;  // nullopt if the input has no grants
  std::string granted_by;       // the source of the grant, if no marker declares the rule
  Verdict verdict = Verdict::kUsed;
};

struct FourWayIdentity {
  std::string component;
  rbac::UserInfo user;
  int64_t requests = 0;
  int64_t tokens = 0;
  std::vector<FourWayRow> rows;
};

struct FourWayInput {
  std::map<std::string, rbac::UserInfo> users;  // the users of the components to report on
  bool has_granted = false;
  std::optional<std::vector<CompiledCall>> compiled;
  const AuditPolicyFile* policy = nullptr;
  double window_seconds =
      0;  // the seconds that the log must cover before a rule is reported as unused
};

struct FourWayReport {
  std::vector<FourWayIdentity> identities;
  std::vector<Finding> findings;
  // The questions that the log does not answer, with the reasons.
  std::vector<std::string> notes;
  double covered_seconds = 0;
};

FourWayReport BuildFourWay(const FourWayInput& input, const Ledger& ledger,
                           const TraceReport& trace);

}  // namespace mandate::rbacgen
