// The blocks of docs/cache.md, with what their reader has at that place.
#include "manager/cache/cache.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/memcached/kind.h"
#include "controllers/scope/kinds.h"
#include "manager/controller/demand_for.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/apps_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/managed_fields.h"

namespace mandate::docs {

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kMemcached = {.component = "memcached", .rules = kRules};

using appsv1::Deployment;
using corev1::Pod;
using operatorsv1alpha1::ScopeInstance;
using rbacv1::RoleBinding;

struct Reader {
  bool Demand(std::shared_ptr<DemandSink> sink) {
#include "testing/docs/cache_1.inc"
    return demand != nullptr && ns.ok();
  }

  static absl::StatusOr<Result> ReportFailed(const memcached::v1alpha1::Memcached&,
                                             const absl::Status& why) {
    return why;
  }

  absl::StatusOr<Result> Replace(const memcached::v1alpha1::Memcached& memcached,
                                 const std::string& ns, const LabelSelector& selector) {
#include "testing/docs/cache_2.inc"
    return Result{};
  }

  absl::Status Index(const std::string& name) {
#include "testing/docs/cache_3.inc"
    return concerned.empty() ? absl::OkStatus() : instances.status();
  }

  static void Transform(Cache::Options& options){
#include "testing/docs/cache_4.inc"
  }

  CacheView& view;
  std::shared_ptr<DemandSet> demands;
  CallContext context;
};

}  // namespace mandate::docs
