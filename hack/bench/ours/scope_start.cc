// Measures how long both scope components take to start in a large cluster, and the longest turn of
// the loop. Uses the real loop, transport, cache and pools, and the double of an API server in the
// same process.
//
//   scope_start [NAMESPACES [INSTANCES [ROLES]]]     by default 3000 1000 800
//
// The exit code is 1 if the warm start takes more than 10 s, or a turn of the loop more than 50 ms.
//
// "cold" ends when every instance is Scoped. "warm" is a second start, which finds the desired
// state and ends when every instance and template has been reconciled.
#include <jsoncpp/json/json.h>
#include <time.h>
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/cache/cache.h"
#include "manager/client/component_client.h"
#include "manager/component.h"
#include "manager/core/event_loop.h"
#include "manager/core/strings.h"
#include "manager/core/thread_pool.h"
#include "manager/identity/identity_registry.h"
#include "manager/loop_call.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "manager/transport/http_transport.h"
#include "testing/apiserver/api_server.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::bench {
namespace {

constexpr char kNs[] = "bench";
constexpr char kAccount[] = "mandate-manager";
constexpr char kBaseToken[] = "base-token";
constexpr absl::Duration kLongTurn = absl::Milliseconds(50);
constexpr absl::Duration kLongStart = absl::Seconds(10);
constexpr absl::Duration kTimeout = absl::Minutes(10);

struct Size {
  int namespaces = 3000, instances = 1000, roles = 800;
};

template <class T>
T Must(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
  std::abort();
}

struct DiscardingEventRecorder : EventRecorder {
  void Record(const ObjectRef&, EventType, std::string_view, std::string_view,
              std::string_view) override {}
};

std::string Definition(std::string_view plural) {
  const std::string file = StrCat("charts/mandate/crds/operators.coreos.com_", plural, ".yaml");
  return WriteJson(conformance::ToJson(YAML::LoadFile(file)));
}

// Each instance names three namespaces and uses one template; each template has one role.
std::vector<std::string> Objects(const Size& size) {
  std::vector<std::string> objects = {Definition("scopetemplates"), Definition("scopeinstances")};
  const auto ns = [&](std::string_view name) {
    objects.push_back(
        StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name, R"("}})"));
  };
  ns(kNs);
  for (int i = 0; i < size.namespaces; ++i) ns(StrCat("n", i));
  for (const std::string_view component : {"scope-template", "scope-instance"}) {
    const std::string name = StrCat(kAccount, "-", component);
    objects.push_back(StrCat(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{)",
                             R"("namespace":")", kNs, R"(","name":")", name, R"("}})"));
  }
  // Access control is not measured, so base and the components are administrators.
  objects.push_back(StrCat(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":)",
      R"({"name":"bench"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)",
      R"("name":"cluster-admin"},"subjects":[{"kind":"Group","name":"system:serviceaccounts",)",
      R"("apiGroup":"rbac.authorization.k8s.io"}]})"));
  for (int i = 0; i < size.roles; ++i) {
    objects.push_back(StrCat(
        R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeTemplate","metadata":{)",
        R"("name":"t)", i, R"("},"spec":{"clusterRoles":[{"generateName":"r)", i,
        R"(-","rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}],)",
        R"("subjects":[{"kind":"User","name":"ann","apiGroup":"rbac.authorization.k8s.io"}]}]}})"));
  }
  for (int i = 0; i < size.instances; ++i) {
    const auto name = [&](int k) { return StrCat("\"n", (3 * i + k) % size.namespaces, "\""); };
    objects.push_back(StrCat(
        R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance","metadata":{)",
        R"("name":"i)", i, R"("},"spec":{"scopeTemplateName":"t)", i % size.roles,
        R"(","namespaces":[)", name(0), ",", name(1), ",", name(2), "]}}"));
  }
  return objects;
}

double CpuSeconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

// The CPU time so far, in seconds. The double does all its work on its loop.
struct Cpu {
  explicit Cpu(apiserver::ApiServer& server) {
    server.OnLoop([&](auto&) { doubles = CpuSeconds(CLOCK_THREAD_CPUTIME_ID); });
    ours = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - doubles;
  }
  double doubles, ours;
};

// Both components, from a start to a stop.
class Components {
 public:
  explicit Components(apiserver::ApiServer& server)
      : loop_(Must(EventLoop::Create({.turn_limit = kLongTurn}))),
        transport_(Must(HttpTransport::Create(*loop_, {}))) {
    CallOnLoop(*loop_, [&] { Build(server); });
  }
  ~Components() {
    for (auto& controller : controllers_) controller->RequestStop();
    for (auto& controller : controllers_) {
      (void)controller->Stop(loop_->clock().TimeNow() + absl::Minutes(1));
    }
    CallOnLoop(*loop_, [this] {
      controllers_.clear();
      cache_.reset();
      clients_.clear();
      identities_.reset();
      transport_.reset();
    });
    pools_.clear();
    loop_->Stop();
  }

  double Reconciled(const std::string& controller, const std::string& result) {
    return metrics_
        .Counter("controller_runtime_reconcile_total", "",
                 {{"controller", controller}, {"identity", controller}, {"result", result}})
        .Value();
  }
  // The number of reconciles, including those that request a later repetition, for example until
  // discovery has answered.
  double Reconciled(const std::string& controller) {
    return Reconciled(controller, "success") + Reconciled(controller, "requeue_after");
  }
  absl::Duration LongestTurn() { return loop_->stats().longest_run; }
  void PrintLongTurns() {
    for (const LoopActivity::Turn& turn : loop_->activity().Look().ended) {
      std::printf("  a turn of %s: %s\n", absl::FormatDuration(turn.length).c_str(),
                  turn.label.empty() ? "(no label)" : turn.label.c_str());
    }
  }

