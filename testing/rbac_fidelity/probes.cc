#include "testing/rbac_fidelity/probes.h"

#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/request_info.h"
#include "testing/apiserver/access/forbidden.h"

namespace mandate::fidelity {
namespace {

using Strings = std::vector<std::string>;

// The message of a metav1.Status; any other body as a whole.
std::string MessageOf(const std::string& body) {
  const absl::StatusOr<Json::Value> status = ParseJson(body);
  const Json::Value* message = status.ok() ? FindMember(*status, "message") : nullptr;
  return message != nullptr && message->isString() ? message->asString() : body;
}

}  // namespace

std::string Probes::Path() {
  static const Strings heads{"/api/v1",       "/api/v1",       "/api/v2",
                             "/apis/apps/v1", "/apis/apps/v1", "/apis/x.example/v1beta1",
                             "/apis/apps",    "/api",          "/apix/v1",
                             "//api/v1",      "/api//v1",      "/fid"};
  static const Strings words{"pods",  "namespaces",   "namespaces", "deployments", "nodes", "watch",
                             "proxy", "status",       "finalize",   "log",         "scale", "web",
                             "shop",  "system%3Aone", "a%2Fb",      "w%65b",       "a+b",   "..",
                             "",      "B%C3%BCcher",  "%20",        "a;b",         "a=b&c", "%25"};
  std::string path = dice_.Pick(heads);
  for (size_t n = dice_.Below(7); n > 0; --n) path += "/" + dice_.Pick(words);
  if (dice_.Chance(8)) path += "/";
  if (dice_.Chance(2)) path += dice_.Pick(Strings{"%", "%zz", "%2"});
  return path;
}

std::string Probes::Query() {
  static const Strings parameters{"watch=1",
                                  "watch=true",
                                  "watch=0",
                                  "watch=False",
                                  "watch",
                                  "watch=",
                                  "watch=%31",
                                  "limit=5",
                                  "limit=x",
                                  "limit=%2B5",
                                  "limit=",
                                  "timeoutSeconds=9",
                                  "timeoutSeconds=1.5",
                                  "a;b=c",
                                  "pretty=1",
                                  "resourceVersion=z",
                                  "allowWatchBookmarks=maybe",
                                  "%zz=1",
                                  "labelSelector=a%3Db",
                                  "labelSelector=a+in+(b,c)",
                                  "labelSelector=a+in+b",
                                  "labelSelector=,",
                                  "labelSelector=!a",
                                  "labelSelector=a%3E1",
                                  "labelSelector=a%3Ex",
                                  "labelSelector=x.y/a%3Db,!c",
                                  "fieldSelector=metadata.name=web",
                                  "fieldSelector=metadata.name=web",
                                  "fieldSelector=metadata.name%3D%3Dweb",
                                  "fieldSelector=metadata.name!=web",
                                  "fieldSelector=metadata.name=web,foo",
                                  "fieldSelector=spec.x=y,metadata.name=web",
                                  "fieldSelector=metadata.name=a/b",
                                  "fieldSelector=metadata.name=..",
                                  "fieldSelector=metadata.name=",
                                  R"(fieldSelector=metadata.name=a\,b)",
                                  R"(fieldSelector=metadata.name=a\b)",
                                  "fieldSelector=metadata.name=b,metadata.name=a",
                                  "fieldSelector=metadata.namespace=shop"};
  std::string query;
  for (size_t n = dice_.Below(4); n > 0; --n) {
    query += (query.empty() ? "?" : "&") + dice_.Pick(parameters);
  }
  return query;
}

Request Probes::Next() {
  static const Strings methods{"GET", "GET",   "GET",    "GET",     "POST",
                               "PUT", "PATCH", "DELETE", "OPTIONS", "FROB"};
  static const Strings lists{"/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments"};
  // Query parameters matter only for lists.
  const bool list = dice_.Chance(50);
  const std::string method = list ? "GET" : dice_.Pick(methods);
  const std::string path = list ? dice_.Pick(lists) : Path();
  Request request = NewRequest(method, path + Query(), "application/json");
  Impersonate({.name = user_, .groups = {}}, request);
  return request;
}

ProbeVerdict Compare(const std::string& user, const Request& request, const Response& response) {
  const auto attributes = rbac::AttributesOf(request.method, request.target);
  ProbeVerdict verdict;
  verdict.got = StrCat(response.code, " ", MessageOf(response.body));
  if (!attributes.ok()) {
    verdict.expected = std::string(attributes.status().message());
    const bool refused = response.code == 400 || response.code == 500;
    verdict.result = refused ? ProbeResult::kSame : ProbeResult::kDifferent;
    return verdict;
  }
  verdict.expected = StrCat("403 ", rbac::ForbiddenMessage(user, *attributes));
  if (verdict.got == verdict.expected) return verdict;
  // The server grants a few paths to all authenticated users.
  const bool open = !attributes->is_resource_request && response.code != 403;
  verdict.result = open ? ProbeResult::kNotComparable : ProbeResult::kDifferent;
  return verdict;
}

}  // namespace mandate::fidelity
