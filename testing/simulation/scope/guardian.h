// Checks the properties that must hold at every moment of a run: every request has its component's
// identity and is within its mandate; no foreign object is changed; we never remove a grant that
// was wanted all the time; and no write of ours gives a subject a right that was never declared.
#pragma once

#include <jsoncpp/json/json.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/model.h"
#include "testing/simulation/scope/rights.h"

namespace mandate::simulation {

// Listens to the audit log and to every change of the cluster's objects. Single-threaded.
class Guardian {
 public:
  // `prompt`: nothing is late in this run, so a component cannot have acted on old data.
  Guardian(Cluster& cluster, bool prompt);  // `cluster` outlives this
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // The key of an object, such as "rolebindings ns/name". Foreign objects must not be changed.
  static std::string KeyOf(const apiserver::GroupResource& kind, const std::string& ns,
                           const std::string& name);
  void AddForeign(const std::string& key) { foreign_.insert(key); }
  void ForgetForeign(const std::string& key) { foreign_.erase(key); }

  // A ClusterRole that was taken over by another owner: bindings to it are revoked, wanted or not.
  void AddTakenRole(const std::string& name) { taken_roles_.insert(name); }

  // The UID of the template whose role has this name, or had it last; empty if no role ever had it.
  std::string TemplateOf(const std::string& role) const;

  // The number of writes of our components that the server carried out, without events.
  int64_t writes() const { return writes_; }
  int64_t requests() const { return requests_; }
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  struct Life {
    absl::Time born = {};
    bool ours = false;
    GrantId grant = {};
    std::string role = {};
    absl::Time gone = absl::InfiniteFuture();
  };

  void OnAudit(const Json::Value& event);
  void JudgeIdentity(const Json::Value& event, const std::string& user);
  void JudgeMandate(const Json::Value& event, const std::string& component);
  void JudgeWrite(const Json::Value& event, const std::string& key);
  void JudgeGiven(const Json::Value& event);
  void OnChange(const apiserver::Change& change);
  void OnDeclared();
  void OnGrant(const apiserver::Change& change);
  void Wrong(const std::string& what, const Json::Value& event);
  absl::Time Now() const { return cluster_.loop().clock().TimeNow(); }

  Cluster& cluster_;
  const bool prompt_;
  std::set<std::string> foreign_;
  std::set<std::string> taken_roles_;
  std::set<std::string> issued_;               // credential ids
  std::map<GrantId, absl::Time> wanted_;       // since when
  std::map<std::string, Life> lives_;          // of bindings, by UID
  std::map<std::string, absl::Time> changed_;  // when each object changed last, by key
  std::map<std::string, absl::Time> denied_;   // when a write of ours was denied last, by key
  Rights rights_;
  std::map<std::string, RoleId> roles_;    // ClusterRoles of templates, by name
  std::map<std::string, Life> last_gone_;  // the binding that was deleted last, by key
  std::vector<std::string> wrong_;
  int64_t writes_ = 0;
  int64_t requests_ = 0;
};

}  // namespace mandate::simulation
