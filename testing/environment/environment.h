// A running manager with the components of a test, on a double of the API server of its own, or in
// a namespace of a real control plane.
//
//   Environment environment({.components = {{&kGreeting, MakeOnlyController<MakeController>}},
//                            .crds = {"chart/crds/example.com_greetings.yaml"}});
//   environment.Create<Greeting>("{metadata: {name: ann}, spec: {name: Ann}}");
//   environment.Eventually<ConfigMap>(environment.Key("ann"), [](const ConfigMap& map) {
//     return map.data().at("message") == "Hello, Ann!";
//   });
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/testing/awaited_log.h"
#include "manager/manager.h"
#include "manager/object/json.h"
#include "manager/rbac/mandate_in_namespace.h"
#include "testing/apiserver/api_server.h"
#include "testing/environment/administrator.h"
#include "testing/environment/installation.h"
#include "testing/environment/manager_thread.h"
#include "testing/environment/object_wait.h"
#include "testing/environment/yaml_object.h"

namespace mandate {

// $MANDATE_TEST_KUBECONFIG, or empty.
std::string TestKubeconfig();

struct EnvironmentOptions {
  std::vector<ComponentSpec> components = {};
  // The files of the custom resource definitions, in YAML.
  std::vector<std::string> crds = {};
  // Namespaces to create, in addition to the environment's own and those that mandates name.
  std::vector<std::string> namespaces = {};
  // The longest wait of a call. Under `rbacgen mutate`, whose tests wait in vain: at most 10 s.
  absl::Duration patience = absl::Seconds(30);
  // The kubeconfig of an administrator of a real control plane. Everything that the environment
  // creates there is deleted at its end; definitions that existed stay. Empty: the double.
  std::string kubeconfig = TestKubeconfig();
  // Changes the options of the manager, which serves no webhooks, no metrics and no probes.
  std::function<void(ManagerOptions&)> configure = {};
};

// The line of a test that a failure names: of the call of the function whose default it is.
struct TestLine {
  static TestLine Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  const char* file;
  int line;
};

// The manager has base's credential, and each component has exactly what its mandate declares,
// without the rules with granted=external. All other calls act as an administrator. A call that
// fails adds a failure to the test, with the last lines of the manager's log, and returns an empty
// object: client() has the same calls with their errors. After a wait in vain, the later waits of
// the test are short.
//
// A namespaced object or key without a namespace is in the environment's own. YAML may omit
// apiVersion and kind. For one thread.
class Environment {
 public:
  // Returns when the manager runs; the components may still start. Aborts the process, with the
  // reason, if it cannot run.
  explicit Environment(EnvironmentOptions options);
  // Stops the manager. Adds a failure to the test if it has not ended cleanly.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // The namespace of the manager, its Lease and its ServiceAccounts.
  const std::string& ns() const { return installation_->ns(); }
  ObjectKey Key(std::string name) const { return {ns(), std::move(name)}; }

  template <Object T>
  T Create(T object, TestLine at = TestLine::Here()) {
    return Take(client().Create<T>(Context(), Placed(std::move(object))), "create", at);
  }
  template <Object T>
  T Create(std::string_view yaml, TestLine at = TestLine::Here()) {
    absl::StatusOr<T> object = Parse<T>(yaml);
    if (!object.ok()) return Take(std::move(object), "create", at);
    return Create(*std::move(object), at);
  }
  // Server-side apply.
  template <Object T>
  T Apply(T object, TestLine at = TestLine::Here()) {
    return Take(client().Apply<T>(Context(), Placed(std::move(object))), "apply", at);
  }
  template <Object T>
  T Apply(std::string_view yaml, TestLine at = TestLine::Here()) {
    absl::StatusOr<T> object = Parse<T>(yaml);
    if (!object.ok()) return Take(std::move(object), "apply", at);
    return Apply(*std::move(object), at);
  }
  // A merge patch in YAML: "spec: {name: Bob}".
  template <Object T>
  T Patch(const ObjectKey& key, std::string_view yaml, TestLine at = TestLine::Here()) {
    const absl::StatusOr<Json::Value> patch = ParseYaml(yaml);
    if (!patch.ok()) return Take(absl::StatusOr<T>(patch.status()), "patch", at);
    const auto merge = MergePatch::Unconditional(WriteJson(*patch));
    return Take(client().Patch<T>(Context(), Placed<T>(key), merge), "patch", at);
  }
  // An object with finalizers stays until these are removed: see Gone().
  template <Object T>
  void Delete(const ObjectKey& key, TestLine at = TestLine::Here()) {
    const absl::Status done = client().Delete<T>(Context(), Placed<T>(key)).status();
    Check(done, StrCat("delete a ", KindOf<T>::value.kind), at);
  }
  // nullopt: it is absent.
  template <Object T>
  std::optional<T> Get(const ObjectKey& key, TestLine at = TestLine::Here()) {
    absl::StatusOr<T> read = client().Get<T>(Context(), Placed<T>(key));
    if (absl::IsNotFound(read.status())) return std::nullopt;
    return Take(std::move(read), "get", at);
  }

