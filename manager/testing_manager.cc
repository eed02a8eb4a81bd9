#include "manager/testing_manager.h"

#include <span>
#include <utility>

#include "manager/core/clock.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using apiserver::ServerCore;

constexpr char kNamespace[] = "default";
constexpr char kBase[] = "mandate-manager";

constexpr std::string_view kHold[] = {"get", "update"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr rbac::MandateRule kBaseRules[] = {
    {{kHold, kCoordination, kLeases, {}, {}}, kNamespace, false}};
constexpr rbac::Mandate kBaseMandate = {"base", kBaseRules};

std::string AccountOf(const rbac::Mandate& component) {
  return StrCat(kBase, "-", component.component);
}

Json::Value List(std::span<const std::string_view> items) {
  Json::Value list(Json::arrayValue);
  for (const std::string_view item : items) list.append(std::string(item));
  return list;
}

Json::Value RuleOf(const rbac::RuleView& rule) {
  Json::Value json;
  json["verbs"] = List(rule.verbs);
  json["apiGroups"] = List(rule.api_groups);
  json["resources"] = List(rule.resources);
  return json;
}

// A role and its binding to the ServiceAccount, all of one name; `ns` empty: cluster-wide.
void AddRole(const std::string& name, const std::string& ns, const Json::Value& rules,
             apiserver::ServerOptions& serve) {
  const std::string kind = ns.empty() ? "ClusterRole" : "Role";
  Json::Value role;
  role["apiVersion"] = "rbac.authorization.k8s.io/v1";
  role["metadata"]["name"] = name;
  if (!ns.empty()) role["metadata"]["namespace"] = ns;
  Json::Value binding = role;
  role["kind"] = kind;
  role["rules"] = rules;
  binding["kind"] = kind + "Binding";
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = kind;
  binding["roleRef"]["name"] = name;
  Json::Value& subject = binding["subjects"][0];
  subject["kind"] = "ServiceAccount";
  subject["namespace"] = kNamespace;
  subject["name"] = name;
  serve.objects.push_back(WriteJson(role));
  serve.objects.push_back(WriteJson(binding));
}

void AddComponent(const rbac::Mandate& component, apiserver::ServerOptions& serve) {
  const std::string account = AccountOf(component);
  serve.objects.push_back(StrCat(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":)"
                                 R"({"namespace":"default","name":")",
                                 account, R"("}})"));
  Json::Value rules(Json::arrayValue);
  for (const rbac::MandateRule& r : component.rules) rules.append(RuleOf(r.rule));
  if (!rules.empty()) AddRole(account, "", rules, serve);
}

// Base may request tokens of these components and use the Lease.
void AddBase(const std::vector<const rbac::Mandate*>& components, apiserver::ServerOptions& serve) {
  apiserver::User& base = serve.access.fixed_tokens[kBaseToken];
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNamespace, kBase);
  Json::Value tokens;
  tokens["verbs"].append("create");
  tokens["apiGroups"].append("");
  tokens["resources"].append("serviceaccounts/token");
  for (const rbac::Mandate* c : components) tokens["resourceNames"].append(AccountOf(*c));
  Json::Value lease = RuleOf(kBaseRules[0].rule);
  lease["resourceNames"].append(kBase);
  Json::Value rules;
  rules.append(tokens);
  rules.append(lease);
  AddRole(kBase, kNamespace, rules, serve);
  serve.objects.push_back(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"mandate-manager","namespace":"default"},"spec":{}})");
}

}  // namespace

void AwaitedLog::Write(const LogRecord& record) {
  LogCapture::Write(record);
  MutexLock lock(mutex_);
  changed_.NotifyAll();
}

std::string AwaitedLog::Await(std::string_view text) {
  MutexLock lock(mutex_);
  while (Count(text) == 0) changed_.Wait(mutex_);
  return Last(text);
}

TestManager::TestManager(const std::vector<const rbac::Mandate*>& components) {
  apiserver::ServerOptions serve;
  for (const rbac::Mandate* component : components) AddComponent(*component, serve);
  AddBase(components, serve);
  server_ = Must(ApiServer::Create(std::move(serve)));
  options.cluster.endpoint.server = server_->url();
  options.cluster.endpoint.ca_pem = server_->ca_pem();
  options.cluster.base = StaticToken{std::make_shared<const Secret>(kBaseToken)};
  options.ns = kNamespace;
  options.version = "test";
  options.base_mandate = &kBaseMandate;
  options.health_address = "0";
  options.metrics_address = "0";
  options.log = Logger(log_, Clock::Real());
}

TestManager::~TestManager() { RequestStop(); }

absl::StatusOr<std::unique_ptr<Manager>> TestManager::Create(
    std::vector<ComponentSpec> components) const {
  return Manager::Create(options, std::move(components));
}

void TestManager::Run(std::vector<ComponentSpec> components) {
  manager_ = Must(Create(std::move(components)));
  runs_ = std::jthread([this] { result_ = manager_->Run(stop_.get_token()); });
}

absl::Status TestManager::Join() {
  if (runs_.joinable()) runs_.join();
  return result_;
}

absl::Status TestManager::Stop() {
  RequestStop();
  return Join();
}

std::string TestManager::Holder() {
  std::string holder;
  server_->OnLoop([&](ServerCore& core) {
    const auto lease = core.store().Get({"coordination.k8s.io", "leases"}, kNamespace, kBase);
    if (lease != nullptr) holder = lease->Parse()["spec"]["holderIdentity"].asString();
  });
  return holder;
}

size_t TestManager::EventWrites() {
  size_t writes = 0;
  server_->OnLoop([&](ServerCore& core) {
    for (const auto& change : core.store().changes())
      writes += change.resource.resource == "events";
  });
  return writes;
}

}  // namespace mandate
