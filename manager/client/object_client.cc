#include "manager/client/object_client.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "manager/client/key_check.h"
#include "manager/client/list_page.h"
#include "manager/client/media_type.h"
#include "manager/client/object_meta.h"
#include "manager/client/patch_request.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/apply.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using google::protobuf::Message;
using Query = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kPageSize = 500;

// The answer to a deletion. When the object is gone: {"kind":"Status","details":{"uid":"…"}}. An
// object that is still there is returned with the time of its deletion. Some kinds (Service,
// ServiceAccount, …) are also returned when they are gone, without that time.
struct DeleteAnswer {
  std::string kind;
  std::string gone;  // the UID of the object that is gone; "" if the answer is the object
  std::string resource_version;  // of the object
  std::string deletion_time;

  DeleteResult outcome() const {
    const bool unmarked = !resource_version.empty() && deletion_time.empty();
    return kind == "Status" || unmarked ? DeleteResult::kGone : DeleteResult::kPending;
  }
};
DeleteAnswer ReadDeleteAnswer(std::string_view body) {
  const Json::Value json = ParseJson(body).value_or(Json::Value());
  const auto text = [](const Json::Value* value) {
    return value != nullptr && value->isString() ? value->asString() : std::string();
  };
  const auto in = [&](std::string_view part, std::string_view key) {
    const Json::Value* object = FindMember(json, part);
    return object == nullptr ? std::string() : text(FindMember(*object, key));
  };
  return {.kind = text(FindMember(json, "kind")),
          .gone = in("details", "uid"),
          .resource_version = in("metadata", "resourceVersion"),
          .deletion_time = in("metadata", "deletionTimestamp")};
}

// Whether the server reports that the object has another uid than the applied one: 409 when no
// object has the name, 422 when another object has it.
bool IsOfAnotherUid(const absl::Status& status, const KindInfo& kind, const ObjectKey& key) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  if (!proto.has_value()) return false;
  const auto& details = proto->details();
  if (IsConflict(status)) {
    // Conflicts with other managers have causes; conflicts of a quota name another object.
    return details.name() == key.name && details.kind() == kind.plural &&
           details.causes().empty() && absl::StrContains(status.message(), "uid mismatch");
  }
  return IsInvalid(status) &&
         std::any_of(details.causes().begin(), details.causes().end(),
                     [](const auto& c) { return c.field() == "metadata.uid"; });
}

}  // namespace

Query ObjectClient::Parameters(const WriteOptions& options) const {
  Query query = {{"fieldManager", FieldManager()}};
  AppendTo(query, options);
  return query;
}

absl::Status ObjectClient::Write(const CallContext& context, RestRequest request,
                                 const KindInfo& kind, const ObjectKey& key,
                                 const WriteOptions& options, Message& object) {
  request.idempotent = request.idempotent || options.dry_run;
  RETURN_IF_ERROR(Exchange(context, std::move(request), kind, object));
  if (options.dry_run) return absl::OkStatus();
  // The server may have generated the name.
  const ObjectMeta& metadata = MetadataOf(object);
  rest_.own_writes().Wrote(kind, {key.ns, metadata.name()}, metadata.resourceversion());
  return absl::OkStatus();
}

absl::Status ObjectClient::Exchange(const CallContext& context, RestRequest request,
                                    const KindInfo& kind, Message& out) {
  request.accept = AcceptOf(kind);
  const std::string what = request.ToString();
  ASSIGN_OR_RETURN(const HttpResponse response, rest_.Do(context, std::move(request)));
  if (absl::Status s = DecodeObject(response.body, EncodingOf(response), out); !s.ok()) {
    return absl::InternalError(
        StrCat("the response to ", what, " is not a ", kind.kind, ": ", AsStd(s.message())));
  }
  return absl::OkStatus();
}

absl::Status ObjectClient::Get(const CallContext& context, const KindInfo& kind,
                               const ObjectKey& key, Message& out) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kind, key);
  return Exchange(context, std::move(request), kind, out);
}

absl::StatusOr<std::string> ObjectClient::List(
    const CallContext& context, const KindInfo& kind, const ListOptions& options,
    const std::function<void()>& restart,
    const std::function<absl::Status(const std::shared_ptr<const RawObject>&)>& each) {
  const ListSelection selection = {.ns = options.ns,
                                   .label_selector = options.label_selector,
                                   .field_selector = options.field_selector};
  size_t page_size = kPageSize;
  size_t items = 0;
  std::string next;
  while (true) {
    absl::StatusOr<RawList> list = ReadListPage(context, rest_, kind, selection, page_size, next);
    if (!list.ok()) {
      // The snapshot of the pages has expired.
      if (!IsGone(list.status()) || next.empty()) return std::move(list).status();
      restart();
      page_size = 0;
      items = 0;
      next.clear();
      continue;
    }
    items += list->items.size();
    if (items > options.max_items) {
      return absl::ResourceExhaustedError(
          StrCat("there are more than ", options.max_items, " ", kind.plural,
                 ": narrow the list by namespace or selector, read them with ForEach, or read from "
                 "the cache"));
    }
    for (const auto& item : list->items) RETURN_IF_ERROR(each(item));
    if (list->continue_token.empty()) return std::move(list->resource_version);
    next = std::move(list->continue_token);
  }
}

