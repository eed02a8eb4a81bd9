// The desired state that follows from ScopeTemplates and ScopeInstances, by the sentences of the
// Oria Operator's document and of docs/scope.md. It shares no code with controllers/scope:
// a role is identified by its template and generateName, never by its name.
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace mandate::simulation {

// One cluster role of one template.
struct RoleId {
  std::string template_uid;
  std::string generate_name;
  auto operator<=>(const RoleId&) const = default;
};

// One role in one namespace; an empty `ns` is the whole cluster.
struct GrantId {
  std::string instance_uid;
  RoleId role;
  std::string ns;
  auto operator<=>(const GrantId&) const = default;
};

// The declarations.
struct Declared {
  std::vector<Json::Value> templates, instances, namespaces;
};

// The desired state. Other grants and roles must not exist unless `frozen` allows them.
struct Expected {
  std::map<RoleId, Json::Value> roles;              // the rules
  std::map<GrantId, std::set<std::string>> grants;  // the subjects, as SubjectText
  // For invalid templates: these roles and grants may exist, with these subjects or fewer.
  std::map<RoleId, Json::Value> roles_at_most;
  std::map<GrantId, std::set<std::string>> grants_at_most;
  // Roles of these templates may exist: the templates are being deleted.
  std::set<std::string> frozen_templates;
  // Grants that a failed template leaves: they may exist for these instances and for roles of this
  // template, in these places.
  struct Frozen {
    std::string template_uid;
    bool everywhere = false;
    std::set<std::string> namespaces;
  };
  std::map<std::string, Frozen> frozen;  // by the instance's UID
  // The reason of the condition Templated or Scoped, by the owner's UID.
  std::map<std::string, std::string> reasons;

  bool Allows(const GrantId& grant) const;
};

Expected Expect(const Declared& declared);

// "ServiceAccount ns/name", "User name".
std::string SubjectText(const Json::Value& subject);

// The permissions of the rules, each as "get pods"; API groups are not distinguished.
std::set<std::string> AtomsOf(const Json::Value& rules);

// Whether the label selector, or plain map of labels, matches these labels.
bool Takes(const Json::Value& selector, const Json::Value& labels);

}  // namespace mandate::simulation
