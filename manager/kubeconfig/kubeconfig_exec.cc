#include "manager/kubeconfig/kubeconfig_exec.h"

#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
// The cluster's extension that a plugin gets as spec.cluster.config.
constexpr std::string_view kExtension = "client.authentication.k8s.io/exec";

// Reads the members of one user's exec entry.
class Reader {
 public:
  Reader(const Json::Value& exec, const std::string& origin) : exec_(exec), origin_(origin) {}

  absl::Status Wrong(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(origin_, ": exec", what));
  }
  // The text of a member; "" if it is absent.
  absl::StatusOr<std::string> Text(std::string_view key) const {
    const Json::Value* value = FindMember(exec_, key);
    if (value == nullptr || value->isNull()) return std::string();
    if (!value->isString()) return Wrong(StrCat(".", key, " is not a string"));
    return value->asString();
  }
  absl::StatusOr<bool> Flag(std::string_view key) const {
    const Json::Value* value = FindMember(exec_, key);
    if (value == nullptr || value->isNull()) return false;
    if (!value->isBool()) return Wrong(StrCat(".", key, " is neither true nor false"));
    return value->asBool();
  }
  // Null if the member is absent.
  absl::StatusOr<const Json::Value*> List(std::string_view key) const {
    const Json::Value* value = FindMember(exec_, key);
    if (value == nullptr || value->isNull()) return nullptr;
    if (!value->isArray()) return Wrong(StrCat(".", key, " is not a list"));
    return value;
  }

 private:
  const Json::Value& exec_;
  const std::string& origin_;
};

absl::Status CheckVersion(const std::string& version, const std::string& origin) {
  if (version == StrCat(kGroup, "v1") || version == StrCat(kGroup, "v1beta1")) {
    return absl::OkStatus();
  }
  if (version == StrCat(kGroup, "v1alpha1")) {
    return absl::UnimplementedError(
        StrCat(origin, ": exec.apiVersion is v1alpha1, which Kubernetes 1.24 removed: write ",
               kGroup, "v1beta1, and update the plugin"));
  }
  return absl::InvalidArgumentError(StrCat(origin, ": exec.apiVersion is \"", version,
                                           "\"; it must be ", kGroup, "v1 or v1beta1"));
}

absl::Status CheckInteractiveMode(const std::string& mode, const ExecPlugin& plugin) {
  if (mode == "IfAvailable" || mode == "Never") return absl::OkStatus();
  if (mode == "Always") {
    return absl::UnimplementedError(StrCat(
        plugin.origin, ": exec.interactiveMode is Always, but the manager has no terminal for ",
        plugin.command, ": use a token, or a plugin that needs no input (IfAvailable or Never)"));
  }
  if (mode.empty()) {
    // In v1beta1, interactiveMode has a default.
    if (plugin.api_version.ends_with("beta1")) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat(plugin.origin, ": exec has no interactiveMode, which ",
                                             plugin.api_version,
                                             " requires: write IfAvailable or Never"));
  }
  return absl::InvalidArgumentError(StrCat(plugin.origin, ": exec.interactiveMode is \"", mode,
                                           "\"; it must be IfAvailable, Never or Always"));
}

Json::Value ClusterInfo(const KubeconfigEntry& cluster, const Endpoint& endpoint) {
  Json::Value info(Json::objectValue);
  info["server"] = cluster.Get("server");
  info["certificate-authority-data"] = absl::Base64Escape(endpoint.ca_pem);
  for (const char* key : {"tls-server-name", "proxy-url"}) {
    if (cluster.Has(key)) info[key] = cluster.Get(key);
  }
  const Json::Value* extensions = cluster.Tree("extensions");
  if (extensions == nullptr || !extensions->isArray()) return info;
  for (const Json::Value& extension : *extensions) {
    const Json::Value* name = FindMember(extension, "name");
    const Json::Value* config = FindMember(extension, "extension");
    if (name != nullptr && *name == Json::Value(std::string(kExtension)) && config != nullptr) {
      info["config"] = *config;
    }
  }
  return info;
}

}  // namespace

absl::StatusOr<ExecPlugin> ReadExecPlugin(const KubeconfigEntry& user, const std::string& origin,
                                          const KubeconfigEntry& cluster,
                                          const Endpoint& endpoint) {
  const Json::Value* exec = user.Tree("exec");
  if (exec == nullptr || !exec->isObject()) {
    return absl::InvalidArgumentError(StrCat(origin, ": exec is not a map"));
  }
  const Reader read(*exec, origin);
  ExecPlugin plugin{.origin = origin};
  ASSIGN_OR_RETURN(plugin.api_version, read.Text("apiVersion"));
  RETURN_IF_ERROR(CheckVersion(plugin.api_version, origin));
  ASSIGN_OR_RETURN(plugin.command, read.Text("command"));
  if (plugin.command.empty()) return read.Wrong(" has no command");
  if (plugin.command.find('/') != std::string::npos) {
    // Like every path in a kubeconfig, it is relative to the file.
    plugin.command =
        std::filesystem::absolute(std::filesystem::path(user.file).parent_path() / plugin.command)
            .lexically_normal()
            .string();
  }
  ASSIGN_OR_RETURN(plugin.install_hint, read.Text("installHint"));
  ASSIGN_OR_RETURN(const std::string mode, read.Text("interactiveMode"));
  RETURN_IF_ERROR(CheckInteractiveMode(mode, plugin));
  ASSIGN_OR_RETURN(const Json::Value* args, read.List("args"));
  for (Json::ArrayIndex i = 0; args != nullptr && i < args->size(); ++i) {
    const Json::Value& arg = (*args)[i];
    if (!arg.isString()) return read.Wrong(StrCat(".args[", i, "] is not a string: quote it"));
    plugin.args.push_back(arg.asString());
  }
  ASSIGN_OR_RETURN(const Json::Value* env, read.List("env"));
  for (Json::ArrayIndex i = 0; env != nullptr && i < env->size(); ++i) {
    const Json::Value* name = FindMember((*env)[i], "name");
    const Json::Value* value = FindMember((*env)[i], "value");
    if (name == nullptr || !name->isString() || name->asString().empty() ||
        name->asString().find('=') != std::string::npos) {
      return read.Wrong(StrCat(".env[", i, "] has no name"));
    }
    if (value == nullptr || !value->isString()) {
      return read.Wrong(
          StrCat(".env[", i, "] has no value, or a value that is not a string: quote it"));
    }
    plugin.env.emplace_back(name->asString(), value->asString());
  }
  ASSIGN_OR_RETURN(const bool provide, read.Flag("provideClusterInfo"));
  Json::Value info(Json::objectValue);
  info["apiVersion"] = plugin.api_version;
  info["kind"] = "ExecCredential";
  info["spec"]["interactive"] = false;
  if (provide) info["spec"]["cluster"] = ClusterInfo(cluster, endpoint);
  plugin.info = WriteJson(info);
  return plugin;
}

}  // namespace mandate
