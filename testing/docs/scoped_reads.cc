// The blocks of docs/scoped-reads.md, with what their reader has at that place.
#include <memory>
#include <string>
#include <utility>

#include "controllers/access_observer/access_observer.h"
#include "controllers/memcached/reconciler.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/manager.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/selector.h"

namespace mandate::docs {

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kMemcached = {.component = "memcached", .rules = kRules};

using appsv1::Deployment;
using corev1::ConfigMap;
using corev1::Pod;
using corev1::Secret;
using memcached::v1alpha1::Memcached;

struct MemcachedReconciler : Reconciler {
  explicit MemcachedReconciler(const Component& component,
                               std::shared_ptr<DemandSet> demands = nullptr)
      : component(component), demands(std::move(demands)) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override {
    ASSIGN_OR_RETURN(const Memcached memcached,
                     component.cache().Get<Memcached>(context, request.key));
    const auto& [ns, name] = request.key;
#include "testing/docs/scoped_reads_3.inc"
    return Result{.requeue_after = absl::Seconds(deployment.ok() ? 1 : 2)};
  }
  static absl::StatusOr<Result> ReportFailed(const CallContext& context, const Memcached& memcached,
                                             const absl::Status& why);

  const Component& component;
  const std::shared_ptr<DemandSet> demands;
};

absl::StatusOr<std::unique_ptr<Controller>> MakeScoped(const Component& component) {
  const auto map = [](const ConfigMap&) { return std::vector<Request>(); };
#include "testing/docs/scoped_reads_1.inc"
}

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
#include "testing/docs/scoped_reads_2.inc"
}

auto MakeManager(ManagerOptions options) {
  using mandate::kMemcached;
  return
#include "testing/docs/scoped_reads_4.inc"
}

}  // namespace mandate::docs
