// The rules of an identity that its requests used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

// The smallest right: one verb on one resource with at most one name, or on one URL.
struct RuleAtom {
  std::string ns;  // empty: every namespace and cluster scope
  rbac::Rule rule;
  std::string source;     // the place of its marker, or the binding that grants it
  bool external = false;  // an administrator must grant it
  bool implicit = false;  // every component has it
  int64_t uses = 0;
};

// Adds the atoms of `rule`; their other fields are those of `like`.
void AddAtoms(const rbac::Rule& rule, const RuleAtom& like, std::vector<RuleAtom>* atoms);

// Not thread-safe.
class RuleUse {
 public:
  explicit RuleUse(std::vector<RuleAtom> atoms) : atoms_(std::move(atoms)) {}

  // Counts the request for each atom that allows it. False if no atom does.
  bool Note(const rbac::Attributes& request);

  const std::vector<RuleAtom>& atoms() const { return atoms_; }

 private:
  const std::vector<uint32_t>& Candidates(const rbac::Attributes& request);

  std::vector<RuleAtom> atoms_;
  // For each verb and resource that was seen: the atoms that allow it for some name in some
  // namespace.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> candidates_;
};

}  // namespace mandate::rbacgen
