// A component's typed access to subresources: the part of Client (client.h) that is not about whole
// objects.
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/call_record.h"
#include "manager/client/permission.h"
#include "manager/client/pod_log.h"
#include "manager/client/subresource_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"

namespace k8s::io::api::core::v1 {
class Pod;
class ServiceAccount;
}  // namespace k8s::io::api::core::v1

namespace mandate {

// The calls for pods and service accounts need manager/object/kinds/core_v1.h, which the caller
// includes: their template argument delays the check of the mandate until then, and is never given.
// Thread-safe. Blocks the calling thread. Errors: SubresourceClient's.
template <const rbac::Mandate& kMandate>
class SubresourceCalls {
  using Pod = k8s::io::api::core::v1::Pod;
  using ServiceAccount = k8s::io::api::core::v1::ServiceAccount;

  template <class T, FixedString kVerb, FixedString kSubresource, class Result>
  using Declared = IfDeclared<kMandate, T, kVerb, kSubresource, Result>;

 public:
  // Deletes the pod, unless a PodDisruptionBudget forbids it: then the error is a 429 for which
  // IsBlockedByBudget() is true. The client does not repeat such a request: try again after
  // RetryAfter(), or when other pods are ready. OK does not mean that the pod is gone: it has a
  // grace period. Not noted for cached reads.
  template <std::same_as<Pod> P = Pod>
  Declared<P, "create", "eviction", absl::Status> Evict(const CallContext& context,
                                                        const ObjectKey& key,
                                                        const EvictOptions& options = {}) {
    RecordCall<kMandate, P, "create", "eviction">();
    return subresources_.Evict(context, key, options);
  }

  // Assigns the pod to a node, as a scheduler does. A conflict (kAborted) if it has a node. The
  // server does not check that the node exists. Not noted for cached reads.
  template <std::same_as<Pod> P = Pod>
  Declared<P, "create", "binding", absl::Status> Bind(const CallContext& context,
                                                      const ObjectKey& key, std::string_view node,
                                                      const BindOptions& options = {}) {
    RecordCall<kMandate, P, "create", "binding">();
    return subresources_.Bind(context, key, node, options);
  }

  // Gives the log of a container to `sink` as it comes: see pod_log.h for the bounds and errors.
  template <std::same_as<Pod> P = Pod>
  Declared<P, "get", "log", absl::Status> PodLogs(const CallContext& context, const ObjectKey& key,
                                                  const LogOptions& options,
                                                  const PodLogSink& sink) {
    RecordCall<kMandate, P, "get", "log">();
    return ReadPodLog(context, rest_, key, options, sink);
  }

  // A token of the service account. It has all permissions of the account: the grant for this call
  // should name the accounts (resourceNames).
  template <std::same_as<ServiceAccount> S = ServiceAccount>
  Declared<S, "create", "token", absl::StatusOr<IssuedToken>> CreateToken(
      const CallContext& context, const ObjectKey& key, const TokenOptions& options = {}) {
    RecordCall<kMandate, S, "create", "token">();
    return subresources_.CreateToken(context, key, options);
  }

  // kNotFound also if the kind has no subresource "scale".
  template <Object T>
  Declared<T, "get", "scale", absl::StatusOr<Scale>> GetScale(const CallContext& context,
                                                              const ObjectKey& key) {
    RecordCall<kMandate, T, "get", "scale">();
    return subresources_.GetScale(context, KindOf<T>::value, key);
  }
  // Sets `scale.replicas`, if the object has not changed since the scale was read (otherwise a
  // Conflict). PatchScale with MergePatch::Unconditional(R"({"spec":{"replicas":3}})") does not
  // depend on the version.
  template <Object T>
  Declared<T, "update", "scale", absl::StatusOr<Scale>> UpdateScale(
      const CallContext& context, const ObjectKey& key, const Scale& scale,
      const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "update", "scale">();
    return subresources_.UpdateScale(context, KindOf<T>::value, key, scale, options);
  }
  template <Object T>
  Declared<T, "patch", "scale", absl::StatusOr<Scale>> PatchScale(
      const CallContext& context, const ObjectKey& key, const Patch& patch,
      const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "patch", "scale">();
    return subresources_.PatchScale(context, KindOf<T>::value, key, patch, options);
  }

 protected:
  explicit SubresourceCalls(RestClient& rest) : rest_(rest), subresources_(rest) {}

 private:
  RestClient& rest_;
  SubresourceClient subresources_;
};

}  // namespace mandate