absl::Status ObjectClient::Create(const CallContext& context, const KindInfo& kind,
                                  const ObjectKey& key, Message& object,
                                  const WriteOptions& options) {
  RETURN_IF_ERROR(CheckNamespace(kind, key));
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kind, {key.ns, ""}, "", Parameters(options));
  ASSIGN_OR_RETURN(request.body, EncodeObject(object, kind, kind.encoding));
  request.content_type = kind.encoding == Encoding::kProtobuf ? kProtobufType : kJsonType;
  return Write(context, std::move(request), kind, key, options, object);
}

absl::Status ObjectClient::Update(const CallContext& context, const KindInfo& kind,
                                  const ObjectKey& key, std::string_view resource_version,
                                  std::string_view subresource, Message& object,
                                  const WriteOptions& options) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RETURN_IF_ERROR(CheckHasVersion(kind, key, resource_version));
  RestRequest request;
  request.method = "PUT";
  request.target = ResourceTarget(kind, key, subresource, Parameters(options));
  ASSIGN_OR_RETURN(request.body, EncodeObject(object, kind, kind.encoding));
  request.content_type = kind.encoding == Encoding::kProtobuf ? kProtobufType : kJsonType;
  return Write(context, std::move(request), kind, key, options, object);
}

absl::Status ObjectClient::Apply(const CallContext& context, const KindInfo& kind,
                                 const ObjectKey& key, std::string_view subresource,
                                 const ApplyOptions& options, Message& object) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  const WriteOptions write = {.dry_run = options.dry_run,
                              .field_validation = options.field_validation};
  Query query = {
      {"fieldManager", options.field_manager.empty() ? FieldManager() : options.field_manager}};
  if (options.force) query.emplace_back("force", "true");
  AppendTo(query, write);
  RestRequest request;
  request.method = "PATCH";
  request.target = ResourceTarget(kind, key, subresource, query);
  ASSIGN_OR_RETURN(
      request.body,
      ApplyBody(object, kind, subresource == "status" ? ApplyPart::kStatus : ApplyPart::kMain));
  request.content_type = "application/apply-patch+yaml";
  // An apply states the result, not a change; but its own write makes a resourceVersion old.
  request.idempotent = MetadataOf(object).resourceversion().empty();
  const std::string uid = MetadataOf(object).uid();
  absl::Status status = Write(context, std::move(request), kind, key, write, object);
  if (uid.empty() || !IsOfAnotherUid(status, kind, key)) return status;
  // The cache may not have seen yet that this object is gone.
  rest_.own_writes().Deleted(kind, key, uid);
  ApiStatusProto proto = *ApiStatus(status);
  proto.set_code(409);
  proto.set_reason("Conflict");
  proto.set_message(StrCat(kind.kind, " ", key.ToString(), " with uid ", uid,
                           " was deleted since it was observed: ", AsStd(status.message())));
  return StatusFromApi(proto);
}

absl::Status ObjectClient::PatchObject(const CallContext& context, const KindInfo& kind,
                                       const ObjectKey& key, std::string_view subresource,
                                       const Patch& patch, Message& out,
                                       const WriteOptions& options) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request = PatchRequest(patch);
  request.target = ResourceTarget(kind, key, subresource, Parameters(options));
  return Write(context, std::move(request), kind, key, options, out);
}

absl::StatusOr<DeleteResult> ObjectClient::Delete(const CallContext& context, const KindInfo& kind,
                                                  const ObjectKey& key,
                                                  const DeleteOptions& options) {
  RETURN_IF_ERROR(CheckKey(kind, key));
  RestRequest request;
  request.method = "DELETE";
  request.target = ResourceTarget(kind, key);
  request.body = DeleteBody(options);
  // With a UID it can only delete that one object.
  request.idempotent = !options.uid.empty() || options.dry_run;
  const absl::StatusOr<HttpResponse> response = rest_.Do(context, std::move(request));
  if (response.ok()) {
    const DeleteAnswer answer = ReadDeleteAnswer(response->body);
    if (options.dry_run) return answer.outcome();
    rest_.own_writes().Wrote(kind, key, answer.resource_version);
    rest_.own_writes().Deleted(kind, key, answer.gone);
    return answer.outcome();
  }
  if (IsServerErrorAbout(response.status(), key.name) &&
      (IsNotFound(response.status()) ||
       (IsConflict(response.status()) && options.resource_version.empty()))) {
    // The object is gone, or another has its name; the cache may not know it yet.
    rest_.own_writes().Deleted(kind, key, options.uid);
  }
  return response.status();
}

}  // namespace mandate
