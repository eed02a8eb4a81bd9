#include "controllers/scope/instance_reconciler.h"

#include <utility>

#include "controllers/report.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/target.h"
#include "manager/controller/builder_for.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

// How soon a write that was forbidden is tried again: nothing tells when a grant comes.
constexpr absl::Duration kForbiddenRetry = absl::Seconds(10);

// The API server's words for a binding whose maker neither holds what it grants nor may `bind`.
constexpr std::string_view kNotHeld = "attempting to grant RBAC permissions not currently held";

// Adds what would allow it, where the server's message does not.
absl::Status WithRemedy(absl::Status status, const Binding& binding, std::string_view component) {
  if (!IsForbidden(status) || AsStd(status.message()).find(kNotHeld) == std::string_view::npos) {
    return status;
  }
  absl::Status result(
      status.code(),
      StrCat(
          "component ", component, " may not bind ClusterRole \"", binding.object.roleref().name(),
          "\": its role lacks the verb \"bind\" on clusterroles.rbac.authorization.k8s.io; apply "
          "the chart's generated roles again. The API server says: ",
          AsStd(status.message())));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

template <Object T>
absl::StatusOr<T> WithRemedy(absl::StatusOr<T> written, const Binding& binding,
                             std::string_view component) {
  if (written.ok()) return written;
  return WithRemedy(std::move(written).status(), binding, component);
}

// Every ScopeInstance for which `concerns` holds.
template <class Concerns>
std::vector<Request> InstancesFor(const CacheView& cache, Concerns concerns) {
  std::vector<Request> requests;
  for (const auto& raw : cache.ListLastKnown(KindOf<ScopeInstance>::value, "")) {
    const auto instance = raw->Decode<ScopeInstance>();
    // One that cannot be read is reconciled rather too often: its reconcile says what is wrong.
    if (!instance.ok() || concerns(*instance)) requests.push_back({raw->Key()});
  }
  return requests;
}

bool Concerns(const corev1::Namespace& ns, const ScopeInstance& instance) {
  if (!instance.spec().namespaceselector().raw().empty()) return true;
  for (const std::string& name : instance.spec().namespaces()) {
    if (name == ns.metadata().name()) return true;
  }
  return false;
}

}  // namespace

InstanceReconciler::InstanceReconciler(const Component& component, Client<kScopeInstance> client)
    : component_(component), client_(std::move(client)), discovery_(component.client) {}

absl::StatusOr<std::vector<Binding>> InstanceReconciler::ReadBindings(const CallContext& context,
                                                                      std::string_view name,
                                                                      std::string_view uid) const {
  std::vector<Binding> bindings;
  // Most bindings of a cluster are nobody's here; decoding them is no use.
  const auto may_be_ours = [&](const RawObject& raw) {
    return (!uid.empty() && raw.bytes().find(uid) != std::string_view::npos) ||
           (raw.bytes().find(name) != std::string_view::npos &&
            raw.bytes().find(KindOf<ScopeInstance>::value.kind) != std::string_view::npos);
  };
  ASSIGN_OR_RETURN(const auto in_namespaces,
                   component_.cache().ListRaw(context, KindOf<RoleBinding>::value, ""));
  for (const auto& raw : in_namespaces) {
    if (!may_be_ours(*raw)) continue;
    ASSIGN_OR_RETURN(RoleBinding binding, raw->Decode<RoleBinding>());
    bindings.push_back(FromRoleBinding(std::move(binding)));
  }
  ASSIGN_OR_RETURN(const auto in_cluster,
                   component_.cache().ListRaw(context, KindOf<ClusterRoleBinding>::value, ""));
  for (const auto& raw : in_cluster) {
    if (!may_be_ours(*raw)) continue;
    ASSIGN_OR_RETURN(const ClusterRoleBinding binding, raw->Decode<ClusterRoleBinding>());
    bindings.push_back(FromClusterRoleBinding(binding));
  }
  return bindings;
}

absl::StatusOr<InstanceSnapshot> InstanceReconciler::Read(const CallContext& context,
                                                          ScopeInstance instance) {
  InstanceSnapshot snapshot;
  snapshot.scope_of_resource = [this, context](std::string_view group, std::string_view resource) {
    return discovery_.ScopeOf(context, group, resource);
  };
  snapshot.instance = std::move(instance);
  ASSIGN_OR_RETURN(snapshot.namespaces, component_.cache().List<corev1::Namespace>(context));
  ASSIGN_OR_RETURN(snapshot.bindings, ReadBindings(context, snapshot.instance.metadata().name(),
                                                   snapshot.instance.metadata().uid()));

  auto scope_template = component_.cache().Get<ScopeTemplate>(
      context, {"", snapshot.instance.spec().scopetemplatename()});
  if (absl::IsNotFound(scope_template.status())) return snapshot;
  RETURN_IF_ERROR(scope_template.status());
  snapshot.scope_template = *std::move(scope_template);
  for (const auto& role : snapshot.scope_template->spec().clusterroles()) {
    const std::string name =
        ClusterRoleName(snapshot.scope_template->metadata().uid(), role.generatename());
    auto found = component_.cache().Get<ClusterRole>(context, {"", name});
    if (absl::IsNotFound(found.status())) continue;
    RETURN_IF_ERROR(found.status());
    snapshot.cluster_roles[name] = *std::move(found);
  }
  return snapshot;
}

