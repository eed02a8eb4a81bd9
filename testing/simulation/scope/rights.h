// Tracks which subject has which rights, and whether they were ever declared. An object that may
// not be revoked keeps its rights; it must not get more because another object was written.
#pragma once

#include <jsoncpp/json/json.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "testing/apiserver/store.h"
#include "testing/simulation/scope/model.h"

namespace mandate::simulation {

// Single-threaded.
class Rights {
 public:
  // Sets the declarations from now on.
  void OnDeclared(Declared declared, absl::Time now);
  // A ClusterRole or a binding was created, changed or deleted.
  void OnChange(const apiserver::Change& change, absl::Time now);

  // The rights that the last write of this ClusterRole, or of this binding ("ns/name"; "/name": in
  // the cluster), gave to subjects without a declaration, each as "User a gets get pods in b". The
  // written object is combined only with roles or bindings that have existed for a while, because
  // its writer had to know them.
  std::vector<std::string> GivenByRole(const std::string& role, absl::Time now) const;
  std::vector<std::string> GivenByBinding(const std::string& binding, absl::Time now) const;

 private:
  using Since = std::map<std::string, absl::Time>;
  struct BindingState {
    std::string ns, role;
    Since subjects = {};
  };

  void Mean(const Declared& declared);
  void Compare(const BindingState& binding, bool role_is_new, absl::Time now,
               std::vector<std::string>& unmeant) const;

  std::map<std::string, Since> roles_;  // verbs and resources, by the ClusterRole's name
  std::map<std::string, BindingState> bindings_;
  std::deque<std::pair<absl::Time, Declared>> recent_;
  std::set<std::string> meant_;  // "User a/get pods/ns"; namespace "*": all that it selects
};

}  // namespace mandate::simulation
