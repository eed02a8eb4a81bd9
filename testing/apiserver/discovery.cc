#include "testing/apiserver/discovery.h"

#include <jsoncpp/json/json.h>

#include <map>
#include <string_view>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {
namespace {

using Virtual = std::vector<VirtualResource>;

Json::Value StringList(const std::vector<std::string>& strings) {
  Json::Value out(Json::arrayValue);
  for (const std::string& one : strings) out.append(one);
  return out;
}

const std::vector<std::string>& AllVerbs() {
  static const auto& verbs = *new std::vector<std::string>{
      "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  return verbs;
}

// The same verbs, in the order that the server uses for CRD groups.
const std::vector<std::string>& CustomVerbs() {
  static const auto& verbs = *new std::vector<std::string>{
      "delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  return verbs;
}

std::string GroupVersion(const std::string& group, const std::string& version) {
  return group.empty() ? version : group + "/" + version;
}

std::string KindOf(const VirtualResource& resource) {
  return resource.message.substr(resource.message.rfind('.') + 1);
}

// Every group and its versions, including those of virtual resources.
std::map<std::string, std::map<std::string, bool>> Groups(const Core& core,
                                                          const Virtual& virtual_resources) {
  std::map<std::string, std::map<std::string, bool>> groups;
  for (const auto& [group, versions] : core.kinds.groups()) {
    for (const auto& [version, types] : versions) groups[group][version] = true;
  }
  for (const VirtualResource& one : virtual_resources) groups[one.group][one.version] = true;
  return groups;
}

Json::Value GroupObject(const std::string& group, const std::map<std::string, bool>& versions) {
  Json::Value out(Json::objectValue);
  out["name"] = group;
  for (const auto& [version, unused] : versions) {
    Json::Value one(Json::objectValue);
    one["groupVersion"] = GroupVersion(group, version);
    one["version"] = version;
    out["versions"].append(one);
  }
  out["preferredVersion"] = out["versions"][0];
  return out;
}

Json::Value ResourceList(const Core& core, const Virtual& virtual_resources,
                         const std::string& group, const std::string& version) {
  Json::Value out(Json::objectValue);
  out["kind"] = "APIResourceList";
  out["apiVersion"] = "v1";
  out["groupVersion"] = GroupVersion(group, version);
  Json::Value& resources = out["resources"] = Json::Value(Json::arrayValue);
  const auto add = [&](const std::string& name, const std::string& singular, bool namespaced,
                       const std::string& kind, const std::vector<std::string>& verbs) -> auto& {
    Json::Value one(Json::objectValue);
    one["name"] = name;
    one["singularName"] = singular;
    one["namespaced"] = namespaced;
    one["kind"] = kind;
    one["verbs"] = StringList(verbs);
    return resources.append(one);
  };
  const auto versions = core.kinds.groups().find(group);
  if (versions != core.kinds.groups().end()) {
    const auto types = versions->second.find(version);
    if (types != versions->second.end()) {
      for (const auto& type : types->second) {
        Json::Value& one = add(type->name.resource, type->singular, type->namespaced, type->kind,
                               type->custom() ? CustomVerbs() : AllVerbs());
        if (!type->short_names.empty()) one["shortNames"] = StringList(type->short_names);
        if (!type->categories.empty()) one["categories"] = StringList(type->categories);
        if (!type->has_status) continue;
        add(type->name.resource + "/status", "", type->namespaced, type->kind,
            {"get", "patch", "update"});
      }
    }
  }
  for (const VirtualResource& one : virtual_resources) {
    if (one.group != group || one.version != version) continue;
    const bool whole = one.resource.find('/') == std::string::npos;
    const std::string singular = whole ? absl::AsciiStrToLower(KindOf(one)) : "";
    Json::Value& entry = add(one.resource, singular, one.namespaced, KindOf(one), {"create"});
    if (one.kind_group.empty() || one.kind_group == group) continue;
    entry["group"] = one.kind_group;
    entry["version"] = one.version;
  }
  std::map<std::string, Json::Value> by_name;
  for (const Json::Value& one : resources) by_name[one["name"].asString()] = one;
  resources.clear();
  for (const auto& [name, one] : by_name) resources.append(one);
  return out;
}

// Aggregated discovery, apidiscovery.k8s.io/v2.
Json::Value Aggregated(const Core& core, const Virtual& virtual_resources, bool core_group) {
  Json::Value out(Json::objectValue);
  out["kind"] = "APIGroupDiscoveryList";
  out["apiVersion"] = "apidiscovery.k8s.io/v2";
  out["metadata"] = Json::Value(Json::objectValue);
  Json::Value& items = out["items"] = Json::Value(Json::arrayValue);
  for (const auto& [group, versions] : Groups(core, virtual_resources)) {
    if (group.empty() != core_group) continue;
    Json::Value item(Json::objectValue);
    item["metadata"] = Json::Value(Json::objectValue);
    if (!group.empty()) item["metadata"]["name"] = group;
    for (const auto& [version, unused] : versions) {
      Json::Value one(Json::objectValue);
      one["version"] = version;
      one["freshness"] = "Current";
      Json::Value& resources = one["resources"] = Json::Value(Json::arrayValue);
      const Json::Value list = ResourceList(core, virtual_resources, group, version);
      for (const Json::Value& plain : list["resources"]) {
        const std::string name = plain["name"].asString();
        const size_t slash = name.find('/');
        Json::Value entry(Json::objectValue);
        entry["responseKind"]["group"] = group;
        entry["responseKind"]["version"] = version;
        entry["responseKind"]["kind"] = plain["kind"];
        entry["verbs"] = plain["verbs"];
        if (slash != name.npos) {
          entry["subresource"] = name.substr(slash + 1);
          for (Json::Value& parent : resources) {
            if (parent["resource"] == Json::Value(name.substr(0, slash))) {
              parent["subresources"].append(entry);
            }
          }
          continue;
        }
        entry["resource"] = name;
        entry["scope"] = plain["namespaced"].asBool() ? "Namespaced" : "Cluster";
        entry["singularResource"] = plain["singularName"];
        if (plain.isMember("shortNames")) entry["shortNames"] = plain["shortNames"];
        resources.append(entry);
      }
      item["versions"].append(one);
    }
    items.append(item);
  }
  return out;
}

Json::Value VersionObject() {
  Json::Value out(Json::objectValue);
  out["major"] = "1";
  out["minor"] = "36";
  out["emulationMajor"] = "1";
  out["emulationMinor"] = "36";
  out["minCompatibilityMajor"] = "1";
  out["minCompatibilityMinor"] = "35";
  out["gitVersion"] = "v1.36.3";
  out["gitCommit"] = "unknown";
  out["gitTreeState"] = "clean";
  out["buildDate"] = "2026-07-22T18:07:38Z";
  out["goVersion"] = "go1.26.8";
  out["compiler"] = "gc";
  out["platform"] = "linux/amd64";
  return out;
}

void RespondJson(Exchange& exchange, const Json::Value& value,
                 std::string content_type = "application/json") {
  exchange.Respond({.code = 200,
                    .headers = {{"content-type", std::move(content_type)}},
                    .body = WriteJson(value)});
}

// Responds with a message of meta/v1 in an encoding that the client accepts. `routed`: the response
// of the part of the server that checks media types before their parameters.
void RespondMessage(Exchange& exchange, const Json::Value& value, bool routed) {
  const Request& request = exchange.request();
  const auto encoding = AcceptedEncoding(request);
  if (!encoding) return exchange.Fail(NotAcceptableDiscovery(request, routed));
  if (*encoding == Encoding::kJson) return RespondJson(exchange, value);
  const std::string kind = value["kind"].asString();
  const auto* message = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
      "k8s.io.apimachinery.pkg.apis.meta.v1." + kind);
  const auto body = WriteMessage(value, "v1", kind, *encoding, *message);
  if (!body.ok()) return exchange.Fail(body.status());
  exchange.Respond({.code = 200,
                    .headers = {{"content-type", std::string(MediaType(*encoding))}},
                    .body = *body});
}

void RespondText(Exchange& exchange, int code, std::string text) {
  exchange.Respond({.code = code,
                    .headers = {{"content-type", "text/plain; charset=utf-8"}},
                    .body = std::move(text)});
}

bool WantsAggregated(const Request& request) {
  const std::string_view accept = request.Header("accept").value_or("");
  return accept.find("as=APIGroupDiscoveryList") != accept.npos &&
         (accept.find("v=v2;") != accept.npos || accept.find("v=v2,") != accept.npos ||
          accept.ends_with("v=v2"));
}

// Whether the group has custom resources.
bool IsCustom(const Core& core, const std::string& group) {
  const auto found = core.kinds.groups().find(group);
  if (found == core.kinds.groups().end()) return false;
  for (const auto& [version, types] : found->second) {
    for (const auto& type : types) {
      if (type->custom()) return true;
    }
  }
  return false;
}

void AnswerGroups(const Core& core, const Virtual& virtual_resources, Exchange& exchange,
                  std::string_view path) {
  const auto groups = Groups(core, virtual_resources);
  const std::string rest(path.substr(std::string_view("/apis/").size()));
  const size_t slash = rest.find('/');
  const auto group = groups.find(rest.substr(0, slash));
  if (group == groups.end() || group->first.empty()) {
    return RespondText(exchange, 404, "404 page not found\n");
  }
  if (slash == rest.npos || slash + 1 == rest.size()) {
    Json::Value out = GroupObject(group->first, group->second);
    out["kind"] = "APIGroup";
    out["apiVersion"] = "v1";
    return RespondMessage(exchange, out, /*routed=*/false);
  }
  const std::string version = rest.substr(slash + 1);
  const bool custom = IsCustom(core, group->first);
  if (!group->second.contains(version)) {
    if (custom) return RespondText(exchange, 404, "404 page not found\n");
    return exchange.Fail(NoSuchResource());
  }
  if (!custom && exchange.request().method != "GET") return exchange.Fail(MethodNotAllowed());
  RespondMessage(exchange, ResourceList(core, virtual_resources, group->first, version),
                 /*routed=*/!custom);
}

}  // namespace

void AnswerPath(const Core& core, const Virtual& virtual_resources, Exchange& exchange) {
  const Request& request = exchange.request();
  std::string_view path = request.path;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  constexpr char kAggregated[] =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  // Some paths accept only GET, and some any method.
  if (request.method != "GET" && (path == "/version" || path == "/api" || path == "/api/v1")) {
    return exchange.Fail(MethodNotAllowed());
  }
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    return RespondText(exchange, 200, "ok");
  }
  if (path == "/version") {
    if (!TakesJson(request)) return exchange.Fail(NotAcceptableError("application/json"));
    return RespondJson(exchange, VersionObject());
  }
  if (path == "/api" || path == "/apis") {
    if (WantsAggregated(request)) {
      return RespondJson(exchange, Aggregated(core, virtual_resources, path == "/api"),
                         kAggregated);
    }
    Json::Value out(Json::objectValue);
    out["kind"] = path == "/api" ? "APIVersions" : "APIGroupList";
    if (path == "/api") {
      out["versions"].append("v1");
      return RespondMessage(exchange, out, /*routed=*/true);
    }
    out["apiVersion"] = "v1";
    out["groups"] = Json::Value(Json::arrayValue);
    for (const auto& [group, versions] : Groups(core, virtual_resources)) {
      if (!group.empty()) out["groups"].append(GroupObject(group, versions));
    }
    return RespondMessage(exchange, out, /*routed=*/false);
  }
  if (path == "/api/v1") {
    return RespondMessage(exchange, ResourceList(core, virtual_resources, "", "v1"),
                          /*routed=*/true);
  }
  if (path.starts_with("/api/")) return exchange.Fail(NoSuchResource());
  if (path.starts_with("/apis/")) return AnswerGroups(core, virtual_resources, exchange, path);
  if (path.starts_with("/openapi/")) return exchange.Fail(Unsupported("OpenAPI"));
  RespondText(exchange, 404, "404 page not found\n");
}

}  // namespace mandate::apiserver
