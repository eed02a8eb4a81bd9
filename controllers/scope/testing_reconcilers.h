// Both reconcilers against a cache that shows what their writes did, and a server that can refuse.
#ifndef CONTROLLERS_SCOPE_TESTING_RECONCILERS_H_
#define CONTROLLERS_SCOPE_TESTING_RECONCILERS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "controllers/scope/testing_objects.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/object_codec.h"

namespace mandate::scope {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// Discovery.
inline constexpr char kCoreResources[] =
    R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1","resources":[)"
    R"({"resource":"nodes","scope":"Cluster"},{"resource":"pods","scope":"Namespaced"}]}]}]})";
inline constexpr char kNoResources[] = R"({"kind":"APIGroupDiscoveryList","items":[]})";

class RecordedEvents : public EventRecorder {
 public:
  void Eventf(const ObjectRef& regarding, EventType type, std::string_view reason,
              std::string_view action, std::string_view note) override {
    EXPECT_FALSE(action.empty() || note.empty());
    all.push_back(
        StrCat(type == EventType::kWarning ? "Warning " : "Normal ", regarding.kind, " ", reason));
  }
  std::vector<std::string> all;
};

class ReconcilersTest : public testing::Test {
 protected:
  ReconcilersTest()
      : view_(loop_), templates_(loop_, "scope-template"), instances_(loop_, "scope-instance") {
    for (const KindInfo& kind :
         {KindOf<ScopeTemplate>::value, KindOf<ScopeInstance>::value,
          KindOf<rbacv1::ClusterRole>::value, KindOf<rbacv1::RoleBinding>::value,
          KindOf<rbacv1::ClusterRoleBinding>::value, KindOf<corev1::Namespace>::value}) {
      demands_.push_back(view_.Demand({kind, "", ""}, nullptr));
    }
    templates_.Handle([this](const RestRequest& r) { return Serve(template_rights_, r); });
    instances_.Handle([this](const RestRequest& r) { return Serve(instance_rights_, r); });
    for (const char* name : {"foo", "bar", "default"}) view_.Put(NamespaceObject(name));
    loop_.RunReady();
  }

  // The writes, as "POST rolebindings foo"; what `refuse_` answers, or the component's mandate does
  // not cover, is not carried out.
  absl::StatusOr<HttpResponse> Serve(const MandateServer& rights, const RestRequest& request) {
    if (request.method == "GET") {
      const bool core = request.target == "/api";
      return FakeRestClient::Json(discovery_code_, core ? kCoreResources : kNoResources);
    }
    const Target target = Parse(request.target);
    writes_.push_back(
        StrCat(request.method, " ", target.resource, target.ns.empty() ? "" : " ", target.ns));
    if (refuse_) {
      if (std::optional<HttpResponse> no = refuse_(writes_.back())) return *no;
    }
    if (std::optional<HttpResponse> no = rights.Refuse(request)) return *no;
    if (target.resource == "clusterroles") {
      return Write<rbacv1::ClusterRole>(rights, "escalate", request, target);
    }
    if (target.resource == "rolebindings") {
      return Write<rbacv1::RoleBinding>(rights, "bind", request, target);
    }
    if (target.resource == "clusterrolebindings") {
      return Write<rbacv1::ClusterRoleBinding>(rights, "bind", request, target);
    }
    if (target.resource == "scopetemplates/status") return Status<ScopeTemplate>(request, target);
    return Status<ScopeInstance>(request, target);
  }

  struct Target {
    std::string ns, resource, name;
  };
  static Target Parse(std::string_view path) {
    path = path.substr(0, path.find('?'));
    std::vector<std::string> parts;
    while (!path.empty()) {
      path.remove_prefix(1);  // the slash
      const size_t end = std::min(path.find('/'), path.size());
      parts.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    }
    Target target;  // apis, group, version, …
    size_t i = 3;
    if (parts[i] == "namespaces") {
      target.ns = parts[i + 1];
      i += 2;
    }
    target.resource = parts[i++];
    if (i < parts.size()) target.name = parts[i++];
    if (i < parts.size()) target.resource += "/" + parts[i];
    return target;
  }

