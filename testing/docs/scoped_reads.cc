// The blocks of docs/scoped-reads.md, with what their reader has at that place.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/ensure_owned.h"
#include "controllers/report.h"
#include "controllers/scope/kinds.h"
#include "manager/client/client.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/controller/demand_set.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
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
using corev1::Secret;
using Memcached = operatorsv1alpha1::ScopeInstance;  // any kind whose status has conditions

Deployment MakeDeployment(const Memcached& memcached, const Secret& secret);

class MemcachedReconciler : public Reconciler {
 public:
  MemcachedReconciler(const Component& component, Client<kMemcached> client,
                      std::shared_ptr<DemandSet> demands = nullptr)
      : component_(component), client_(std::move(client)), demands_(std::move(demands)) {}

#include "testing/docs/scoped_reads_3.inc"

 private:
  const Component& component_;
  Client<kMemcached> client_;
  const std::shared_ptr<DemandSet> demands_;
};

// Its type has the constant kMemcached, which is of this file alone.
[[maybe_unused]] absl::StatusOr<std::unique_ptr<Controller>> MakeScoped(
    const Component& component, const Client<kMemcached>& client) {
  const auto map = [](const ConfigMap&) { return std::vector<Request>(); };
#include "testing/docs/scoped_reads_1.inc"
}

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
#include "testing/docs/scoped_reads_2.inc"
}

}  // namespace mandate::docs
