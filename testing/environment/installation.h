// A namespace of a cluster with all that a manager and its components need there, and the
// permissions of the components, which can be removed and returned.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/secret.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/mandate_without.h"
#include "testing/environment/administrator.h"
#include "testing/environment/grants.h"

namespace mandate {

// The permission that the environment variable MANDATE_WITHOUT removes from every installation, for
// `rbacgen mutate` (manager/client/testing/mandate_server.h); empty: none.
std::string RemovedPermission();

// For one thread. Errors are RestClient's, unless a function says otherwise.
class Installation {
 public:
  struct Options {
    Administrator& administrator;                  // outlives the installation
    std::vector<const rbac::Mandate*> components;  // constants of the program
    std::vector<std::string> namespaces = {};      // further ones, which may exist
    std::vector<Json::Value> definitions = {};     // of custom resources; these may exist, too
    absl::Duration patience;                       // the longest wait of a call
  };
  // Creates the definitions, the namespaces, the ServiceAccounts, the roles and the bindings, and
  // requests a token of base. Returns when they are in effect. After an error nothing of it stays.
  static absl::StatusOr<std::unique_ptr<Installation>> Create(Options options);

  // Deletes what Create() has created, and waits until the definitions and the further namespaces
  // are gone, so that the next installation can create them again.
  absl::Status Remove();

  // The manager's namespace. The server has chosen its name.
  const std::string& ns() const { return ns_; }
  const std::shared_ptr<const Secret>& base_token() const { return base_token_; }

  // Removes a permission from the component's roles, or all of its permissions. Like Grant(), it
  // returns when the API server acts accordingly.
  // kInvalidArgument: the component does not have it.
  absl::Status Deny(const rbac::Permission& permission);
  absl::Status Deny(const rbac::Mandate& component);
  // Returns one, or all of them.
  absl::Status Grant(const rbac::Permission& permission);
  absl::Status Grant(const rbac::Mandate& component);
  // Grants the component's rules with granted=external in namespace `where.ns` (empty: in the
  // cluster), or for the object `where.name` alone, and removes that grant.
  absl::Status GrantExternal(const rbac::Mandate& component, const ObjectKey& where);
  absl::Status DenyExternal(const rbac::Mandate& component, const ObjectKey& where);

 private:
  struct Component {
    const rbac::Mandate* declared;
    bool denied_all = false;
    std::set<std::string> denied;  // Permission::ToString()
    std::set<ObjectKey> external;  // where its external rules are granted
  };

  explicit Installation(Options options) : options_(std::move(options)) {}
  absl::Status Build();
  absl::Status AddDefinitions();
  absl::Status AddNamespaces();
  absl::Status AddComponent(const rbac::Mandate& mandate);
  absl::Status AddBase();

  // kInvalidArgument: the component is not one of this installation.
  absl::StatusOr<Component*> Find(std::string_view name);
  static std::list<rbac::MandateWithout> GrantedOf(const Component& component);
  absl::Status WriteRoles(const Component& component);
  // Waits until the server acts according to `granted`, a part of `declared`.
  absl::Status AwaitRoles(const rbac::Mandate& declared, const rbac::Mandate& granted);

  // The same for the external rules, of which one grant was made, or removed.
  absl::Status AwaitExternal(const Component& component, const ObjectKey& where, bool allowed);

  // Notes it for Remove().
  absl::StatusOr<Json::Value> Create(const ApiObject& object);
  // Returns the answer's object.
  absl::StatusOr<Json::Value> Send(std::string method, std::string target, const Json::Value& body,
                                   std::string content_type = "application/json");

  const Options options_;
  std::string ns_;
  std::shared_ptr<const Secret> base_token_;
  std::map<std::string, Component, std::less<>> components_;
  std::vector<ApiObject> created_;  // in order
};

}  // namespace mandate
