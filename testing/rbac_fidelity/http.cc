#include "testing/rbac_fidelity/http.h"

#include <curl/curl.h>
#include <yaml-cpp/yaml.h>

#include <deque>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::fidelity {
namespace {

constexpr long kTimeoutMs = 30'000;

struct Credentials {
  std::string server;
  std::string ca;
  std::string certificate;
  std::string key;
};

// The entry's `<field>-data`, or the content of the file that `<field>` names.
std::string Material(const YAML::Node& entry, const std::string& field) {
  if (const YAML::Node data = entry[field + "-data"]) {
    std::string decoded;
    absl::Base64Unescape(data.as<std::string>(), &decoded);
    return decoded;
  }
  if (!entry[field]) return "";
  std::ifstream file(entry[field].as<std::string>());
  return {std::istreambuf_iterator<char>(file), {}};
}

YAML::Node Named(const YAML::Node& list, const std::string& name, const std::string& field) {
  for (const YAML::Node& entry : list) {
    if (entry["name"].as<std::string>() == name) return entry[field];
  }
  return {};
}

absl::StatusOr<Credentials> Load(const std::string& path) {
  try {
    const YAML::Node file = YAML::LoadFile(path);
    const YAML::Node context =
        Named(file["contexts"], file["current-context"].as<std::string>(), "context");
    const YAML::Node cluster =
        Named(file["clusters"], context["cluster"].as<std::string>(), "cluster");
    const YAML::Node user = Named(file["users"], context["user"].as<std::string>(), "user");
    Credentials c{.server = cluster["server"].as<std::string>(),
                  .ca = Material(cluster, "certificate-authority"),
                  .certificate = Material(user, "client-certificate"),
                  .key = Material(user, "client-key")};
    if (!c.ca.empty() && !c.certificate.empty() && !c.key.empty()) return c;
    return absl::InvalidArgumentError(
        StrCat(path, ": needs a CA and a client certificate with its key; use an administrator's"));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(StrCat(path, ": ", e.what()));
  }
}

curl_blob Blob(std::string& data) { return {data.data(), data.size(), CURL_BLOB_NOCOPY}; }

size_t Append(char* data, size_t size, size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

struct Transfer {
  explicit Transfer(CURL* easy) : easy(easy) {}
  ~Transfer() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* const easy;
  curl_slist* headers = nullptr;
  size_t index = 0;
};

}  // namespace

struct HttpClient::Impl {
  ~Impl() { curl_multi_cleanup(multi); }

  void Start(const HttpRequest& request, size_t index, HttpResponse& response) {
    Transfer& t = transfers.emplace_back(curl_easy_init());
    t.index = index;
    CURL* e = t.easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, &t);
    curl_easy_setopt(e, CURLOPT_URL, credentials.server.c_str());
    curl_easy_setopt(e, CURLOPT_REQUEST_TARGET, request.target.c_str());
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, kTimeoutMs);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_CAPATH, nullptr);
    for (auto [option, data] : {std::pair{CURLOPT_CAINFO_BLOB, &credentials.ca},
                                {CURLOPT_SSLCERT_BLOB, &credentials.certificate},
                                {CURLOPT_SSLKEY_BLOB, &credentials.key}}) {
      curl_blob blob = Blob(*data);
      curl_easy_setopt(e, option, &blob);
    }
    const auto header = [&](const char* name, const std::string& value) {
      if (!value.empty()) t.headers = curl_slist_append(t.headers, StrCat(name, value).c_str());
    };
    header("Accept: ", request.accept);
    header("Content-Type: ", request.content_type);
    header("Impersonate-User: ", request.impersonate);
    for (const std::string& group : request.groups) header("Impersonate-Group: ", group);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t.headers);
    if (!request.content_type.empty()) {
      curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(e, CURLOPT_POSTFIELDS, request.body.data());
    }
    if (request.method == "HEAD") curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, Append);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, &response.body);
    curl_multi_add_handle(multi, e);
  }

  Credentials credentials;
  CURLM* const multi = curl_multi_init();
  std::deque<Transfer> transfers;
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Create(const std::string& kubeconfig) {
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->credentials, Load(kubeconfig));
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

absl::StatusOr<std::vector<HttpResponse>> HttpClient::Send(const std::vector<HttpRequest>& requests,
                                                           int at_once) {
  std::vector<HttpResponse> responses(requests.size());
  absl::Status status;
  size_t started = 0;
  for (int running = 0; status.ok() && (started < requests.size() || running > 0);) {
    for (; running < at_once && started < requests.size(); ++started, ++running) {
      impl_->Start(requests[started], started, responses[started]);
    }
    curl_multi_perform(impl_->multi, &running);
    int left;
    while (const CURLMsg* message = curl_multi_info_read(impl_->multi, &left)) {
      Transfer* transfer;
      long code = 0;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &code);
      responses[transfer->index].status = static_cast<int>(code);
      if (message->data.result != CURLE_OK) {
        const HttpRequest& request = requests[transfer->index];
        status = absl::UnavailableError(StrCat(request.method, " ", impl_->credentials.server,
                                               request.target, ": ",
                                               curl_easy_strerror(message->data.result)));
      }
      curl_multi_remove_handle(impl_->multi, transfer->easy);
    }
    if (running > 0) curl_multi_poll(impl_->multi, nullptr, 0, 1000, nullptr);
  }
  for (Transfer& t : impl_->transfers) curl_multi_remove_handle(impl_->multi, t.easy);
  impl_->transfers.clear();
  if (!status.ok()) return status;
  return responses;
}

absl::StatusOr<HttpResponse> HttpClient::Send(HttpRequest request) {
  ASSIGN_OR_RETURN(std::vector<HttpResponse> responses, Send(std::vector{std::move(request)}));
  return std::move(responses.front());
}

}  // namespace mandate::fidelity
