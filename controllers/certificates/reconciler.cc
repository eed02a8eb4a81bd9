#include "controllers/certificates/reconciler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
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

// A configuration that exists, and the names of our entries in it.
template <class T>
struct Found {
  T object;
  const std::vector<std::string>& webhooks;

  bool IsOurs(const auto& webhook) const {
    return std::ranges::find(webhooks, webhook.name()) != webhooks.end();
  }
};

// The result borrows the names.
template <class T>
absl::StatusOr<std::vector<Found<T>>> ReadAll(
    const CallContext& context, const CacheView& cache,
    const std::vector<PublishedConfiguration>& published) {
  std::vector<Found<T>> found;
  for (const PublishedConfiguration& configuration : published) {
    absl::StatusOr<T> object = cache.Get<T>(context, {"", configuration.name});
    if (absl::IsNotFound(object.status())) continue;
    RETURN_IF_ERROR(object.status());
    found.push_back({*std::move(object), configuration.webhooks});
  }
  return found;
}

template <class T>
bool AllTrust(const std::vector<Found<T>>& configurations, std::string_view authority) {
  return std::ranges::all_of(configurations, [&](const Found<T>& found) {
    return std::ranges::all_of(found.object.webhooks(), [&](const auto& webhook) {
      return !found.IsOurs(webhook) ||
             webhook.clientconfig().cabundle().find(authority) != std::string::npos;
    });
  });
}

// Whether one of our entries had another bundle.
template <class T>
bool SetBundle(const std::string& bundle, Found<T>& found) {
  bool changed = false;
  for (auto& webhook : *found.object.mutable_webhooks()) {
    if (!found.IsOurs(webhook) || webhook.clientconfig().cabundle() == bundle) continue;
    webhook.mutable_clientconfig()->set_cabundle(bundle);
    changed = true;
  }
  return changed;
}

// An error if new certificates cannot be kept in the Secret, now or later.
absl::Status CheckUsable(const Secret& secret) {
  const auto error = [&](std::string_view what) {
    return absl::FailedPreconditionError(
        StrCat("the Secret ", secret.metadata().namespace_(), "/", secret.metadata().name(),
               " for the webhooks' certificates ", what,
               ", so the certificates cannot be rotated; delete the Secret and create an empty "
               "one, as the chart does, and find out from the audit log who changed it"));
  };
  if (secret.immutable()) return error("is immutable");
  if (secret.metadata().has_deletiontimestamp()) {
    return error("is being deleted, but its finalizers block the deletion until they are removed");
  }
  return absl::OkStatus();
}

SecretData DataOf(const Secret& secret) {
  SecretData data;
  for (const auto& [key, value] : secret.data()) data[key] = value;
  return data;
}

// The keys of the Secret that the plan does not have, in order. Removes them from `data`.
std::vector<std::string> TakeForeignKeys(const Plan& plan, SecretData& data) {
  std::vector<std::string> keys;
  std::erase_if(data, [&](const auto& entry) {
    if (plan.data.contains(entry.first)) return false;
    keys.push_back(entry.first);
    return true;
  });
  return keys;
}

// The first ten, because a Secret may have a hundred thousand.
std::string FirstOf(const std::vector<std::string>& keys) {
  constexpr size_t kMost = 10;
  const size_t shown = std::min(keys.size(), kMost);
  std::string text = absl::StrJoin(keys.begin(), keys.begin() + shown, "; ");
  if (shown < keys.size()) StrAppend(&text, "; and ", keys.size() - shown, " more");
  return text;
}

}  // namespace

struct CertificateReconciler::Configurations {
  std::vector<Found<ValidatingWebhookConfiguration>> validating;
  std::vector<Found<MutatingWebhookConfiguration>> mutating;
};

CertificateReconciler::CertificateReconciler(const Component& component, CertificateOptions options,
                                             CertificateWrites writes)
    : component_(component), options_(std::move(options)), writes_(std::move(writes)) {}