 private:
  void Build(apiserver::ApiServer& server) {
    IdentityRegistry::Options plane;
    plane.loop = loop_.get();
    plane.transport = transport_.get();
    ClusterConfig cluster{.name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = kNs};
    cluster.endpoint.server = server.url();
    cluster.endpoint.ca_pem = server.ca_pem();
    plane.clusters = {
        {cluster, {std::string(kScopeTemplate.component), std::string(kScopeInstance.component)}}};
    plane.ns = kNs;
    plane.version = "bench";
    plane.service_account = kAccount;
    plane.reader = [](const std::string&) { return kBaseToken; };
    identities_ = Must(IdentityRegistry::Create(std::move(plane)));
    cache_ = Must(Cache::Create({.loop = *loop_, .metrics = metrics_}));
    for (const rbac::Mandate* mandate : {&kScopeTemplate, &kScopeInstance}) {
      ComponentClient::Options client;
      client.loop = loop_.get();
      client.transport = transport_.get();
      client.identity = Must(identities_->Component("local", mandate->component));
      client.mandate = mandate;
      client.metrics = &metrics_;
      clients_.push_back(Must(ComponentClient::Create(std::move(client))));
      pools_.push_back(std::make_unique<ThreadPool>(5));
      CacheView& view = cache_->AddComponent(*clients_.back(), *mandate);
      components_.push_back(std::unique_ptr<Component>(new Component{
          *mandate, *clients_.back(), events_,
          ControllerContext{
              std::string(mandate->component), *loop_, *pools_.back(), view, metrics_, {}, 1}}));
      controllers_.push_back(Must(mandate == &kScopeTemplate
                                      ? scope::MakeTemplateController(*components_.back())
                                      : scope::MakeInstanceController(*components_.back())));
    }
    identities_->Start();
    for (auto& controller : controllers_) controller->Start();
  }

  Metrics metrics_;
  DiscardingEventRecorder events_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<IdentityRegistry> identities_;
  std::vector<std::unique_ptr<ComponentClient>> clients_;
  std::unique_ptr<Cache> cache_;
  std::vector<std::unique_ptr<ThreadPool>> pools_;
  std::vector<std::unique_ptr<Component>> components_;
  Controllers controllers_;
};

// The number of instances with Scoped=True on the server.
int Scoped(apiserver::ApiServer& server) {
  int scoped = 0;
  server.OnLoop([&](apiserver::ServerCore& core) {
    for (const auto& o : core.store().List({"operators.coreos.com", "scopeinstances"})) {
      if (o->json.find("ScopingSuccessful") != std::string::npos) ++scoped;
    }
  });
  return scoped;
}

// Polls until done() is true or a timeout; returns the time that passed.
template <class Done>
absl::Duration Wait(Done done) {
  const absl::Time start = Clock::Real().TimeNow();
  std::unique_ptr<EventLoop> timer = Must(EventLoop::Create({.thread_name = "bench-timer"}));
  while (!done() && Clock::Real().TimeNow() - start < kTimeout) {
    Latch tick;
    std::unique_ptr<Loop::Timer> at = CallOnLoop(*timer, [&] {
      return timer->RunAt(timer->clock().TimeNow() + absl::Milliseconds(20), [&] { tick.Set(); });
    });
    tick.Wait();
    CallOnLoop(*timer, [&] { at.reset(); });
  }
  timer->Stop();
  return Clock::Real().TimeNow() - start;
}

// Returns whether each turn of the loop was short.
bool Report(const char* phase, absl::Duration took, const Cpu& from, const Cpu& to,
            Components& components) {
  std::printf("%s: %s, %.1f s of CPU and %.1f s of the double's, longest turn of the loop %s\n",
              phase, absl::FormatDuration(took).c_str(), to.ours - from.ours,
              to.doubles - from.doubles, absl::FormatDuration(components.LongestTurn()).c_str());
  for (const char* controller : {"scope-template", "scope-instance"}) {
    std::printf("  %s: %.0f reconciles, %.0f errors\n", controller,
                components.Reconciled(controller), components.Reconciled(controller, "error"));
  }
  components.PrintLongTurns();
  std::fflush(stdout);
  return components.LongestTurn() <= kLongTurn;
}

// Returns whether the limits were met.
bool Run(const Size& size) {
  apiserver::ServerOptions options;
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kNs, kAccount);
  options.access.fixed_tokens[kBaseToken] = base;
  options.objects = Objects(size);
  const auto server = Must(apiserver::ApiServer::Create(std::move(options)));
  std::printf("%d namespaces, %d instances, %d roles\n", size.namespaces, size.instances,
              size.roles);
  bool kept = true;
  {
    const Cpu from(*server);
    Components components(*server);
    const absl::Duration took = Wait([&] { return Scoped(*server) == size.instances; });
    kept = Report("cold", took, from, Cpu(*server), components);
  }
  const Cpu from(*server);
  Components components(*server);
  const absl::Duration took = Wait([&] {
    return components.Reconciled("scope-instance") >= size.instances &&
           components.Reconciled("scope-template") >= size.roles;
  });
  kept = Report("warm", took, from, Cpu(*server), components) && kept && took <= kLongStart;
  if (!kept) {
    std::printf("beyond the limits: a warm start in %s, a turn of the loop in %s\n",
                absl::FormatDuration(kLongStart).c_str(), absl::FormatDuration(kLongTurn).c_str());
  }
  return kept;
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  mandate::bench::Size size;
  int* const parts[] = {&size.namespaces, &size.instances, &size.roles};
  for (int i = 1; i < argc && i <= 3; ++i) *parts[i - 1] = std::atoi(argv[i]);
  return mandate::bench::Run(size) ? 0 : 1;
}
