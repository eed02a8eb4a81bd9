#include "testing/environment/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "manager/core/testing/must.h"
#include "manager/kubeconfig/kubeconfig.h"

namespace mandate {
namespace {

std::vector<Json::Value> Read(const std::vector<std::string>& files) {
  std::vector<Json::Value> documents;
  for (const std::string& file : files) {
    for (Json::Value& document : Must(ReadYamlFile(file))) documents.push_back(std::move(document));
  }
  return documents;
}

// Definitions may have parts that the double does not check: it prints them.
std::unique_ptr<apiserver::ApiServer> Serve(const std::vector<Json::Value>& definitions) {
  apiserver::ServerOptions options;
  for (const Json::Value& json : definitions) options.objects.push_back(WriteJson(json));
  return Must(apiserver::ApiServer::Create(std::move(options)));
}

ClusterConfig ConfigOf(const apiserver::ApiServer& server) {
  ClusterConfig cluster;
  cluster.endpoint.server = server.url();
  cluster.endpoint.ca_pem = server.ca_pem();
  cluster.base = StaticToken{std::make_shared<const Secret>(apiserver::kAdminToken)};
  return cluster;
}

// The test waits in vain where a permission is missing on purpose.
absl::Duration PatienceOf(const EnvironmentOptions& options) {
  const bool mutated = !RemovedPermission().empty();
  return mutated ? std::min(options.patience, absl::Seconds(10)) : options.patience;
}

absl::Status NoName() {
  return absl::InvalidArgumentError("the object has no name; GrantExternal() is for a namespace");
}

}  // namespace

std::string TestKubeconfig() {
  const char* const path = std::getenv("MANDATE_TEST_KUBECONFIG");
  return path == nullptr ? "" : path;
}

Environment::Environment(EnvironmentOptions options) : patience_(PatienceOf(options)) {
  std::vector<Json::Value> definitions = Read(options.crds);
  if (options.kubeconfig.empty()) server_ = Serve(std::exchange(definitions, {}));
  const ClusterConfig cluster =
      on_double() ? ConfigOf(*server_) : Must(LoadKubeconfig({options.kubeconfig}));
  administrator_ = Must(Administrator::Create(cluster));
  client_.emplace(Must(Client<kAdministrator>::Create(administrator_->client())));
  Installation::Options installation{.administrator = *administrator_,
                                     .components = {},
                                     .namespaces = std::move(options.namespaces),
                                     .definitions = std::move(definitions),
                                     .patience = patience_};
  for (const ComponentSpec& spec : options.components) {
    installation.components.push_back(spec.mandate);
  }
  installation_ = Must(Installation::Create(std::move(installation)));
  base_.emplace(kTestBase, ns());
  ManagerOptions manager = TestManagerOptions(ns(), base_->mandate(), log_);
  manager.cluster = cluster;
  manager.cluster.base = StaticToken{installation_->base_token()};
  if (options.configure) options.configure(manager);
  auto created = Manager::Create(std::move(manager), std::move(options.components));
  if (!created.ok() && !on_double()) installation_->Remove().IgnoreError();
  manager_.Start(Must(std::move(created)));
}

Environment::~Environment() {
  if (const absl::Status ended = manager_.Stop(); !ended.ok()) {
    ADD_FAILURE() << "the manager did not end cleanly: " << ended << LastLines();
  }
  if (on_double()) return;
  if (const absl::Status removed = installation_->Remove(); !removed.ok()) {
    ADD_FAILURE() << "not everything was removed from the cluster: " << removed.message();
  }
}

apiserver::ApiServer& Environment::server() {
  if (!on_double()) {
    std::cerr << "this environment has no double: skip the test unless on_double()\n";
    std::abort();
  }
  return *server_;
}

void Environment::Await(ObjectWait wait, ObjectsCheck check, TestLine at) {
  // The test has failed, and what it waits for next mostly follows from what did not come.
  if (waited_in_vain_) wait.patience = std::min(wait.patience, absl::Seconds(1));
  const absl::Status status = AwaitObjects(*administrator_, wait, check);
  if (status.ok()) return;
  waited_in_vain_ = true;
  ADD_FAILURE_AT(at.file, at.line) << status.message() << LastLines();
}

void Environment::Check(const absl::Status& status, std::string_view action, TestLine at) {
  if (status.ok()) return;
  ADD_FAILURE_AT(at.file, at.line) << "cannot " << action << ": " << status << LastLines();
}

std::string Environment::LastLines() const {
  constexpr size_t kShown = 10;
  const std::vector<std::string> lines = log_->lines();
  std::string text = "\nThe last lines of the manager's log:";
  for (size_t i = lines.size() - std::min(kShown, lines.size()); i < lines.size(); ++i) {
    StrAppend(&text, "\n  ", lines[i]);
  }
  return text;
}

void Environment::Deny(const rbac::Mandate& component, TestLine at) {
  Check(installation_->Deny(component), "deny", at);
}

void Environment::Deny(const rbac::Permission& permission, TestLine at) {
  Check(installation_->Deny(permission), "deny", at);
}

void Environment::Grant(const rbac::Mandate& component, TestLine at) {
  Check(installation_->Grant(component), "grant", at);
}

void Environment::Grant(const rbac::Permission& permission, TestLine at) {
  Check(installation_->Grant(permission), "grant", at);
}

void Environment::GrantExternal(const rbac::Mandate& component, const std::string& in,
                                TestLine at) {
  Check(installation_->GrantExternal(component, {in, ""}), "grant", at);
}

void Environment::GrantExternalObject(const rbac::Mandate& component, const ObjectKey& object,
                                      TestLine at) {
  Check(object.name.empty() ? NoName() : installation_->GrantExternal(component, object), "grant",
        at);
}

void Environment::DenyExternalObject(const rbac::Mandate& component, const ObjectKey& object,
                                     TestLine at) {
  Check(object.name.empty() ? NoName() : installation_->DenyExternal(component, object), "deny",
        at);
}

void Environment::DenyExternal(const rbac::Mandate& component, const std::string& in, TestLine at) {
  Check(installation_->DenyExternal(component, {in, ""}), "deny", at);
}

}  // namespace mandate
