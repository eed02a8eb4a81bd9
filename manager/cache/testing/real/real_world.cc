#include "manager/cache/testing/real/real_world.h"

#include <optional>
#include <utility>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

constexpr std::string_view kRbac = "/apis/rbac.authorization.k8s.io/v1";
constexpr std::string_view kAuthorizer = "rbac.authorization.k8s.io";
constexpr std::string_view kReader = "model-reader";
constexpr std::string_view kNamespaces[] = {"foo", "bar", "baz", "qux"};

std::string Bindings(const WatchScope& scope) {
  return scope.ns.empty() ? StrCat(kRbac, "/clusterrolebindings")
                          : StrCat(kRbac, "/namespaces/", scope.ns, "/rolebindings");
}

// The role of a single object is "model-reader-0"; hack/scoped_model_test creates them all.
std::string RoleOf(const WatchScope& scope) {
  return StrCat(kReader, scope.name.empty() ? "" : "-", scope.name);
}

std::string BindingOf(const std::string& component, const WatchScope& scope) {
  return StrCat("model-", component, scope.name.empty() ? "" : "-", scope.name);
}

std::string AccountOf(const std::string& component) {
  return StrCat("mandate-manager-", component);
}

Json::Value Binding(const std::string& component, const WatchScope& scope) {
  Json::Value binding;
  binding["apiVersion"] = StrCat(kAuthorizer, "/v1");
  binding["kind"] = scope.ns.empty() ? "ClusterRoleBinding" : "RoleBinding";
  binding["metadata"]["name"] = BindingOf(component, scope);
  binding["metadata"]["labels"]["model"] = "true";
  binding["roleRef"]["apiGroup"] = std::string(kAuthorizer);
  binding["roleRef"]["kind"] = "ClusterRole";
  binding["roleRef"]["name"] = RoleOf(scope);
  Json::Value& subject = binding["subjects"][0];
  subject["kind"] = "ServiceAccount";
  subject["name"] = AccountOf(component);
  subject["namespace"] = std::string(kAccounts);
  return binding;
}

Json::Value Review(const std::string& component, const WatchScope& scope) {
  Json::Value review;
  review["apiVersion"] = "authorization.k8s.io/v1";
  review["kind"] = "SubjectAccessReview";
  Json::Value& spec = review["spec"];
  spec["user"] = StrCat("system:serviceaccount:", kAccounts, ":", AccountOf(component));
  Json::Value& attributes = spec["resourceAttributes"];
  attributes["verb"] = "watch";  // each role has both verbs
  attributes["group"] = std::string(kWidget.group);
  attributes["resource"] = std::string(kWidget.plural);
  if (!scope.ns.empty()) attributes["namespace"] = scope.ns;
  if (!scope.name.empty()) attributes["name"] = scope.name;
  return review;
}

Json::Value WidgetOf(const ObjectKey& key, const ObjectLabels& labels, int version, int serial) {
  Json::Value widget;
  widget["apiVersion"] = StrCat(kWidget.group, "/", kWidget.version);
  widget["kind"] = std::string(kWidget.kind);
  widget["metadata"]["name"] = key.name;
  widget["metadata"]["namespace"] = key.ns;
  if (version != 0) widget["metadata"]["resourceVersion"] = StrCat(version);
  for (const auto& [name, value] : labels) widget["metadata"]["labels"][name] = value;
  widget["spec"]["serial"] = serial;  // so that each write changes the object
  return widget;
}

// In one namespace the server applies a selector.
std::vector<WatchScope> Scopes() {
  std::vector<WatchScope> scopes = kScopes;
  scopes.push_back({"qux", "", "color=red"});
  return scopes;
}
std::vector<ObjectKey> Keys() {
  std::vector<ObjectKey> keys = kKeys;
  keys.insert(keys.end(), {{"qux", "0"}, {"qux", "1"}});
  return keys;
}

}  // namespace

RealWorld::RealWorld(RealServer& server, uint64_t seed)
    : ModelWorld({.loop = server.loop(),
                  .seed = seed,
                  .scopes = Scopes(),
                  .keys = Keys(),
                  .lateness = absl::Seconds(3)}),
      server_(server) {
  Choose(seed);
  CreateCache();
  AddComponents(server.clients());
}

RealWorld::~RealWorld() { server_.Disconnect(); }

void RealWorld::Choose(uint64_t seed) {
  options_.seed = seed;
  if (Die(2) == 0) options_.close_unused_watch_after = absl::Milliseconds(300);
  options_.close_covered_watch_after =
      Die(2) == 0 ? absl::InfiniteDuration() : absl::Milliseconds(Die(500));
  options_.proof_lifetime = absl::Milliseconds(1500 + Die(1000));
  options_.max_events_per_loop_turn = Die(2) == 0 ? 2 : 256;
  options_.probes = {.per_second = 20, .burst = 20, .hints = {.per_second = 20, .burst = 20}};
  const Backoff::Options soon = {.initial = absl::Milliseconds(100),
                                 .factor = 2,
                                 .max = absl::Milliseconds(400),
                                 .jitter = 0.2};
  options_.access.error_backoff = soon;
  options_.access.denied_backoff = soon;
  options_.access.min_interval = absl::Milliseconds(100);
  options_.reflector.backoff = soon;
  options_.reflector.forbidden_backoff = soon;
  options_.reflector.absent_backoff = soon;
  options_.reflector.retry_now_interval = absl::Milliseconds(100);
  options_.reflector.watch_list = Die(3) != 0;
  options_.reflector.page_size = 1 + static_cast<int>(Die(4));
  if (Die(2) == 0) options_.reflector.min_watch_timeout = absl::Seconds(2);
}

