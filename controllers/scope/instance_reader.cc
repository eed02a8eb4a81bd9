#include "controllers/scope/instance_reader.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/target.h"
#include "controllers/scope/unread.h"
#include "manager/core/status_macros.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;
using RawObjects = std::vector<std::shared_ptr<const RawObject>>;
// Adds each binding once.
using Bindings = std::map<ObjectKey, Binding>;

// Adds the bindings that the index finds.
template <class T>
absl::Status AddBindings(const CallContext& context, const CacheView& cache,
                         const IndexQuery& query, Bindings& bindings) {
  ASSIGN_OR_RETURN(const RawObjects found, cache.ListRawByIndex(context, KindOf<T>::value, query));
  for (const auto& raw : found) {
    const ObjectKey key = raw->Key();
    if (bindings.contains(key)) continue;
    ASSIGN_OR_RETURN(T binding, raw->template Decode<T>());
    bindings.emplace(key, ToBinding(std::move(binding)));
  }
  return absl::OkStatus();
}

// If a read has failed for a longer time, stores the error in `unread` and returns OK.
absl::Status NoteReadError(absl::Status status, absl::Status& unread) {
  if (!IsReadUnavailable(status)) return status;
  unread.Update(std::move(status));
  return absl::OkStatus();
}

// Reads the bindings that the indexes find. An unreadable kind does not hide the bindings of the
// other kind.
absl::StatusOr<KnownBindings> ReadBindings(const CallContext& context, const CacheView& cache,
                                           const std::vector<IndexQuery>& queries) {
  KnownBindings known;
  Bindings bindings;
  for (const IndexQuery& query : queries) {
    RETURN_IF_ERROR(
        NoteReadError(AddBindings<RoleBinding>(context, cache, query, bindings), known.read_error));
    RETURN_IF_ERROR(NoteReadError(AddBindings<ClusterRoleBinding>(context, cache, query, bindings),
                                  known.read_error));
  }
  known.bindings.reserve(bindings.size());
  for (auto& [key, binding] : bindings) known.bindings.push_back(std::move(binding));
  return known;
}

// The namespaces that exist among those that the instance names, and those that it selects.
absl::Status AddNamespaces(const CallContext& context, const CacheView& cache,
                           InstanceSnapshot& snapshot) {
  const KindInfo kind = KindOf<corev1::Namespace>::value;
  std::map<std::string, corev1::Namespace> found;
  for (const std::string& name : snapshot.instance.spec().namespaces()) {
    auto ns = cache.Get<corev1::Namespace>(context, {"", name});
    if (absl::IsNotFound(ns.status())) continue;
    RETURN_IF_ERROR(ns.status());
    found[name] = *std::move(ns);
  }
  const auto selector = NamespaceSelector(snapshot.instance);
  if (selector.ok() && selector->has_value()) {
    const std::string value = SelectorIndexValue(**selector);
    ASSIGN_OR_RETURN(const RawObjects candidates,
                     value == kAnyLabel ? cache.ListRaw(context, kind, "")
                                        : cache.ListRawByIndex(context, kind, {kByLabel, value}));
    for (const auto& raw : candidates) {
      const std::string name(raw->name());
      if (found.contains(name) || !(*selector)->Matches(raw->Header().labels)) continue;
      ASSIGN_OR_RETURN(found[name], raw->Decode<corev1::Namespace>());
    }
  }
  for (auto& [name, ns] : found) snapshot.namespaces.push_back(std::move(ns));
  return absl::OkStatus();
}

// Adds the ClusterRole of this name if it exists.
absl::Status AddRole(const CallContext& context, const CacheView& cache, const std::string& name,
                     InstanceSnapshot& snapshot) {
  if (snapshot.cluster_roles.contains(name)) return absl::OkStatus();
  auto role = cache.Get<ClusterRole>(context, {"", name});
  if (absl::IsNotFound(role.status())) return absl::OkStatus();
  if (!role.ok()) return NoteReadError(role.status(), snapshot.roles_read_error);
  snapshot.cluster_roles[name] = *std::move(role);
  return absl::OkStatus();
}