  // Waits until `is_as_expected` is true for the object, and returns that object. It is called for
  // each state of the object, in order. A failure prints the object as it is.
  template <Object T, std::predicate<const T&> Predicate>
  T Eventually(const ObjectKey& key, Predicate is_as_expected, TestLine at = TestLine::Here()) {
    T found;
    const auto check = [&](const RawObjects& raw) {
      if (raw.empty()) return false;
      absl::StatusOr<T> object = raw.begin()->second->Decode<T>();
      if (!object.ok() || !is_as_expected(*object)) return false;
      found = *std::move(object);
      return true;
    };
    Await(
        {KindOf<T>::value, Placed<T>(key), patience_, "is not as expected", &T::default_instance()},
        check, at);
    return found;
  }
  // The same for all objects of namespace `ns` (empty: of the cluster), such as Events, which have
  // names that nobody knows: `are_as_expected` is called with them after each change, first when
  // all are known.
  template <Object T, std::predicate<const std::vector<T>&> Predicate>
  std::vector<T> EventuallyList(const std::string& ns, Predicate are_as_expected,
                                TestLine at = TestLine::Here()) {
    std::vector<T> found;
    const auto check = [&](const RawObjects& raw) {
      std::vector<T> objects;
      for (const RawObjects::value_type& object : raw) {
        absl::StatusOr<T> decoded = object.second->Decode<T>();
        if (!decoded.ok()) return false;
        objects.push_back(*std::move(decoded));
      }
      if (!are_as_expected(objects)) return false;
      found = std::move(objects);
      return true;
    };
    Await({KindOf<T>::value, ObjectKey{ns, ""}, patience_, "are not as expected",
           &T::default_instance()},
          check, at);
    return found;
  }
  // Waits until the object is absent.
  template <Object T>
  void Gone(const ObjectKey& key, TestLine at = TestLine::Here()) {
    Await(
        {KindOf<T>::value, Placed<T>(key), patience_, "still exists", &T::default_instance()},
        [](const RawObjects& raw) { return raw.empty(); }, at);
  }

  // Removes permissions from the component's roles: all of them, or one, such as {"greeting",
  // "create", "", "configmaps"}. From then on the API server denies such requests, but for those
  // that GrantExternalObject() has granted. An open watch goes on until the component proves its
  // access again, after five minutes, or at once if component access-observer runs, too.
  void Deny(const rbac::Mandate& component, TestLine at = TestLine::Here());
  void Deny(const rbac::Permission& permission, TestLine at = TestLine::Here());
  // Returns them.
  void Grant(const rbac::Mandate& component, TestLine at = TestLine::Here());
  void Grant(const rbac::Permission& permission, TestLine at = TestLine::Here());
  // Grants the rules with granted=external in namespace `in`, and removes this grant. Empty: in the
  // cluster. Returns when the API server's answers follow.
  void GrantExternal(const rbac::Mandate& component, const std::string& in,
                     TestLine at = TestLine::Here());
  void DenyExternal(const rbac::Mandate& component, const std::string& in,
                    TestLine at = TestLine::Here());
  // The same for one object alone, as a role with resourceNames permits it. Without a namespace: in
  // the cluster.
  void GrantExternalObject(const rbac::Mandate& component, const ObjectKey& object,
                           TestLine at = TestLine::Here());
  void DenyExternalObject(const rbac::Mandate& component, const ObjectKey& object,
                          TestLine at = TestLine::Here());

  // The lines that the manager has logged.
  AwaitedLog& log() { return *log_; }
  // An administrator's client, whose calls return their errors. `context` may be Context().
  Client<kAdministrator>& client() { return *client_; }
  CallContext Context() const { return administrator_->Within(patience_); }
  bool on_double() const { return server_ != nullptr; }
  // The double, for faults; aborts the process if there is none (on_double()). Faults also concern
  // the calls above, unless they except kAdminToken.
  apiserver::ApiServer& server();

 private:
  template <Object T>
  ObjectKey Placed(const ObjectKey& key) const {
    const bool missing = KindOf<T>::value.scope == Scope::kNamespaced && key.ns.empty();
    return missing ? Key(key.name) : key;
  }
  template <Object T>
  T Placed(T object) const {
    const std::string ns = Placed<T>(KeyOf(object)).ns;
    if (!ns.empty()) object.mutable_metadata()->set_namespace_(ns);
    return object;
  }
  template <Object T>
  static absl::StatusOr<T> Parse(std::string_view yaml) {
    T object;
    RETURN_IF_ERROR(ParseYamlObject(yaml, KindOf<T>::value, object));
    return object;
  }
  template <Object T>
  T Take(absl::StatusOr<T> result, std::string_view verb, TestLine at) {
    if (result.ok()) return *std::move(result);
    Check(result.status(), StrCat(verb, " a ", KindOf<T>::value.kind), at);
    return T();
  }

  void Await(ObjectWait wait, ObjectsCheck check, TestLine at);
  // Adds a failure unless `status` is OK. `action` has the form "create a ConfigMap".
  void Check(const absl::Status& status, std::string_view action, TestLine at);
  std::string LastLines() const;

  const absl::Duration patience_;
  bool waited_in_vain_ = false;
  const std::shared_ptr<AwaitedLog> log_ = std::make_shared<AwaitedLog>();
  std::unique_ptr<apiserver::ApiServer> server_;
  std::unique_ptr<Administrator> administrator_;
  std::optional<Client<kAdministrator>> client_;
  std::unique_ptr<Installation> installation_;
  std::optional<rbac::MandateInNamespace> base_;
  ManagerThread manager_;
};

}  // namespace mandate
