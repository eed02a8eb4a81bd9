// The findings of `rbacgen check`, as text, JSON and SARIF.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// A kind of finding. The ids are stable.
struct FindingRule {
  const char* id;
  const char* description;
};

inline constexpr FindingRule kFindingRules[] = {
    {"marker", "A marker has a mistake"},
    {"rbac-rule", "The API server would reject or ignore a declared rule"},
    {"mandate", "A component's mandate is incomplete, or a risky rule has no justification"},
    {"webhook", "The API server would reject a declared webhook"},
    {"crd", "The API server would reject or ignore a part of a CustomResourceDefinition"},
    {"output",
     "An output cannot be generated, or its folder has a file that rbacgen did not write"},
    {"drift", "A generated file differs from its sources"},
};

struct SourceFinding {
  const FindingRule* rule = nullptr;  // of kFindingRules
  Severity severity = Severity::kError;
  Place place;
  std::string message;
  std::string diff;  // only for a drift
};

// The rule with this id, which exists.
const FindingRule* RuleOf(std::string_view id);

// Adds the entries as findings of the rule.
void AddFindings(const Diagnostics& diagnostics, std::string_view rule,
                 std::vector<SourceFinding>* findings);

// "file:line: error: message [rule]" lines; the diff follows its line.
std::string FindingsText(std::span<const SourceFinding> findings);

// {"version": 1, "findings": [{"rule", "level", "file", "line", "message", "diff"}], "errors",
// "warnings"}. "line" and "diff" are omitted if the finding has none.
std::string FindingsJson(std::span<const SourceFinding> findings);

// A SARIF 2.1.0 log for GitHub code scanning. Files are relative to %SRCROOT%.
std::string FindingsSarif(std::span<const SourceFinding> findings, const std::string& version);

}  // namespace mandate::rbacgen
