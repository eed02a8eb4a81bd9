#include "testing/rbac_fidelity/http.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "testing/conformance/http.h"

namespace mandate::fidelity {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

conformance::Request RawRequest(const HttpRequest& request) {
  conformance::Request raw{.method = request.method,
                           .target = request.target,
                           .body = request.body,
                           .has_body = !request.content_type.empty(),
                           .certificate = true,
                           .http1 = true};
  const auto header = [&raw](const char* name, const std::string& value) {
    if (!value.empty()) raw.headers.emplace_back(name, value);
  };
  header("Accept", request.accept);
  header("Content-Type", request.content_type);
  header("Impersonate-User", request.impersonate);
  for (const std::string& group : request.groups) header("Impersonate-Group", group);
  return raw;
}

}  // namespace

struct HttpClient::Impl {
  explicit Impl(conformance::Connection connection) : http(std::move(connection)) {}
  conformance::HttpClient http;
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Create(const std::string& kubeconfig) {
  ASSIGN_OR_RETURN(const ClusterConfig config, LoadKubeconfig({kubeconfig}));
  const auto* certificate = std::get_if<ClientCertificate>(&config.base);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        StrCat(kubeconfig, ": needs a client certificate with its key; use an administrator's"));
  }
  return std::unique_ptr<HttpClient>(new HttpClient(std::make_unique<Impl>(
      conformance::Connection{.server = config.endpoint.server,
                              .ca_pem = config.endpoint.ca_pem,
                              .certificate_pem = certificate->certificate_pem,
                              .key_pem = std::string(certificate->key_pem->Reveal())})));
}

absl::StatusOr<std::vector<HttpResponse>> HttpClient::Send(const std::vector<HttpRequest>& requests,
                                                           size_t at_once) {
  std::vector<HttpResponse> responses(requests.size());
  std::map<size_t, std::unique_ptr<conformance::Exchange>> running;  // by index
  for (size_t next = 0; next < requests.size() || !running.empty();) {
    for (; running.size() < at_once && next < requests.size(); ++next) {
      running.emplace(next, impl_->http.Start(RawRequest(requests[next])));
    }
    const auto any_ended = [&running] {
      return std::any_of(running.begin(), running.end(),
                         [](const auto& one) { return one.second->ended(); });
    };
    const bool in_time = impl_->http.Await(any_ended, kTimeout);
    for (auto it = running.begin(); it != running.end();) {
      const auto& [index, exchange] = *it;
      const absl::Status status =
          in_time ? exchange->status()
                  : absl::UnavailableError("no request under way was answered in time");
      if (!status.ok()) {
        return absl::UnavailableError(StrCat(requests[index].method, " ", requests[index].target,
                                             ": ", std::string(status.message())));
      }
      if (!exchange->ended()) {
        ++it;
        continue;
      }
      responses[index] = {exchange->response().code, std::move(exchange->response().body)};
      it = running.erase(it);
    }
  }
  return responses;
}

absl::StatusOr<HttpResponse> HttpClient::Send(HttpRequest request) {
  ASSIGN_OR_RETURN(std::vector<HttpResponse> responses, Send(std::vector{std::move(request)}));
  return std::move(responses.front());
}

}  // namespace mandate::fidelity
