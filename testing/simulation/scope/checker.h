// Compares the server's objects with the objects that the model expects.
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/hold.h"
#include "testing/simulation/scope/model.h"

namespace mandate::simulation {

// The declarations that the server has now.
Declared Declare(Cluster& cluster);

// Compares the objects on the server with the expected ones. Single-threaded.
class Checker {
 public:
  // `cluster` and `held` outlive this.
  Checker(Cluster& cluster, const Held& held) : cluster_(cluster), held_(held) {}

  // Compares, and returns each difference as a sentence.
  std::vector<std::string> Differences();
  // The number of roles and grants that all comparisons covered.
  int64_t compared() const { return compared_; }

 private:
  bool Exists(const apiserver::GroupResource& kind, const std::string& uid) const;
  // Whether the object exists and is not being deleted.
  bool Stays(const apiserver::GroupResource& kind, const std::string& uid) const;
  // Whether a stranger keeps the object from its owner, which is then marked as troubled.
  bool IsKept(const Json::Value& object, const std::string& owner_kind, bool wanted);
  void CheckRole(const Json::Value& role);
  // A missing role is not created while it would revive a binding that is kept. An existing role
  // gets no new rules while a binding of a deleted instance would grant them. A later instance of
  // the same name may report objects that the deleted one left.
  void NoteKept(const Json::Value& binding);
  // The instances of a troubled template are troubled, too.
  void SpreadTrouble();
  RoleId AbsentRole(const std::string& instance, const std::string& role_name,
                    const std::string& ns) const;
  void CheckBinding(const Json::Value& binding);
  // A binding of a deleted instance may exist; it must not grant anything.
  void CheckKept(const Json::Value& binding, const std::string& owner);
  void CheckMissing();
  void CheckCondition(const Json::Value& object, const std::string& type);
  // A wanted object without its owner reference gets it back. An unwanted one may stay, because we
  // delete only objects with our owner reference; if it still grants something, it is reported.
  void CheckOwnerless(const Json::Value& object, const char* label,
                      const apiserver::GroupResource& owners);
  void Wrong(std::string what) { wrong_.push_back(std::move(what)); }

  Cluster& cluster_;
  const Held& held_;
  int64_t compared_ = 0;

  // State of one comparison.
  Expected expected_;
  std::map<std::string, RoleId> roles_;  // by the ClusterRole's name
  std::set<RoleId> role_seen_;
  std::set<GrantId> grant_seen_;
  // UIDs of templates and instances for which a stranger prevents the desired state, so that they
  // must not report success.
  std::set<std::string> troubled_;
  // The troubled ones whose wanted objects cannot all exist.
  std::set<std::string> lacking_;
  // The UIDs of templates and instances for which another client may already use the name of an
  // object that they need. Their conditions are not checked.
  std::set<std::string> unsure_;
  // Templates whose roles get no new rules.
  std::set<std::string> blocked_;
  // Instances whose template lacks a role, so that their grants may stay.
  std::set<std::string> frozen_;
  std::vector<std::string> wrong_;
};

// The UID of the controller if its kind is `kind`; otherwise empty.
std::string ControllerOf(const Json::Value& object, const std::string& kind);

// The prefix of the names of templates' roles.
inline constexpr std::string_view kRolePrefix = "scope-template:";

// The generateName of a role's name, with the dash before the suffix: "fooClusterRole-" for
// "scope-template:fooClusterRole-bcdfghjkl2". Empty if no template's role can have the name.
std::string GenerateNameOf(std::string_view name);

}  // namespace mandate::simulation