absl::StatusOr<Result> InstanceReconciler::Reconcile(const CallContext& context,
                                                     const Request& request) {
  auto instance = component_.cache().Get<ScopeInstance>(context, request.key);
  if (absl::IsNotFound(instance.status())) return RevokeAll(context, request.key.name);
  RETURN_IF_ERROR(instance.status());
  // Its deleter says what becomes of what it owns; garbage collection sees to that.
  if (instance->metadata().has_deletiontimestamp()) return Result{};
  ASSIGN_OR_RETURN(const InstanceSnapshot snapshot, Read(context, *std::move(instance)));

  const InstancePlan plan = PlanInstance(snapshot);
  WriteLog log;
  CarryOut(context, plan, log);
  RETURN_IF_ERROR(ReportConditions(context, component_, client_, snapshot.instance,
                                   InstanceConditions(snapshot.instance, plan, log.failures()),
                                   kScoped, log));
  ASSIGN_OR_RETURN(Result result, log.ToResult(kForbiddenRetry));
  if (plan.effect_unknown && result.requeue_after == absl::ZeroDuration()) {
    // No event tells when the server answers again.
    result.requeue_after = discovery_.min_interval();
  }
  return result;
}

absl::StatusOr<Result> InstanceReconciler::RevokeAll(const CallContext& context,
                                                     std::string_view name) {
  ASSIGN_OR_RETURN(const std::vector<Binding> bindings, ReadBindings(context, name, ""));
  WriteLog log;
  for (const Binding& binding : bindings) {
    if (BelongsToFormer(binding, name, "") && !binding.object.metadata().has_deletiontimestamp()) {
      Remove(context, binding, log);
    }
  }
  return log.ToResult(kForbiddenRetry);
}

void InstanceReconciler::CarryOut(const CallContext& context, const InstancePlan& plan,
                                  WriteLog& log) {
  const auto remove_all = [&] {
    for (const Binding& binding : plan.remove) Remove(context, binding, log);
  };
  if (!plan.grant_first) remove_all();
  for (const auto& [old, wanted] : plan.replace) {
    if (Remove(context, old, log)) Create(context, wanted, log);
  }
  for (const Binding& binding : plan.mend) Mend(context, binding, log);
  for (const Binding& binding : plan.create) Create(context, binding, log);
  if (plan.grant_first) remove_all();
}

void InstanceReconciler::Create(const CallContext& context, const Binding& binding, WriteLog& log) {
  // A POST, not an apply: an object of that name that is somebody else's is never taken over.
  if (binding.in_cluster()) {
    log.Add(binding.ToString(), WithRemedy(client_.Create(context, ToClusterRoleBinding(binding)),
                                           binding, component_.name()));
  } else {
    log.Add(binding.ToString(),
            WithRemedy(client_.Create(context, binding.object), binding, component_.name()));
  }
}

void InstanceReconciler::Mend(const CallContext& context, const Binding& binding, WriteLog& log) {
  if (binding.in_cluster()) {
    log.Add(binding.ToString(), WithRemedy(client_.Apply(context, ToClusterRoleBinding(binding)),
                                           binding, component_.name()));
  } else {
    log.Add(binding.ToString(),
            WithRemedy(client_.Apply(context, binding.object), binding, component_.name()));
  }
}

bool InstanceReconciler::Remove(const CallContext& context, const Binding& binding, WriteLog& log) {
  const std::string& uid = binding.object.metadata().uid();
  const absl::Status status =
      binding.in_cluster() ? client_.Delete<ClusterRoleBinding>(context, binding.key, {.uid = uid})
                           : client_.Delete<RoleBinding>(context, binding.key, {.uid = uid});
  log.AddRemoval(binding.ToString(), status);
  return status.ok() || IsNotFound(status);
}

absl::StatusOr<std::unique_ptr<Controller>> MakeInstanceController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, Client<kScopeInstance>::Create(component.client));
  CacheView& cache = component.cache();
  return BuilderFor<kScopeInstance>(component.runtime)
      .Named("scope-instance")
      .For<ScopeInstance>()
      .Owns<RoleBinding>()
      .Owns<ClusterRoleBinding>()
      .Watches<ScopeTemplate>([&cache](const ScopeTemplate& changed) {
        return InstancesFor(cache, [&](const ScopeInstance& instance) {
          return instance.spec().scopetemplatename() == changed.metadata().name();
        });
      })
      .Watches<ClusterRole>([&cache](const ClusterRole& role) {
        // Also roles that are not (or no longer) a template's: their names decide.
        return InstancesFor(cache, [&](const ScopeInstance& instance) {
          const auto of =
              cache.Get<ScopeTemplate>(WithoutWaiting(), {"", instance.spec().scopetemplatename()});
          // Not known whether it is the template's: then it may be.
          if (!of.ok()) return !absl::IsNotFound(of.status());
          for (const auto& r : of->spec().clusterroles()) {
            if (ClusterRoleName(of->metadata().uid(), r.generatename()) == role.metadata().name()) {
              return true;
            }
          }
          return false;
        });
      })
      .Watches<corev1::Namespace>([&cache](const corev1::Namespace& ns) {
        return InstancesFor(cache,
                            [&](const ScopeInstance& instance) { return Concerns(ns, instance); });
      })
      .Complete(std::make_unique<InstanceReconciler>(component, std::move(client)));
}

}  // namespace mandate::scope
