// The identity of a request: its credential, its user agent and the user to impersonate.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/kubeconfig/token.h"
#include "manager/transport/transport.h"

namespace mandate {

// One identity at one cluster. Immutable, except that its token source is for the loop thread only.
// Only IdentityRegistry makes one, and outlives it.
class Identity {
 public:
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const std::string& cluster() const { return parts_.cluster; }
  // "scope-instance"; "base".
  const std::string& name() const { return parts_.name; }
  // The expected user name on the server, "system:serviceaccount:ns:name"; empty: unknown.
  const std::string& username() const { return parts_.username; }
  // "mandate-manager/1.0.0 (linux/amd64) scope-instance".
  const std::string& user_agent() const { return parts_.user_agent; }
  const std::shared_ptr<const Endpoint>& endpoint() const { return parts_.endpoint; }
  // Null: the credential is the endpoint's client certificate.
  TokenSource* tokens() const { return parts_.tokens; }

  // A request of this identity. `token` comes from tokens(); it is null exactly when tokens() is.
  HttpRequest Request(const Token* token, std::string method, std::string target) const;

 protected:
  friend class IdentityRegistry;  // it makes Parts
  struct Parts {
    std::string cluster = {};
    std::string name = {};
    std::string username = {};
    std::string user_agent = {};
    std::shared_ptr<const Endpoint> endpoint = {};
    TokenSource* tokens = nullptr;
    std::vector<std::pair<std::string, std::string>> headers = {};
  };
  explicit Identity(Parts parts) : parts_(std::move(parts)) {}
  ~Identity() = default;

 private:
  const Parts parts_;
};

// The identity of a component: controllers and webhooks have this type.
class ComponentIdentity final : public Identity {
 public:
  const std::string& service_account() const { return service_account_; }
  const std::string& ns() const { return ns_; }
  ~ComponentIdentity() = default;

 private:
  friend class IdentityRegistry;
  ComponentIdentity(Parts parts, std::string ns, std::string service_account)
      : Identity(std::move(parts)),
        ns_(std::move(ns)),
        service_account_(std::move(service_account)) {}
  const std::string ns_;
  const std::string service_account_;
};

// The manager's own identity. Only code that holds a BaseAccess can reach it.
class BaseIdentity final : public Identity {
 public:
  ~BaseIdentity() = default;

 private:
  friend class IdentityRegistry;
  explicit BaseIdentity(Parts parts) : Identity(std::move(parts)) {}
};

// Only the manager's assembly can make one.
class BaseAccess {
 private:
  friend class Manager;
  friend class BaseAccessForTest;
  explicit BaseAccess() {}
};

}  // namespace mandate
