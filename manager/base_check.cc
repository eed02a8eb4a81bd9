#include "manager/base_check.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "manager/client/self_review.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/rbac/user.h"

namespace mandate {
namespace {

constexpr absl::Duration kRetryAfter = absl::Seconds(1);

// Whether `group` is one of the subject's organizations, which are the user's groups.
bool IsInGroup(X509& certificate, std::string_view group) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  int at = -1;
  while ((at = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(subject), NID_organizationName,
                                          at)) >= 0) {
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<size_t>(ASN1_STRING_length(value)));
    if (text == group) return true;
  }
  return false;
}

RestRequest VersionRequest() {
  RestRequest request;
  request.method = "GET";
  request.target = "/version";
  request.idempotent = true;
  return request;
}

// False if the context ends before the next try.
bool WaitToRetry(const CallContext& context, Loop& loop) {
  const absl::Time when = loop.clock().TimeNow() + kRetryAfter;
  if (when >= context.deadline || context.stop.stop_requested()) return false;
  Latch over;
  std::unique_ptr<Loop::Timer> timer;
  CallOnLoop(loop, [&] { timer = loop.RunAt(when, [&] { over.Set(); }); });
  loop.Await(over);
  CallOnLoop(loop, [&] { timer.reset(); });
  return true;
}

}  // namespace

absl::Status CheckServer(const CallContext& context, RestClient& base, const Endpoint& endpoint) {
  absl::Status status;
  // The client stops after some tries; a server that starts takes longer.
  do {
    status = base.Do(context, VersionRequest()).status();
  } while (absl::IsUnavailable(status) && WaitToRetry(context, base.loop()));
  if (status.ok()) return status;
  if (absl::IsUnauthenticated(status)) {
    return absl::UnauthenticatedError(StrCat(
        endpoint.server, " does not accept the manager's own credential: ", AsStd(status.message()),
        "; check that its token has not expired and is for this cluster"));
  }
  // There is no credential, so the request was never sent.
  if (absl::IsFailedPrecondition(status)) return status;
  // Most reasons already name the next step.
  const bool has_next_step =
      absl::StrContains(status.message(), "; check ") || absl::IsInvalidArgument(status);
  return absl::UnavailableError(StrCat(
      "cannot use the API server at ", endpoint.server, ": ", AsStd(status.message()),
      has_next_step ? "" : "; check that it is running, and that its address and CA are correct"));
}

absl::StatusOr<std::string> AskBaseUser(const CallContext& context, RestClient& base) {
  absl::StatusOr<std::string> user;
  do {
    user = WhoAmI(context, base);
  } while (!user.ok() && !absl::IsPermissionDenied(user.status()) &&
           WaitToRetry(context, base.loop()));
  if (user.ok()) return user;
  return absl::UnavailableError(
      StrCat("cannot find out which user the manager's own credential belongs to: ",
             AsStd(user.status().message()),
             "; the manager needs this to notice if another user's credential replaces it; the "
             "ClusterRole system:basic-user grants every user the SelfSubjectReview"));
}

absl::Status CheckNamespace(const CallContext& context, RestClient& base, std::string_view user,
                            std::string_view ns, const rbac::Rule& needed) {
  const auto account = rbac::ParseServiceAccountUser(user);
  if (!account.has_value() || account->ns == ns) return absl::OkStatus();
  const auto answer = CanI(context, base, ns, needed);
  if (!answer.ok() || answer->status().allowed()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("--namespace: the manager looks for its Lease and its components' ServiceAccounts in "
             "namespace \"",
             ns, "\", where its own ServiceAccount ", account->ns, "/", account->name, " may not ",
             needed.verbs[0], " ", needed.resources[0], "; use --namespace=", account->ns));
}

absl::Status RejectAdministrator(const ClusterConfig& cluster, std::string_view service_account) {
  const auto* client = std::get_if<ClientCertificate>(&cluster.base);
  return client == nullptr ? absl::OkStatus() : RejectAdministrator(*client, service_account);
}

absl::Status RejectAdministrator(const ClientCertificate& client,
                                 std::string_view service_account) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(client.certificate_pem.data(),
                      static_cast<int>(client.certificate_pem.size())),
      BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        "the kubeconfig's client certificate is not a PEM certificate");
  }
  if (!IsInGroup(*certificate, rbac::kMastersGroup)) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(
      "the kubeconfig's client certificate is an administrator's (group system:masters), and the "
      "manager must not run as an administrator; use a kubeconfig with the token of its own "
      "ServiceAccount, which `kubectl create token ",
      service_account, " -n NAMESPACE` prints"));
}

}  // namespace mandate