  // Who hands out what they do not hold needs `grants` of ClusterRoles.
  template <Object T>
  absl::StatusOr<HttpResponse> Write(const MandateServer& rights, std::string_view grants,
                                     const RestRequest& request, const Target& target) {
    if (request.method == "DELETE") {
      view_.Remove(KindOf<T>::value, {target.ns, target.name});
      return FakeRestClient::Json(200, R"({"kind":"Status","status":"Success"})");
    }
    const Encoding encoding = request.content_type.find("protobuf") == std::string::npos
                                  ? Encoding::kJson
                                  : Encoding::kProtobuf;
    auto object = DecodeObject<T>(request.body, encoding);
    EXPECT_TRUE(object.ok()) << object.status();
    if (!target.ns.empty()) object->mutable_metadata()->set_namespace_(target.ns);
    const KindInfo role = KindOf<rbacv1::ClusterRole>::value;
    if (auto no = rights.RefuseWithout(grants, role.group, role.plural)) return *no;
    // The admission plugin OwnerReferencesPermissionEnforcement.
    for (const auto& owner : object->metadata().ownerreferences()) {
      const KindInfo of = owner.kind() == "ScopeTemplate" ? KindOf<ScopeTemplate>::value
                                                          : KindOf<ScopeInstance>::value;
      if (!owner.blockownerdeletion()) continue;
      if (auto no = rights.RefuseWithout("update", of.group, of.plural, "finalizers")) return *no;
    }
    return Json(view_.Put(*object));
  }

  template <Object T>
  absl::StatusOr<HttpResponse> Status(const RestRequest& request, const Target& target) {
    auto applied = DecodeObject<T>(request.body, Encoding::kJson);
    EXPECT_TRUE(applied.ok()) << applied.status();
    auto object = view_.Get<T>({}, {"", target.name});
    EXPECT_TRUE(object.ok());
    *object->mutable_status() = applied->status();
    return Json(view_.Put(*object));
  }

  template <Object T>
  static HttpResponse Json(const T& object) {
    return FakeRestClient::Json(200, *EncodeObject(object, Encoding::kJson));
  }

  Component Of(const rbac::Mandate& mandate, RestClient& client) {
    return {
        mandate, client, events_,
        ControllerRuntime{std::string(mandate.component), loop_, loop_, view_, metrics_, {}, 1}};
  }

  absl::StatusOr<Result> ReconcileTemplate(std::string name = "foo") {
    const Component component = Of(kScopeTemplate, templates_);
    TemplateReconciler reconciler(component, *Client<kScopeTemplate>::Create(templates_));
    return reconciler.Reconcile({}, {{"", std::move(name)}});
  }
  absl::StatusOr<Result> ReconcileInstance() {
    const Component component = Of(kScopeInstance, instances_);
    InstanceReconciler reconciler(component, *Client<kScopeInstance>::Create(instances_));
    return reconciler.Reconcile({}, {{"", "foo"}});
  }
  void ReconcileBoth() {
    EXPECT_TRUE(ReconcileTemplate().ok());
    EXPECT_TRUE(ReconcileInstance().ok());
  }

  // "True ScopingSuccessful: …".
  std::string Scoped() { return ConditionOf(kScoped); }
  std::string ConditionOf(std::string_view type) {
    const auto instance = view_.Get<ScopeInstance>({}, {"", "foo"});
    for (const auto& c : instance->status().conditions()) {
      if (c.type() == type) return StrCat(c.status(), " ", c.reason(), ": ", c.message());
    }
    return "";
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  FakeCacheView view_;
  std::vector<std::unique_ptr<DemandHandle>> demands_;
  RecordedEvents events_;
  FakeRestClient templates_;
  FakeRestClient instances_;
  const MandateServer template_rights_{kScopeTemplate};
  const MandateServer instance_rights_{kScopeInstance};
  std::vector<std::string> writes_;
  std::function<std::optional<HttpResponse>(const std::string& write)> refuse_;
  int discovery_code_ = 200;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TESTING_RECONCILERS_H_
