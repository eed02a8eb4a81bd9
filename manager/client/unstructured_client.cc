#include "manager/client/unstructured_client.h"

#include <memory>
#include <utility>

#include "manager/client/key_check.h"
#include "manager/client/media_type.h"
#include "manager/client/patch_request.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr char kApplyType[] = "application/apply-patch+yaml";  // JSON is YAML

// "" if it is not a string.
std::string MetadataText(const Json::Value& object, std::string_view field) {
  const Json::Value* metadata = FindMember(object, "metadata");
  const Json::Value* text = metadata == nullptr ? nullptr : FindMember(*metadata, field);
  return text != nullptr && text->isString() ? text->asString() : "";
}

ObjectKey KeyOf(const Json::Value& object, const KindInfo& kind) {
  const bool namespaced = kind.scope == Scope::kNamespaced;
  return {namespaced ? MetadataText(object, "namespace") : "", MetadataText(object, "name")};
}

absl::StatusOr<std::string> Body(Json::Value object, const KindInfo& kind) {
  if (!object.isObject()) {
    return absl::InvalidArgumentError(StrCat("the ", kind.kind, " to write is not a JSON object"));
  }
  object["apiVersion"] = kind.ApiVersion();
  object["kind"] = std::string(kind.kind);
  return WriteJson(object);
}

// Objects travel as JSON.
KindInfo AsJson(KindInfo kind) {
  kind.encoding = Encoding::kJson;
  return kind;
}

}  // namespace

absl::StatusOr<Json::Value> UnstructuredClient::Exchange(const CallContext& context,
                                                         RestRequest request) {
  request.accept = kJsonType;
  const std::string what = request.ToString();
  ASSIGN_OR_RETURN(const HttpResponse response, objects_.rest().Do(context, std::move(request)));
  absl::StatusOr<Json::Value> json = ParseJson(response.body);
  if (json.ok() && json->isObject()) return json;
  return absl::InternalError(
      StrCat("the response to ", what, " is not a JSON object: ", AsStd(json.status().message())));
}

absl::StatusOr<Json::Value> UnstructuredClient::Write(const CallContext& context,
                                                      RestRequest request, const KindInfo& kind,
                                                      const ObjectKey& key, bool dry_run) {
  request.idempotent = request.idempotent || dry_run;
  ASSIGN_OR_RETURN(Json::Value object, Exchange(context, std::move(request)));
  if (dry_run) return object;
  // The server may have generated the name.
  objects_.rest().own_writes().Wrote(kind, {key.ns, MetadataText(object, "name")},
                                     MetadataText(object, "resourceVersion"));
  return object;
}

std::vector<std::pair<std::string, std::string>> UnstructuredClient::Parameters(
    const WriteOptions& options, std::string field_manager) {
  if (field_manager.empty()) field_manager = objects_.rest().component();
  std::vector<std::pair<std::string, std::string>> query = {
      {"fieldManager", std::move(field_manager)}};
  AppendTo(query, options);
  return query;
}

absl::StatusOr<Json::Value> UnstructuredClient::Get(const CallContext& context,
                                                    const KindInfo& kind, const ObjectKey& key) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kind, key);
  return Exchange(context, std::move(request));
}

absl::StatusOr<UnstructuredList> UnstructuredClient::List(const CallContext& context,
                                                          const KindInfo& kind,
                                                          const ListOptions& options) {
  UnstructuredList list;
  ASSIGN_OR_RETURN(list.resource_version,
                   objects_.List(
                       context, AsJson(kind), options, [&] { list.items.clear(); },
                       [&](const std::shared_ptr<const RawObject>& raw) -> absl::Status {
                         ASSIGN_OR_RETURN(Json::Value item, ParseJson(raw->bytes()));
                         // The items of a list need not have them.
                         item["apiVersion"] = kind.ApiVersion();
                         item["kind"] = std::string(kind.kind);
                         list.items.push_back(std::move(item));
                         return absl::OkStatus();
                       }));
  return list;
}

absl::StatusOr<Json::Value> UnstructuredClient::Create(const CallContext& context,
                                                       const KindInfo& kind,
                                                       const Json::Value& object,
                                                       const WriteOptions& options) {
  RestRequest request;
  request.method = "POST";
  ASSIGN_OR_RETURN(request.body, Body(object, kind));
  const ObjectKey key = KeyOf(object, kind);
  RETURN_IF_ERROR(CheckNamespace(kind, key));
  request.target = ResourceTarget(kind, {key.ns, ""}, "", Parameters(options));
  return Write(context, std::move(request), kind, key, options.dry_run);
}

absl::StatusOr<Json::Value> UnstructuredClient::Update(const CallContext& context,
                                                       const KindInfo& kind,
                                                       const Json::Value& object,
                                                       const WriteOptions& options,
                                                       std::string_view subresource) {
  RestRequest request;
  request.method = "PUT";
  ASSIGN_OR_RETURN(request.body, Body(object, kind));
  const ObjectKey key = KeyOf(object, kind);
  RETURN_IF_ERROR(CheckKey(kind, key));
  RETURN_IF_ERROR(CheckHasVersion(kind, key, MetadataText(object, "resourceVersion")));
  request.target = ResourceTarget(kind, key, subresource, Parameters(options));
  return Write(context, std::move(request), kind, key, options.dry_run);
}

absl::StatusOr<Json::Value> UnstructuredClient::Patch(const CallContext& context,
                                                      const KindInfo& kind, const ObjectKey& key,
                                                      const mandate::Patch& patch,
                                                      const WriteOptions& options,
                                                      std::string_view subresource) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request = PatchRequest(patch);
  request.target = ResourceTarget(kind, key, subresource, Parameters(options));
  return Write(context, std::move(request), kind, key, options.dry_run);
}

absl::StatusOr<Json::Value> UnstructuredClient::Apply(const CallContext& context,
                                                      const KindInfo& kind,
                                                      const Json::Value& object,
                                                      const ApplyOptions& options,
                                                      std::string_view subresource) {
  RestRequest request;
  request.method = "PATCH";
  request.content_type = kApplyType;
  ASSIGN_OR_RETURN(request.body, Body(object, kind));
  const ObjectKey key = KeyOf(object, kind);
  RETURN_IF_ERROR(CheckKey(kind, key));
  auto query = Parameters({options.dry_run, options.field_validation}, options.field_manager);
  if (options.force) query.emplace_back("force", "true");
  request.target = ResourceTarget(kind, key, subresource, query);
  // An apply states the result, not a change; but its own write makes a resourceVersion old.
  request.idempotent = MetadataText(object, "resourceVersion").empty();
  return Write(context, std::move(request), kind, key, options.dry_run);
}

absl::StatusOr<DeleteResult> UnstructuredClient::Delete(const CallContext& context,
                                                        const KindInfo& kind, const ObjectKey& key,
                                                        const DeleteOptions& options) {
  return objects_.Delete(context, kind, key, options);
}

}  // namespace mandate
