// Keeps the certificates of webhooks: in a Secret, from which every replica serves them, and in the
// webhook configurations, by which API servers trust them (plan.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/certificates/plan.h"
#include "manager/component.h"
#include "manager/controller/reconciler.h"
#include "manager/core/metrics.h"
#include "manager/object/kinds/admissionregistration_v1.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::certificates {

struct CertificateOptions {
  // In the manager's namespace. It must exist: the component may not create Secrets.
  std::string secret = "mandate-manager-webhook-certificate";
  std::vector<std::string> names;       // of the serving certificate, as Snapshot::names
  std::vector<std::string> validating;  // ValidatingWebhookConfigurations
  std::vector<std::string> mutating;    // MutatingWebhookConfigurations
  Lives lives = {};
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

  // kFailedPrecondition: the Secret does not exist.
  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  struct Configurations;

  absl::StatusOr<Configurations> Read(const CallContext& context) const;
  absl::Status WriteSecret(const CallContext& context, corev1::Secret secret, const Plan& plan);
  absl::Status Publish(const CallContext& context, Configurations configurations,
                       const std::string& bundle);
  prometheus::Gauge& Expiry(const char* certificate);

  const Component& component_;
  const CertificateOptions options_;
  const CertificateWrites writes_;
};

}  // namespace mandate::certificates
