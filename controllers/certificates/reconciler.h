// Keeps the certificates of webhooks: in a Secret, from which every replica serves them, and in the
// webhook configurations, by which API servers trust them (plan.h).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/certificates/plan.h"
#include "controllers/certificates/write_health.h"
#include "manager/component.h"
#include "manager/controller/reconciler.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/object/kinds/admissionregistration_v1.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::certificates {

// A webhook configuration, and the names of its entries that the markers declare. Other entries are
// left as they are: their webhooks are not ours.
struct PublishedConfiguration {
  std::string name;
  std::vector<std::string> webhooks;

  bool operator==(const PublishedConfiguration&) const = default;
};

struct CertificateOptions {
  // In the manager's namespace. It must exist: the component may not create Secrets.
  std::string secret = "mandate-manager-webhook-certificate";
  std::vector<std::string> names;                  // of the serving certificate, as Snapshot::names
  std::vector<PublishedConfiguration> validating;  // ValidatingWebhookConfigurations
  std::vector<PublishedConfiguration> mutating;    // MutatingWebhookConfigurations
  CertificateLifetimes lifetimes = {};
  std::shared_ptr<WriteHealth> health = nullptr;  // gets the result of each reconcile
};

// The writes of the component. Each has the resourceVersion that was read as its precondition, so
// that replicas cannot overwrite each other's certificates.
struct CertificateWrites {
  std::function<absl::Status(const CallContext&, corev1::Secret)> secret;
  std::function<absl::Status(const CallContext&,
                             admissionregistrationv1::ValidatingWebhookConfiguration)>
      validating;
  std::function<absl::Status(const CallContext&,
                             admissionregistrationv1::MutatingWebhookConfiguration)>
      mutating;
};

// A reconciler that reads, plans and writes. Thread-safe.
class CertificateReconciler : public Reconciler {
 public:
  // `component` outlives this.
  CertificateReconciler(const Component& component, CertificateOptions options,
                        CertificateWrites writes);

  // kFailedPrecondition: the Secret does not exist, is immutable, or is being deleted.
  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  struct Configurations;

  absl::StatusOr<Result> ReadAndWrite(const CallContext& context, const ObjectKey& key);
  absl::StatusOr<Configurations> Read(const CallContext& context) const;
  absl::Status WriteSecret(const CallContext& context, corev1::Secret secret, const Plan& plan);
  absl::Status Publish(const CallContext& context, Configurations configurations,
                       const std::string& bundle);
  // Logs the entries that were not foreign before, and those that are gone.
  void ReportForeign(const Configurations& configurations);
  prometheus::Gauge& Expiry(const char* certificate);

  const Component& component_;
  const CertificateOptions options_;
  const CertificateWrites writes_;
  Mutex mutex_;
  // Foreign entries of the configurations, as (configuration, entry).
  std::set<std::pair<std::string, std::string>> foreign_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::certificates
