#include "testing/simulation/scope/aggregator.h"

#include <memory>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/model.h"

namespace mandate::simulation {
namespace {

constexpr absl::Duration kLag = absl::Milliseconds(20);

}  // namespace

Aggregator::Aggregator(Cluster& cluster) : cluster_(cluster) {
  subscription_ =
      cluster_.store().Subscribe(ClusterRoles(), [this](const apiserver::Change& change) {
        if (change.type == apiserver::Change::Type::kDeleted) return;
        SimulatedLoop& loop = cluster_.loop();
        loop.PostAt(loop.clock().TimeNow() + kLag,
                    weak_.Bind([this, name = change.object->name] { Aggregate(name); }));
      });
}

Aggregator::~Aggregator() { cluster_.store().Unsubscribe(subscription_); }

void Aggregator::Aggregate(const std::string& name) {
  const Json::Value role = cluster_.Get(ClusterRoles(), "", name);
  if (role.isNull() || role["aggregationRule"].isNull() || writes_ >= kTooMany) return;
  Json::Value applied;
  applied["apiVersion"] = "rbac.authorization.k8s.io/v1";
  applied["kind"] = "ClusterRole";
  applied["metadata"]["name"] = name;
  for (const auto& other : cluster_.List(ClusterRoles())) {
    if (other["metadata"]["name"].asString() == name) continue;
    for (const auto& selector : role["aggregationRule"]["clusterRoleSelectors"]) {
      if (!Takes(selector, other["metadata"]["labels"])) continue;
      for (const auto& rule : other["rules"]) applied["rules"].append(rule);
    }
  }
  if (applied["rules"] == role["rules"]) return;
  ++writes_;
  cluster_.Send("PATCH",
                StrCat(PathOf(ClusterRoles(), "", name),
                       "?fieldManager=clusterrole-aggregation-controller&force=true"),
                WriteJson(applied), "application/apply-patch+yaml");
}

}  // namespace mandate::simulation