prometheus::Gauge& CertificateReconciler::Expiry(const char* certificate) {
  return component_.controller_context.metrics.Gauge(
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
  SecretData data = DataOf(secret);
  const std::vector<std::string> foreign = TakeForeignKeys(plan, data);
  const bool has_certificates = data == plan.data;
  // The foreign keys of an immutable Secret stay until it is replaced; they stop no publication.
  if (has_certificates && (foreign.empty() || secret.immutable())) return absl::OkStatus();
  if (secret.immutable()) return CheckUsable(secret);
  secret.mutable_data()->clear();
  for (const auto& [key, value] : plan.data) (*secret.mutable_data())[key] = value;
  RETURN_IF_ERROR(writes_.secret(context, std::move(secret)));
  const Logger& log = component_.controller_context.log;
  if (!foreign.empty()) {
    log.Error(
        "Removed foreign keys from the Secret; if you did not add them, find out who did from the "
        "audit log",
        {{"name", options_.secret}, {"keys", FirstOf(foreign)}});
  }
  for (const std::string& reason : plan.rejected) {
    log.Error("Removed a foreign certificate authority from the Secret",
              {{"name", options_.secret}, {"reason", reason}});
  }
  if (has_certificates) return absl::OkStatus();
  log.Info("Wrote new certificates", {{"serving_until", FormatTimestamp(plan.serving_expiry)},
                                      {"authority_until", FormatTimestamp(plan.authority_expiry)}});
  return absl::OkStatus();
}

void CertificateReconciler::ReportForeign(const Configurations& configurations) {
  std::set<std::pair<std::string, std::string>> foreign;
  const auto add = [&](const auto& all) {
    for (const auto& found : all) {
      for (const auto& webhook : found.object.webhooks()) {
        if (!found.IsOurs(webhook)) foreign.emplace(found.object.metadata().name(), webhook.name());
      }
    }
  };
  add(configurations.validating);
  add(configurations.mutating);
  component_.controller_context.metrics
      .Gauge("mandate_webhook_foreign_entries",
             "Entries of the component's webhook configurations that no marker declares",
             {{"identity", std::string(component_.name())}})
      .Set(static_cast<double>(foreign.size()));
  std::set<std::pair<std::string, std::string>> before;
  {
    MutexLock lock(mutex_);
    before = std::exchange(foreign_, foreign);
  }
  const Logger& log = component_.controller_context.log;
  for (const auto& entry : foreign) {
    if (before.contains(entry)) continue;
    log.Error(
        "A webhook configuration of ours has an entry that no marker declares; if you did not add "
        "it, remove it, and find out who did from the audit log",
        {{"configuration", entry.first}, {"webhook", entry.second}});
  }
  for (const auto& entry : before) {
    if (foreign.contains(entry)) continue;
    log.Info("The undeclared webhook entry was removed",
             {{"configuration", entry.first}, {"webhook", entry.second}});
  }
}

absl::Status CertificateReconciler::Publish(const CallContext& context,
                                            Configurations configurations,
                                            const std::string& bundle) {
  absl::Status status;
  for (auto& configuration : configurations.validating) {
    if (!SetBundle(bundle, configuration)) continue;
    status.Update(writes_.validating(context, std::move(configuration.object)));
  }
  for (auto& configuration : configurations.mutating) {
    if (!SetBundle(bundle, configuration)) continue;
    status.Update(writes_.mutating(context, std::move(configuration.object)));
  }
  return status;
}

absl::StatusOr<Result> CertificateReconciler::Reconcile(const CallContext& context,
                                                        const Request& request) {
  absl::StatusOr<Result> result = ReadAndWrite(context, request.key);
  if (options_.health != nullptr) {
    options_.health->Note(result.status(), component_.clock().TimeNow());
  }
  return result;
}

absl::StatusOr<Result> CertificateReconciler::ReadAndWrite(const CallContext& context,
                                                           const ObjectKey& key) {
  absl::StatusOr<Secret> secret = component_.cache().Get<Secret>(context, key);
  if (absl::IsNotFound(secret.status())) {
    return absl::FailedPreconditionError(
        StrCat("the Secret ", key.ToString(),
               " for the webhooks' certificates does not exist; create an empty one, as the chart "
               "does"));
  }
  RETURN_IF_ERROR(secret.status());
  const absl::Status usable = CheckUsable(*secret);
  ASSIGN_OR_RETURN(Configurations configurations, Read(context));
  // Not an error, and not in the readiness: a foreign entry must stop neither the rotation nor the
  // replicas that serve our webhooks.
  ReportForeign(configurations);

  const absl::Time now = component_.clock().WallTimeNow();
  ASSIGN_OR_RETURN(const Plan plan,
                   PlanCertificates({.now = now,
                                     .data = DataOf(*secret),
                                     .names = options_.names,
                                     .lifetimes = options_.lifetimes,
                                     .is_published = [&](std::string_view authority) {
                                       return AllTrust(configurations.validating, authority) &&
                                              AllTrust(configurations.mutating, authority);
                                     }}));
  // The Secret first: an authority is only published when its key cannot be lost any more.
  RETURN_IF_ERROR(WriteSecret(context, *std::move(secret), plan));
  Expiry("serving").Set(absl::ToDoubleSeconds(plan.serving_expiry - absl::UnixEpoch()));
  Expiry("authority").Set(absl::ToDoubleSeconds(plan.authority_expiry - absl::UnixEpoch()));
  RETURN_IF_ERROR(Publish(context, std::move(configurations), plan.bundle));
  // Before the certificates expire, and after everything that can be done was done.
  RETURN_IF_ERROR(usable);
  return Result{.requeue_after = std::clamp(plan.next - now, absl::Seconds(1), kLongestWait)};
}

}  // namespace mandate::certificates
