#include "controllers/certificates/reconciler.h"

#include <algorithm>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/time.h"

namespace mandate::certificates {
namespace {

using admissionregistrationv1::MutatingWebhookConfiguration;
using admissionregistrationv1::ValidatingWebhookConfiguration;
using corev1::Secret;

// Wall clocks may jump, so the time to the next renewal is computed again now and then.
constexpr absl::Duration kLongestWait = absl::Hours(1);

// The configurations that exist.
template <class T>
absl::StatusOr<std::vector<T>> ReadAll(const CallContext& context, const CacheView& cache,
                                       const std::vector<std::string>& names) {
  std::vector<T> found;
  for (const std::string& name : names) {
    absl::StatusOr<T> configuration = cache.Get<T>(context, {"", name});
    if (absl::IsNotFound(configuration.status())) continue;
    RETURN_IF_ERROR(configuration.status());
    found.push_back(*std::move(configuration));
  }
  return found;
}

template <class T>
bool AllTrust(const std::vector<T>& configurations, std::string_view authority) {
  return std::ranges::all_of(configurations, [&](const T& configuration) {
    return std::ranges::all_of(configuration.webhooks(), [&](const auto& webhook) {
      return webhook.clientconfig().cabundle().find(authority) != std::string::npos;
    });
  });
}

// Whether the configuration had another bundle.
template <class T>
bool SetBundle(const std::string& bundle, T& configuration) {
  bool changed = false;
  for (auto& webhook : *configuration.mutable_webhooks()) {
    if (webhook.clientconfig().cabundle() == bundle) continue;
    webhook.mutable_clientconfig()->set_cabundle(bundle);
    changed = true;
  }
  return changed;
}

SecretData DataOf(const Secret& secret) {
  SecretData data;
  for (const auto& [key, value] : secret.data()) data[key] = value;
  return data;
}

}  // namespace

struct CertificateReconciler::Configurations {
  std::vector<ValidatingWebhookConfiguration> validating;
  std::vector<MutatingWebhookConfiguration> mutating;
};

CertificateReconciler::CertificateReconciler(const Component& component, CertificateOptions options,
                                             CertificateWrites writes)
    : component_(component), options_(std::move(options)), writes_(std::move(writes)) {}

prometheus::Gauge& CertificateReconciler::Expiry(const char* certificate) {
  return component_.runtime.metrics.Gauge(
      "mandate_webhook_certificate_expiration_timestamp_seconds",
      "When the newest certificate of each kind expires",
      {{"identity", std::string(component_.name())}, {"certificate", certificate}});
}

absl::StatusOr<CertificateReconciler::Configurations> CertificateReconciler::Read(
    const CallContext& context) const {
  Configurations read;
  const CacheView& cache = component_.cache();
  ASSIGN_OR_RETURN(read.validating,
                   ReadAll<ValidatingWebhookConfiguration>(context, cache, options_.validating));
  ASSIGN_OR_RETURN(read.mutating,
                   ReadAll<MutatingWebhookConfiguration>(context, cache, options_.mutating));
  return read;
}

absl::Status CertificateReconciler::WriteSecret(const CallContext& context, Secret secret,
                                                const Plan& plan) {
  if (std::ranges::all_of(plan.data, [&](const auto& entry) {
        const auto found = secret.data().find(entry.first);
        return found != secret.data().end() && found->second == entry.second;
      })) {
    return absl::OkStatus();
  }
  for (const auto& [key, value] : plan.data) (*secret.mutable_data())[key] = value;
  RETURN_IF_ERROR(writes_.secret(context, std::move(secret)));
  for (const std::string& reason : plan.rejected) {
    component_.runtime.log.Error("Removed an authority from the Secret that is not ours",
                                 {{"name", options_.secret}, {"reason", reason}});
  }
  component_.runtime.log.Info("Wrote new certificates",
                              {{"serving_until", FormatTimestamp(plan.serving_expiry)},
                               {"authority_until", FormatTimestamp(plan.authority_expiry)}});
  return absl::OkStatus();
}

absl::Status CertificateReconciler::Publish(const CallContext& context,
                                            Configurations configurations,
                                            const std::string& bundle) {
  absl::Status status;
  for (auto& configuration : configurations.validating) {
    if (!SetBundle(bundle, configuration)) continue;
    status.Update(writes_.validating(context, std::move(configuration)));
  }
  for (auto& configuration : configurations.mutating) {
    if (!SetBundle(bundle, configuration)) continue;
    status.Update(writes_.mutating(context, std::move(configuration)));
  }
  return status;
}

absl::StatusOr<Result> CertificateReconciler::Reconcile(const CallContext& context,
                                                        const Request& request) {
  absl::StatusOr<Secret> secret = component_.cache().Get<Secret>(context, request.key);
  if (absl::IsNotFound(secret.status())) {
    return absl::FailedPreconditionError(
        StrCat("the Secret ", request.key.ToString(),
               " for the webhooks' certificates does not exist; create an empty one, as the chart "
               "does"));
  }
  RETURN_IF_ERROR(secret.status());
  ASSIGN_OR_RETURN(Configurations configurations, Read(context));

  const absl::Time now = component_.clock().WallTimeNow();
  ASSIGN_OR_RETURN(const Plan plan,
                   PlanCertificates({.now = now,
                                     .data = DataOf(*secret),
                                     .names = options_.names,
                                     .lives = options_.lives,
                                     .is_published = [&](std::string_view authority) {
                                       return AllTrust(configurations.validating, authority) &&
                                              AllTrust(configurations.mutating, authority);
                                     }}));
  // The Secret first: an authority is only published when its key cannot be lost any more.
  RETURN_IF_ERROR(WriteSecret(context, *std::move(secret), plan));
  Expiry("serving").Set(absl::ToDoubleSeconds(plan.serving_expiry - absl::UnixEpoch()));
  Expiry("authority").Set(absl::ToDoubleSeconds(plan.authority_expiry - absl::UnixEpoch()));
  RETURN_IF_ERROR(Publish(context, std::move(configurations), plan.bundle));
  return Result{.requeue_after = std::clamp(plan.next - now, absl::Seconds(1), kLongestWait)};
}

}  // namespace mandate::certificates
