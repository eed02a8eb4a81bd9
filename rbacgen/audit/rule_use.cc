#include "rbacgen/audit/rule_use.h"

#include "manager/core/strings.h"
#include "manager/rbac/covers.h"

namespace mandate::rbacgen {
namespace {

// The cache is bounded, because clients choose the verbs and paths.
constexpr size_t kMaxCached = 10000;

}  // namespace

void AddAtoms(const rbac::Rule& rule, const RuleAtom& like, std::vector<RuleAtom>* atoms) {
  for (rbac::Rule& part : rbac::Breakdown(rule)) {
    RuleAtom& atom = atoms->emplace_back(like);
    atom.rule = std::move(part);
  }
}

const std::vector<uint32_t>& RuleUse::Candidates(const rbac::Attributes& request) {
  const std::string key = StrCat(request.verb, "\n", request.api_group, "\n", request.resource,
                                 "\n", request.subresource, "\n", request.path);
  if (const auto known = candidates_.find(key); known != candidates_.end()) return known->second;
  if (candidates_.size() >= kMaxCached) candidates_.clear();
  std::vector<uint32_t>& found = candidates_[key];
  for (uint32_t i = 0; i < atoms_.size(); ++i) {
    const rbac::Rule& rule = atoms_[i].rule;
    if (!rbac::VerbMatches(rule, request.verb)) continue;
    if (request.is_resource_request
            ? rbac::GroupMatches(rule, request.api_group) &&
                  rbac::ResourceMatches(rule, request.resource, request.subresource)
            : rbac::UrlMatches(rule, request.path)) {
      found.push_back(i);
    }
  }
  return found;
}

bool RuleUse::Note(const rbac::Attributes& request) {
  bool any = false;
  for (const uint32_t i : Candidates(request)) {
    RuleAtom& atom = atoms_[i];
    if (request.is_resource_request) {
      if (!atom.ns.empty() && atom.ns != request.ns) continue;
      if (!rbac::NameMatches(atom.rule, request.name)) continue;
    }
    ++atom.uses;
    any = true;
  }
  return any;
}

}  // namespace mandate::rbacgen
