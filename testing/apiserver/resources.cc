#include "testing/apiserver/resources.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/delete_flow.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/list_query.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/patch_body.h"
#include "testing/apiserver/reads.h"
#include "testing/apiserver/unknown_members.h"
#include "testing/apiserver/watch.h"
#include "testing/apiserver/write_flow.h"
#include "testing/apiserver/write_query.h"

namespace mandate::apiserver {
namespace {

// /api/v1/watch/…, the deprecated form of a watch.
bool IsOldWatch(const Request& request) {
  return request.attributes.verb == "watch" && request.path.find("/watch/") != std::string::npos;
}

// The rest of the path after namespace, resource, name and subresource. It must be empty.
bool HasMoreParts(const Request& request) {
  const rbac::Attributes& a = request.attributes;
  std::string path = a.api_group.empty() ? StrCat("/api/", a.api_version)
                                         : StrCat("/apis/", a.api_group, "/", a.api_version);
  if (IsOldWatch(request)) StrAppend(&path, "/watch");
  if (!a.ns.empty() && a.resource != "namespaces") StrAppend(&path, "/namespaces/", a.ns);
  StrAppend(&path, "/", a.resource);
  // The name may be from a field selector.
  if (!a.name.empty() && request.path.size() > path.size()) StrAppend(&path, "/", a.name);
  if (!a.subresource.empty()) StrAppend(&path, "/", a.subresource);
  return request.path != path && request.path != path + "/";
}

// Whether the path has the name.
bool IsNamed(const Request& request) {
  return !request.attributes.name.empty() &&
         request.path.find("/" + request.attributes.resource + "/") != std::string::npos;
}

// For custom kinds, HEAD is a GET without a body.
std::string MethodOf(const Request& request, const ResourceType& type) {
  return type.custom() && request.method == "HEAD" ? "GET" : request.method;
}

bool AllowsMethod(const Request& request, const ResourceType& type) {
  const bool all_namespaces = type.namespaced && request.attributes.ns.empty();
  const std::string method = MethodOf(request, type);
  if (!request.attributes.subresource.empty()) {
    return method == "GET" || method == "PUT" || method == "PATCH";
  }
  if (IsNamed(request)) {
    return method == "GET" || method == "PUT" || method == "PATCH" || method == "DELETE";
  }
  return method == "GET" || (!all_namespaces && (method == "POST" || method == "DELETE"));
}

// Another part of the server, with other messages, serves the groups that have only custom kinds.
bool IsCustom(const Kinds::Versions& group) {
  return std::all_of(group.begin(), group.end(), [](const auto& version) {
    return std::all_of(version.second.begin(), version.second.end(),
                       [](const auto& type) { return type->custom(); });
  });
}

// The features that are unsupported for every resource.
absl::Status CheckParameters(const Request& request) {
  const std::string timeout = request.Query("timeout").value_or("");
  absl::Duration unused;
  if (!timeout.empty() && !absl::ParseDuration(timeout, &unused)) {
    return BadRequest(
        StrCat("invalid timeout specified in the request URL - time: invalid duration ",
               rbac::Quote(timeout)));
  }
  return absl::OkStatus();
}

}  // namespace

Resources::Resources(Core& core, std::vector<VirtualResource> virtual_resources)
    : core_(core), virtual_(std::move(virtual_resources)) {}

const VirtualResource* Resources::FindVirtual(const rbac::Attributes& attributes) const {
  const std::string resource = attributes.subresource.empty()
                                   ? attributes.resource
                                   : StrCat(attributes.resource, "/", attributes.subresource);
  for (const VirtualResource& one : virtual_) {
    if (one.group == attributes.api_group && one.version == attributes.api_version &&
        one.resource == resource) {
      return &one;
    }
  }
  return nullptr;
}

void Resources::Handle(std::shared_ptr<Exchange> exchange) {
  const Request& request = exchange->request();
  const rbac::Attributes& attributes = request.attributes;
  if (IsOldWatch(request) && IsNamed(request)) {
    return exchange->Fail(Unsupported("the old path of a watch of one object"));
  }
  if (attributes.verb == "proxy") return exchange->Fail(Unsupported("proxying"));
  if (const VirtualResource* resource = FindVirtual(attributes)) {
    if (request.method != "POST") return exchange->Fail(MethodNotAllowed());
    return Create(*resource, std::move(exchange));
  }
  auto type = core_.kinds.Find(attributes.api_group, attributes.api_version, attributes.resource);
  const std::string& subresource = attributes.subresource;
  if (const absl::Status status = CheckParameters(request); !status.ok()) {
    return exchange->Fail(status);
  }
  if (type == nullptr ||
      (!type->namespaced && !attributes.ns.empty() && attributes.resource != "namespaces")) {
    return NoSuch(*exchange);
  }
  if (!subresource.empty() && !(subresource == "status" && type->has_status)) {
    if (subresource == "finalize" || subresource == "scale" || subresource == "log" ||
        subresource == "exec" || subresource == "eviction" || subresource == "binding") {
      return exchange->Fail(Unsupported(StrCat("the subresource ", subresource)));
    }
    return exchange->Fail(NoSuchResource());
  }
  if (HasMoreParts(request)) return exchange->Fail(NoSuchResource());
  if (IsNamed(request) && type->namespaced && attributes.ns.empty()) {
    return exchange->Fail(NoSuchResource());
  }
  if (type->custom() && !IsNamed(request) &&
      (request.method == "PUT" || request.method == "PATCH")) {
    return exchange->Fail(BadRequest("name must be provided"));
  }
  if (!AllowsMethod(request, *type)) return exchange->Fail(MethodNotAllowed());
  if (request.method == "PATCH") {
    const absl::Status status = CheckPatchType(request, *type);
    if (!status.ok()) return exchange->Fail(status);
  }
  const bool reads = MethodOf(request, *type) == "GET";
  if (reads || attributes.verb == "deletecollection") {
    const auto metadata = AcceptedMetadata(request);
    if (reads && !metadata.ok()) return exchange->Fail(metadata.status());
    if (metadata.ok() && *metadata) {
      auto partial = std::make_shared<ResourceType>(*type);
      partial->metadata_only = true;
      if (!reads) return DeleteFlow::Serve(core_, *exchange, *partial, **metadata);
      return Read(std::move(exchange), std::move(partial), **metadata);
    }
  }
  const auto answer = AcceptedEncoding(request, type->protobuf());
  if (!answer) return exchange->Fail(NotAcceptable(request, !type->custom()));
  if (reads) return Read(std::move(exchange), std::move(type), *answer);
  if (request.method == "DELETE") {
    return DeleteFlow::Serve(core_, *exchange, *type, *answer);
  }
  WriteFlow::Serve(core_, *exchange, *type, *answer);
}

void Resources::NoSuch(Exchange& exchange) const {
  const auto group = core_.kinds.groups().find(exchange.request().attributes.api_group);
  if (group != core_.kinds.groups().end() && !IsCustom(group->second)) {
    return exchange.Fail(NoSuchResource());
  }
  exchange.Respond({.code = 404,
                    .headers = {{"content-type", "text/plain; charset=utf-8"}},
                    .body = "404 page not found\n"});
}

void Resources::Read(std::shared_ptr<Exchange> exchange, std::shared_ptr<const ResourceType> type,
                     Encoding answer) {
  if (IsNamed(exchange->request())) {
    if (exchange->request().Query("export").value_or("") == "true") {
      return exchange->Fail(
          BadRequest("the export parameter, deprecated since v1.14, is no longer supported"));
    }
    return AnswerGet(core_, std::move(exchange), std::move(type), answer);
  }
  auto query = ListQuery::Parse(exchange->request(), *type);
  if (!query.ok()) return exchange->Fail(query.status());
  if (!query->watch) {
    return AnswerList(core_, std::move(exchange), std::move(type), *std::move(query), answer);
  }
  WatchStream::Start({core_.loop, core_.store, core_.watch}, std::move(exchange), std::move(type),
                     *std::move(query), answer);
}

void Resources::Create(const VirtualResource& resource, std::shared_ptr<Exchange> exchange) {
  const Request& request = exchange->request();
  const auto* message =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(resource.message);
  if (message == nullptr) {
    return exchange->Fail(InternalError(StrCat("no message ", resource.message)));
  }
  const auto answer = AcceptedEncoding(request);
  if (!answer) return exchange->Fail(NotAcceptable(request, /*protobuf=*/true));
  const auto encoding = BodyEncoding(request);
  if (!encoding.ok()) return exchange->Fail(encoding.status());
  ResourceType type;
  // A TokenRequest has a group of its own.
  type.name.group = resource.kind_group.empty() ? resource.group : resource.kind_group;
  type.version = resource.version;
  type.kind = message->name();
  type.message = message;
  const auto query = WriteQuery::Parse(request, "CreateOptions");
  if (!query.ok()) return exchange->Fail(query.status());
  auto object = ReadObject(request.body, *encoding, type);
  if (!object.ok()) return exchange->Fail(object.status());
  if (*encoding == Encoding::kJson) {
    const absl::Status status = CheckMembers(ParseJson(request.body).value_or(Json::Value()), type,
                                             query->validation, request.notes->warnings);
    if (!status.ok()) return exchange->Fail(status);
  }
  resource.create(
      request, *std::move(object),
      [exchange, answer = *answer, type](absl::StatusOr<Json::Value> result) {
        if (!result.ok()) return exchange->Fail(result.status());
        const auto body =
            WriteMessage(*result, type.ApiVersion(), type.kind, answer, *type.message);
        if (!body.ok()) return exchange->Fail(body.status());
        exchange->Respond({.code = 201,
                           .headers = {{"content-type", std::string(MediaType(answer))}},
                           .body = *body});
      });
}

}  // namespace mandate::apiserver
