#include "manager/kubeconfig/kubeconfig.h"

#include <stdlib.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "manager/core/closest_name.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig_exec.h"
#include "manager/kubeconfig/kubeconfig_file.h"
#include "manager/transport/proxy.h"
#include "manager/transport/request_url.h"

namespace mandate {
namespace {

absl::Status Invalid(const KubeconfigEntry& entry, std::string_view what, std::string_view name,
                     std::string_view problem) {
  return absl::InvalidArgumentError(StrCat(entry.file, ": ", what, " \"", name, "\" ", problem));
}

// The entry that `name` points to. An error lists the names of the entries that exist.
absl::StatusOr<const KubeconfigEntry*> Find(
    const std::map<std::string, KubeconfigEntry, std::less<>>& entries, std::string_view what,
    std::string_view name, std::string_view origin) {
  const auto at = entries.find(name);
  if (at != entries.end()) return &at->second;
  std::vector<std::string> names;
  for (const auto& [existing, entry] : entries) names.push_back(existing);
  const std::string problem =
      name.empty() ? StrCat("names no ", what)
                   : StrCat("names the ", what, " \"", name, "\", which does not exist");
  const std::string known =
      names.empty() ? "there are none" : StrCat("known: ", absl::StrJoin(names, ", "));
  return absl::InvalidArgumentError(
      StrCat(origin, " ", problem, "; ", known, DidYouMean(name, names)));
}

// `member`-data decoded from base64, or else the file that `member` names. Empty if neither is set.
absl::StatusOr<std::string> Material(const KubeconfigEntry& entry, const std::string& member,
                                     const FileReader& reader) {
  const std::string encoded = entry.Get(member + "-data");
  if (!encoded.empty()) {
    std::string decoded;
    if (!absl::Base64Unescape(encoded, &decoded)) {
      return absl::InvalidArgumentError(StrCat(entry.file, ": ", member, "-data is not base64"));
    }
    return decoded;
  }
  if (entry.Get(member).empty()) return std::string();
  absl::StatusOr<std::string> text = reader(entry.Path(member));
  if (text.ok()) return text;
  return absl::Status(text.status().code(),
                      StrCat(entry.file, ": ", member, ": ", AsStd(text.status().message()),
                             "; correct the path, or use ", member, "-data"));
}

absl::Status FillEndpoint(const KubeconfigEntry& cluster, const std::string& name,
                          const KubeconfigOptions& options, Endpoint& endpoint) {
  endpoint.server = std::string(absl::StripSuffix(cluster.Get("server"), "/"));
  if (!absl::StartsWith(endpoint.server, "https://")) {
    return Invalid(cluster, "cluster", name,
                   StrCat("has the server \"", WithoutUser(endpoint.server),
                          "\"; only https:// is supported"));
  }
  const std::string insecure = cluster.Get("insecure-skip-tls-verify");
  if (!insecure.empty() && insecure != "false") {
    return Invalid(cluster, "cluster", name,
                   "sets insecure-skip-tls-verify, which would send tokens to any server; "
                   "give its certificate-authority instead");
  }
  const std::string proxy = cluster.Get("proxy-url");
  if (proxy.empty()) {
    ASSIGN_OR_RETURN(endpoint.proxy, ProxyFromEnvironment(endpoint.server, options.environment));
  } else {
    ASSIGN_OR_RETURN(endpoint.proxy, ParseProxy(proxy, StrCat(cluster.file, ": cluster \"", name,
                                                              "\": proxy-url")));
  }
  ASSIGN_OR_RETURN(endpoint.ca_pem, Material(cluster, "certificate-authority", options.reader));
  if (cluster.Get("certificate-authority-data").empty()) {
    endpoint.ca_file = cluster.Path("certificate-authority");
  }
  if (!absl::StrContains(endpoint.ca_pem, "-----BEGIN CERTIFICATE-----")) {
    return Invalid(cluster, "cluster", name,
                   endpoint.ca_pem.empty()
                       ? "has no CA to verify the server with; add certificate-authority-data, or "
                         "certificate-authority with the path of its file"
                       : "has a certificate-authority that is not a PEM certificate");
  }
  endpoint.tls_server_name = cluster.Get("tls-server-name");
  return absl::OkStatus();
}

absl::StatusOr<BaseCredential> ReadUser(const KubeconfigEntry& user, const std::string& name,
                                        const KubeconfigEntry& cluster, const Endpoint& endpoint,
                                        const FileReader& reader) {
  for (const char* member : {"auth-provider", "as", "as-uid", "as-groups"}) {
    if (!user.Has(member)) continue;
    return absl::UnimplementedError(StrCat(
        user.file, ": user \"", name, "\" has ", member,
        ", which is not supported; give a token, a tokenFile, a client certificate or an exec "
        "plugin"));
  }
  if (user.Has("username") || user.Has("password")) {
    return Invalid(user, "user", name,
                   "has a user name and password, which API servers no longer accept");
  }
  const bool has_token = !user.Get("token").empty() || !user.Get("tokenFile").empty();
  ASSIGN_OR_RETURN(std::string certificate, Material(user, "client-certificate", reader));
  ASSIGN_OR_RETURN(std::string key_text, Material(user, "client-key", reader));
  Secret key(std::move(key_text));
  if (certificate.empty() != key.empty()) {
    return Invalid(user, "user", name,
                   certificate.empty() ? "has a client-key but no client-certificate"
                                       : "has a client-certificate but no client-key");
  }
  if (has_token && !certificate.empty()) {
    return Invalid(user, "user", name,
                   "has a token and a client certificate; the server would use the certificate: "
                   "keep one");
  }
  if (user.Has("exec")) {
    if (has_token || !certificate.empty()) {
      return Invalid(user, "user", name,
                     "has an exec plugin and a token or client certificate: keep one");
    }
    return ReadExecPlugin(user, StrCat(user.file, ": user \"", name, "\""), cluster, endpoint);
  }
  if (!certificate.empty()) {
    return ClientCertificate{.certificate_pem = std::move(certificate),
                             .key_pem = std::make_shared<const Secret>(std::move(key))};
  }
  if (!user.Get("tokenFile").empty()) return TokenFile{user.Path("tokenFile")};
  if (!user.Get("token").empty()) {
    return StaticToken{std::make_shared<const Secret>(user.Get("token"))};
  }
  return Invalid(
      user, "user", name,
      "has no credential; give a token, a tokenFile, a client certificate or an exec plugin");
}

}  // namespace

EnvironmentVariables ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::vector<std::string> KubeconfigPaths(std::string_view flag,
                                         const EnvironmentVariables& environment) {
  if (!flag.empty()) return {std::string(flag)};
  if (const auto list = environment("KUBECONFIG"); list.has_value() && !list->empty()) {
    return absl::StrSplit(*list, ':', absl::SkipEmpty());
  }
  return {};
}

absl::StatusOr<ClusterConfig> LoadKubeconfig(const std::vector<std::string>& paths,
                                             const KubeconfigOptions& options) {
  KubeconfigFile file;
  size_t found = 0;
  for (const std::string& path : paths) {
    absl::StatusOr<std::string> text = options.reader(path);
    if (absl::IsNotFound(text.status()) && paths.size() > 1) continue;
    if (!text.ok()) {
      return absl::Status(text.status().code(),
                          StrCat(AsStd(text.status().message()),
                                 "; give the path of a kubeconfig that the manager may read"));
    }
    ++found;
    const Secret secret(*std::move(text));
    RETURN_IF_ERROR(AddKubeconfig(secret.Reveal(), path, file));
  }
  if (found == 0) {
    return absl::NotFoundError(
        StrCat("none of these files exists: ", absl::StrJoin(paths, ", "), "; use --kubeconfig"));
  }
  const std::string& files = paths.size() == 1 ? paths[0] : "the kubeconfig";
  const std::string context_name = options.context.empty() ? file.current_context : options.context;
  ASSIGN_OR_RETURN(const KubeconfigEntry* context,
                   Find(file.contexts, "current-context", context_name, files));
  const std::string origin = StrCat(context->file, ": context \"", context_name, "\"");
  const std::string cluster_name = context->Get("cluster");
  const std::string user_name = context->Get("user");
  ASSIGN_OR_RETURN(const KubeconfigEntry* cluster,
                   Find(file.clusters, "cluster", cluster_name, origin));
  ASSIGN_OR_RETURN(const KubeconfigEntry* user, Find(file.users, "user", user_name, origin));
  ClusterConfig config;
  config.ns = context->Get("namespace");
  RETURN_IF_ERROR(FillEndpoint(*cluster, cluster_name, options, config.endpoint));
  ASSIGN_OR_RETURN(config.base,
                   ReadUser(*user, user_name, *cluster, config.endpoint, options.reader));
  return config;
}

absl::StatusOr<ClusterConfig> InClusterConfig(const InClusterOptions& options) {
  const std::string host = options.environment("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = options.environment("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return absl::FailedPreconditionError(
        "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; use "
        "--kubeconfig");
  }
  const auto read = [&](const char* name) -> absl::StatusOr<std::string> {
    absl::StatusOr<std::string> text = options.reader(StrCat(options.root, "/", name));
    if (text.ok()) return text;
    return absl::FailedPreconditionError(
        StrCat("the pod's ServiceAccount volume is incomplete; check that "
               "automountServiceAccountToken is not false: ",
               AsStd(text.status().message())));
  };
  ClusterConfig config;
  // In a URL, an IPv6 address has brackets.
  const bool v6 = absl::StrContains(host, ":");
  config.endpoint.server = StrCat("https://", v6 ? "[" : "", host, v6 ? "]" : "", ":", port);
  ASSIGN_OR_RETURN(config.endpoint.proxy,
                   ProxyFromEnvironment(config.endpoint.server, options.environment));
  ASSIGN_OR_RETURN(config.endpoint.ca_pem, read("ca.crt"));
  config.endpoint.ca_file = StrCat(options.root, "/ca.crt");
  config.base = TokenFile{StrCat(options.root, "/token")};
  ASSIGN_OR_RETURN(const std::string ns, read("namespace"));
  config.ns = std::string(absl::StripAsciiWhitespace(ns));
  return config;
}

}  // namespace mandate