// The known metadata of an unreadable template; only its name if `raw` is null.
ScopeTemplate UnreadTemplate(const std::string& name, const RawObject* raw) {
  ScopeTemplate result;
  auto& meta = *result.mutable_metadata();
  meta.set_name(name);
  if (raw == nullptr) return result;
  meta.set_uid(std::string(raw->uid()));
  meta.set_resourceversion(std::string(raw->resource_version()));
  meta.set_generation(raw->Header().generation);
  return result;
}

absl::Status AddTemplate(const CallContext& context, const CacheView& cache,
                         InstanceSnapshot& snapshot) {
  const std::string& name = snapshot.instance.spec().scopetemplatename();
  const auto raw = cache.GetRaw(context, KindOf<ScopeTemplate>::value, {"", name});
  if (absl::IsNotFound(raw.status())) return absl::OkStatus();
  if (!raw.ok() && !IsReadUnavailable(raw.status())) return raw.status();
  auto scope_template = raw.ok() ? (*raw)->Decode<ScopeTemplate>() : raw.status();
  if (!scope_template.ok()) {
    snapshot.template_read_error = scope_template.status();
    snapshot.scope_template = UnreadTemplate(name, raw.ok() ? raw->get() : nullptr);
    return absl::OkStatus();
  }
  snapshot.scope_template = *std::move(scope_template);
  for (const auto& role : snapshot.scope_template->spec().clusterroles()) {
    const std::string name =
        ClusterRoleName(snapshot.scope_template->metadata().uid(), role.generatename());
    RETURN_IF_ERROR(AddRole(context, cache, name, snapshot));
  }
  return absl::OkStatus();
}

// For an unreadable template: adds the roles of the existing bindings, to find their owners.
absl::Status AddRolesOfBindings(const CallContext& context, const CacheView& cache,
                                InstanceSnapshot& snapshot) {
  if (!snapshot.scope_template.has_value() || RolesOf(snapshot).ok()) {
    return absl::OkStatus();
  }
  for (const Binding& binding : snapshot.bindings) {
    RETURN_IF_ERROR(AddRole(context, cache, binding.object.roleref().name(), snapshot));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InstanceSnapshot> ReadInstanceSnapshot(const CallContext& context,
                                                      const CacheView& cache,
                                                      ScopeInstance instance) {
  InstanceSnapshot snapshot;
  snapshot.instance = std::move(instance);
  RETURN_IF_ERROR(
      NoteReadError(AddNamespaces(context, cache, snapshot), snapshot.namespaces_read_error));
  RETURN_IF_ERROR(AddTemplate(context, cache, snapshot));
  const auto& meta = snapshot.instance.metadata();
  // Another user may have removed the label and the owner from a binding that was created for the
  // instance: its name shows it.
  ASSIGN_OR_RETURN(KnownBindings known, ReadBindings(context, cache,
                                                     {{kByController, meta.uid()},
                                                      {kByUidLabel, meta.uid()},
                                                      {kByInstanceName, meta.name()},
                                                      {kByStrayName, InstancePart(meta.uid())}}));
  snapshot.bindings = std::move(known.bindings);
  snapshot.bindings_read_error = std::move(known.read_error);
  RETURN_IF_ERROR(AddRolesOfBindings(context, cache, snapshot));
  return snapshot;
}

absl::StatusOr<KnownBindings> ReadBindingsOf(const CallContext& context, const CacheView& cache,
                                             std::string_view instance_name) {
  return ReadBindings(context, cache, {{kByInstanceName, instance_name}});
}

absl::StatusOr<Binding> ReadBinding(const CallContext& context, const CacheView& cache,
                                    const ObjectKey& key) {
  if (key.ns.empty()) {
    ASSIGN_OR_RETURN(const ClusterRoleBinding binding, cache.Get<ClusterRoleBinding>(context, key));
    return ToBinding(binding);
  }
  ASSIGN_OR_RETURN(RoleBinding binding, cache.Get<RoleBinding>(context, key));
  return ToBinding(std::move(binding));
}

}  // namespace mandate::scope
