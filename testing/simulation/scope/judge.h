// Compares what is on the server with what the model expects.
#ifndef TESTING_SIMULATION_SCOPE_JUDGE_H_
#define TESTING_SIMULATION_SCOPE_JUDGE_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/hold.h"
#include "testing/simulation/scope/model.h"

namespace mandate::simulation {

// What people declared, as the server has it now.
Declared Declare(Cluster& cluster);

// Single-threaded.
class Judge {
 public:
  // Both outlive this.
  Judge(Cluster& cluster, const Held& held) : cluster_(cluster), held_(held) {}

  // Each difference as a sentence.
  std::vector<std::string> Verdict();
  // Roles and grants that were compared, in all verdicts.
  int64_t compared() const { return compared_; }

 private:
  bool Exists(const apiserver::GroupResource& kind, const std::string& uid) const;
  // It exists, and is not being deleted.
  bool Stays(const apiserver::GroupResource& kind, const std::string& uid) const;
  // Whether the object is kept out of the reach of its owner, who is then troubled.
  bool IsKept(const Json::Value& object, const std::string& owner_kind, bool wanted);
  void JudgeRole(const Json::Value& role);
  // A role that does not exist is not made while a binding that is kept would be revived by it, and
  // one that exists gets no new rules while a binding of an instance that is gone would grant them.
  // What an instance left, another one of its name may report.
  void NoteKept(const Json::Value& binding);
  // The instances of a troubled template are troubled.
  void SpreadTrouble();
  RoleId AbsentRole(const std::string& instance, const std::string& role_name,
                    const std::string& ns) const;
  void JudgeBinding(const Json::Value& binding);
  // A binding of an instance that is gone may be kept; what it grants may not.
  void JudgeKept(const Json::Value& binding, const std::string& owner);
  void JudgeMissing();
  void JudgeCondition(const Json::Value& object, const std::string& type);
  // What somebody took the owner off gets it back where it is wanted. Where it is not, it may stay,
  // as only what has our owner is deleted, but what still grants is reported.
  void JudgeOwnerless(const Json::Value& object, const char* label,
                      const apiserver::GroupResource& owners);
  void Wrong(std::string what) { wrong_.push_back(std::move(what)); }

  Cluster& cluster_;
  const Held& held_;
  int64_t compared_ = 0;

  // Of one verdict.
  Expected expected_;
  std::map<std::string, RoleId> roles_;  // by the ClusterRole's name
  std::set<RoleId> role_seen_;
  std::set<GrantId> grant_seen_;
  // Templates and instances, by UID, that a stranger keeps from what is wanted, or for which he
  // keeps alive what is not: success would lie.
  std::set<std::string> troubled_;
  // Those that he keeps from what is wanted: not all of it can be there.
  std::set<std::string> lacking_;
  // Those for which a name may be taken: what they report is not judged.
  std::set<std::string> unsure_;
  // Templates whose roles get no new rules.
  std::set<std::string> blocked_;
  // Instances whose template lacks a role: what they have may stay.
  std::set<std::string> frozen_;
  std::vector<std::string> wrong_;
};

// The controller's UID, if it is of `kind`; else empty.
std::string ControllerOf(const Json::Value& object, const std::string& kind);

// The names of templates' roles begin with it.
inline constexpr std::string_view kRolePrefix = "scope-template:";
bool IsLiteral(const std::string& generate_name);

// Of a role's name: "fooClusterRole-" of "scope-template:fooClusterRole-bcdfghjkl2", "literal" of
// "scope-template:literal". Empty: no template's role has such a name.
std::string GenerateNameOf(std::string_view name);

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_JUDGE_H_