absl::Status RealWorld::Clear() {
  const std::string selected = "?labelSelector=model%3Dtrue";
  RETURN_IF_ERROR(server_.Ask("DELETE", StrCat(kRbac, "/clusterrolebindings", selected)));
  for (const std::string_view ns : kNamespaces) {
    RETURN_IF_ERROR(
        server_.Ask("DELETE", StrCat(kRbac, "/namespaces/", ns, "/rolebindings", selected)));
    RETURN_IF_ERROR(server_.Ask("DELETE", ResourceTarget(kWidget, {std::string(ns), ""})));
  }
  return absl::OkStatus();
}

absl::Status RealWorld::Put(const ObjectKey& key, const ObjectLabels& labels, Component* writer,
                            const std::function<void()>& then) {
  int version = 0;
  server_.OnLoop([&] {
    const ObjectHistory::State* const now = history_.Now(key);
    if (now != nullptr) version = now->version;
  });
  const std::string target = ResourceTarget(kWidget, version == 0 ? ObjectKey{key.ns, ""} : key);
  return server_.Ask(version == 0 ? "POST" : "PUT", target,
                     WidgetOf(key, labels, version, ++writes_), [&](const Json::Value& object) {
                       const Json::Value& meta = object["metadata"];
                       const int written = std::stoi(meta["resourceVersion"].asString());
                       history_.Put(key, written, labels, meta["uid"].asString());
                       if (writer != nullptr) NoteOwnWrite(*writer, key, written);
                       if (then) then();
                     });
}

absl::Status RealWorld::Delete(const ObjectKey& key, const std::function<void()>& then) {
  bool exists = false;
  server_.OnLoop([&] { exists = history_.Now(key) != nullptr; });
  if (!exists) return absl::OkStatus();
  return server_.Ask("DELETE", ResourceTarget(kWidget, key), Json::Value(),
                     [&](const Json::Value&) {
                       // The answer does not have the version of the deletion, which is greater
                       // than that of the last write, and smaller than that of the next one.
                       history_.Delete(key, history_.version() + 1);
                       if (then) then();
                     });
}

absl::Status RealWorld::Grant(const Component& component, const WatchScope& demanded) {
  const WatchScope scope = demanded.WithoutSelector();
  if (!bound_.insert({component.name, scope}).second) return absl::OkStatus();
  server_.OnLoop([&] { grants_.Grant(component.name, scope); });
  return server_.Ask("POST", Bindings(scope), Binding(component.name, scope));
}

absl::Status RealWorld::Revoke(const Component& component, const WatchScope& demanded) {
  const WatchScope scope = demanded.WithoutSelector();
  if (bound_.erase({component.name, scope}) == 0) return absl::OkStatus();
  RETURN_IF_ERROR(
      server_.Ask("DELETE", StrCat(Bindings(scope), "/", BindingOf(component.name, scope))));
  server_.OnLoop([&] { grants_.Revoke(component.name, scope, Now(), scopes()); });
  return absl::OkStatus();
}

absl::Status RealWorld::AwaitAccess() {
  const absl::Time deadline = Now() + server_.patience();
  for (const Component& component : components()) {
    for (const WatchScope& scope : scopes()) {
      bool agreed = false;
      while (true) {
        RETURN_IF_ERROR(server_.Ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                    Review(component.name, scope), [&](const Json::Value& review) {
                                      agreed = review["status"]["allowed"].asBool() ==
                                               grants_.Allows(component.name, scope);
                                    }));
        if (agreed) break;
        if (Now() > deadline) {
          return absl::DeadlineExceededError(StrCat("the server does not decide about ",
                                                    component.name, " \"", scope.ToString(),
                                                    "\" as its bindings say"));
        }
        server_.WaitForNews(absl::Milliseconds(20));
      }
    }
  }
  return absl::OkStatus();
}

void RealWorld::LoseCredential(Component& component) {
  server_.Hold();
  server_.OnLoop([&] {
    component.client->Revoke();
    cache().OnCredentialLost(component.name, absl::UnauthenticatedError("401"));
  });
  server_.OnQuietLoop([&] { ledger().LoseCredential(component.name); });
  server_.Release();
}

void RealWorld::Pause(Static& demand) {
  server_.Hold();
  server_.OnLoop([&] { demand.open->handle->Pause(); });
  server_.OnQuietLoop([&] {
    if (demand.open->sink != nullptr) demand.open->sink->Freeze(true);
  });
  server_.Release();
}

void RealWorld::Resume(Static& demand) {
  server_.OnLoop([&] {
    if (demand.open->sink != nullptr) demand.open->sink->Freeze(false);
    demand.open->handle->Resume();
  });
}

absl::Status RealWorld::AwaitNoViolation(absl::FunctionRef<void(Violations&)> check) {
  std::optional<Violations> last;
  const auto holds = [&] {
    last.emplace(loop().clock(), violations().start());
    check(*last);
    return last->texts().empty();
  };
  const absl::Time deadline = Now() + server_.patience();
  while (!server_.Await(holds, absl::Seconds(1)) && Now() < deadline) {
    for (const ObjectKey& key : {ObjectKey{"foo", "2"}, {"bar", "1"}, {"baz", "0"}, {"qux", "0"}}) {
      RETURN_IF_ERROR(Put(key, {{"color", "red"}}));
    }
  }
  server_.OnLoop([&] { violations().Add(*last); });
  return absl::OkStatus();
}

}  // namespace mandate::model
