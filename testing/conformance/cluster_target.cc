#include "testing/conformance/cluster_target.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/object/json.h"
#include "testing/conformance/audit_log.h"
#include "testing/conformance/http.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::conformance {
namespace {

constexpr int kServedPolls = 500;
constexpr absl::Duration kPause = absl::Milliseconds(20);

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot read ", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// etcd serves JSON over HTTP in addition to gRPC.
absl::Status Post(HttpClient& etcd, const std::string& path, const Json::Value& body) {
  ASSIGN_OR_RETURN(const Response response,
                   etcd.Send({.method = "POST",
                              .target = path,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = WriteJson(body),
                              .has_body = true,
                              .certificate = true}));
  if (response.code == 200) return absl::OkStatus();
  return absl::UnavailableError(StrCat("etcd: ", response.code, " ", response.body));
}

// Compacts as another API server on the same etcd would: the key tells the other servers, which
// also keep old states in memory, to drop them within seconds.
absl::Status Compact(const Connection& connection, const std::string& resource_version) {
  HttpClient etcd(connection);
  Json::Value tell;
  tell["key"] = absl::Base64Escape("compact_rev_key");
  tell["value"] = absl::Base64Escape(resource_version);
  RETURN_IF_ERROR(Post(etcd, "/v3/kv/put", tell));
  Json::Value compact;
  compact["revision"] = resource_version;
  compact["physical"] = true;
  return Post(etcd, "/v3/kv/compaction", compact);
}

Request AsAdmin(const Target& target, const std::string& method, const std::string& path) {
  Request request{.method = method,
                  .target = path,
                  .headers = {{"Content-Type", "application/json"}},
                  .body = "",
                  .has_body = false,
                  .certificate = target.token.empty()};
  if (!target.token.empty()) {
    request.headers.emplace_back("Authorization", StrCat("Bearer ", target.token));
  }
  return request;
}

absl::Status InstallCrd(HttpClient& http, const Target& target, const Json::Value& crd) {
  Request create =
      AsAdmin(target, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  create.body = WriteJson(crd);
  create.has_body = true;
  ASSIGN_OR_RETURN(const Response created, http.Send(create));
  if (created.code != 201 && created.code != 409) {
    return absl::UnavailableError(StrCat("installing a CRD: ", created.code, " ", created.body));
  }
  const Json::Value& spec = crd["spec"];
  const std::string collection =
      StrCat("/apis/", spec["group"].asString(), "/", spec["versions"][0]["name"].asString(), "/",
             spec["names"]["plural"].asString());
  for (int i = 0; i < kServedPolls; ++i) {
    ASSIGN_OR_RETURN(const Response list, http.Send(AsAdmin(target, "GET", collection)));
    if (list.code == 200) return absl::OkStatus();
    http.Await([] { return false; }, kPause);
  }
  return absl::UnavailableError(StrCat(collection, " is never served"));
}

}  // namespace

absl::StatusOr<Target> TargetOfKubeconfig(const std::string& path) {
  ASSIGN_OR_RETURN(const ClusterConfig config, LoadKubeconfig({path}));
  Target target;
  target.connection.server = config.endpoint.server;
  target.connection.ca_pem = config.endpoint.ca_pem;
  if (const auto* certificate = std::get_if<ClientCertificate>(&config.base)) {
    target.connection.certificate_pem = certificate->certificate_pem;
    target.connection.key_pem = std::string(certificate->key_pem->Reveal());
  } else if (const auto* token = std::get_if<StaticToken>(&config.base)) {
    target.token = std::string(token->token->Reveal());
  } else {
    ASSIGN_OR_RETURN(target.token, ReadFile(std::get<TokenFile>(config.base).path));
  }
  return target;
}

absl::Status InstallCrds(const Target& target, const std::string& folder) {
  HttpClient http(target.connection);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".yaml") continue;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(entry.path().string()));
    try {
      RETURN_IF_ERROR(InstallCrd(http, target, ToJson(YAML::Load(text))));
    } catch (const YAML::Exception& e) {
      return absl::InvalidArgumentError(StrCat(entry.path().string(), ": ", e.what()));
    }
  }
  if (error) return absl::NotFoundError(StrCat("cannot read ", folder));
  return absl::OkStatus();
}

absl::StatusOr<Target> ClusterTarget(const ClusterOptions& options) {
  ASSIGN_OR_RETURN(Target target, TargetOfKubeconfig(options.kubeconfig));
  if (!options.audit_log.empty()) target.audit_log = FollowFile(options.audit_log);
  target.uncached = options.uncached;
  target.owner_permissions = options.owner_permissions;
  if (!options.restart_etcd.empty()) {
    target.restart_etcd = [command = options.restart_etcd] {
      return std::system(command.c_str()) == 0
                 ? absl::OkStatus()
                 : absl::UnavailableError(StrCat("failed: ", command));
    };
  }
  if (!options.etcd.empty()) {
    Connection etcd{.server = options.etcd};
    ASSIGN_OR_RETURN(etcd.ca_pem, ReadFile(options.etcd_pki + "/etcd-ca.crt"));
    ASSIGN_OR_RETURN(etcd.certificate_pem, ReadFile(options.etcd_pki + "/etcd.crt"));
    ASSIGN_OR_RETURN(etcd.key_pem, ReadFile(options.etcd_pki + "/etcd.key"));
    target.compact = [etcd](const std::string& version) { return Compact(etcd, version); };
  }
  if (!options.crds.empty()) {
    RETURN_IF_ERROR(InstallCrds(target, options.crds));
    target.crds = true;
  }
  return target;
}

}  // namespace mandate::conformance
