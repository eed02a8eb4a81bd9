#include "testing/apiserver/delete_flow.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "absl/strings/numbers.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/list_query.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/reads.h"
#include "testing/apiserver/write_query.h"

namespace mandate::apiserver {
namespace {

namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;

// The kinds that the decoder of the options knows in every version, and those that it knows only in
// meta.k8s.io.
constexpr std::array<std::string_view, 5> kUnversioned = {"Status", "APIVersions", "APIGroupList",
                                                          "APIGroup", "APIResourceList"};
constexpr std::array<std::string_view, 8> kMetaKinds = {
    "ListOptions",  "GetOptions", "CreateOptions",         "UpdateOptions",
    "PatchOptions", "Table",      "PartialObjectMetadata", "PartialObjectMetadataList"};

template <size_t kSize>
bool Contains(const std::array<std::string_view, kSize>& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// DeleteOptions exist in every group and version.
absl::Status CheckOptionsType(const Json::Value& given) {
  constexpr std::string_view kMeta = "meta.k8s.io/v1";
  const std::string kind = StringAt(given, "kind");
  std::string version = StringAt(given, "apiVersion");
  if (version.empty()) version = kMeta;
  if (version.find('/') != version.rfind('/')) {
    return BadRequest(StrCat("unexpected GroupVersion string: ", version));
  }
  if (kind.empty() || kind == "DeleteOptions") return absl::OkStatus();
  const bool meta = version == kMeta;
  if ((Contains(kUnversioned, kind) && (meta || version == "v1")) ||
      (Contains(kMetaKinds, kind) && meta)) {
    return BadRequest(
        StrCat("converting (v1.", kind, ") to (v1.DeleteOptions): unknown conversion"));
  }
  return BadRequest(StrCat("no kind ", rbac::Quote(kind), " is registered for version ",
                           rbac::Quote(version), " in scheme \"pkg/runtime/scheme.go:111\""));
}

// The object in a non-empty body.
absl::StatusOr<Json::Value> ReadBody(const Request& request) {
  ASSIGN_OR_RETURN(const Encoding encoding, BodyEncoding(request));
  if (encoding == Encoding::kProtobuf) {
    const auto envelope = ParseEnvelope(request.body);
    if (!envelope.ok()) {
      return BadRequest(
          "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    }
    Json::Value type(Json::objectValue);
    type["apiVersion"] = std::string(envelope->api_version);
    type["kind"] = std::string(envelope->kind);
    RETURN_IF_ERROR(CheckOptionsType(type));
  } else if (const auto given = ParseJson(request.body); given.ok()) {
    if (given->isNull()) return Json::Value(Json::objectValue);
    RETURN_IF_ERROR(CheckOptionsType(*given));
  }
  return ReadMessage(request.body, encoding, *meta::DeleteOptions::descriptor());
}

}  // namespace

void DeleteFlow::Serve(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer) {
  const absl::Status status = DeleteFlow(core, exchange, type, answer).Run();
  if (!status.ok()) exchange.Fail(status);
}

absl::Status DeleteFlow::Run() {
  RETURN_IF_ERROR(Prepare());
  for (const auto& [ns, name] : targets_) {
    const auto live = core_.store.Get(type_.name, ns, name);
    if (live != nullptr) {
      RETURN_IF_ERROR(Delete(live));
    } else if (!collection_) {
      return NotFoundError(type_.name, name);
    }
  }
  Answer();
  return absl::OkStatus();
}

absl::Status DeleteFlow::Prepare() {
  collection_ = request().attributes.verb == "deletecollection";
  if (!collection_) {
    targets_.emplace_back(type_.namespaced ? request().attributes.ns : "",
                          request().attributes.name);
    return ReadOptions();
  }
  ASSIGN_OR_RETURN(const ListQuery query, ListQuery::Parse(request(), type_));
  RETURN_IF_ERROR(ReadOptions());
  const std::string ns = type_.namespaced ? request().attributes.ns : "";
  list_.revision = core_.store.revision();
  Objects all = core_.store.List(type_.name, ns);
  if (query.continuation) {
    if (query.continuation->revision >= 0) list_.revision = query.continuation->revision;
    ASSIGN_OR_RETURN(all, ObjectsAt(core_, type_, ns, *query.continuation));
  }
  for (const auto& object : TakePage(all, query, list_)) {
    targets_.emplace_back(object->ns, object->name);
  }
  return absl::OkStatus();
}

absl::Status DeleteFlow::ReadOptions() {
  options_ = Json::Value(Json::objectValue);
  if (request().body.empty()) {
    RETURN_IF_ERROR(ReadParameters());
  } else {
    ASSIGN_OR_RETURN(options_, ReadBody(request()));
  }
  options_["apiVersion"] = "meta.k8s.io/v1";
  options_["kind"] = "DeleteOptions";
  std::vector<Cause> causes;
  const Json::Value* policy = FindMember(options_, "propagationPolicy");
  const Json::Value* orphan = FindMember(options_, "orphanDependents");
  const std::string wanted = policy == nullptr ? "" : policy->asString();
  if (policy != nullptr && orphan != nullptr) {
    causes.push_back(InvalidField("propagationPolicy", rbac::Quote(wanted),
                                  "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy != nullptr && wanted != "Foreground" && wanted != "Background" && wanted != "Orphan") {
    causes.push_back(UnsupportedValue("propagationPolicy", rbac::Quote(wanted),
                                      {"Foreground", "Background", "Orphan", "nil"}));
  }
  std::vector<std::string> dry_run;
  for (const Json::Value& one : options_.get("dryRun", Json::Value(Json::arrayValue))) {
    dry_run.push_back(one.asString());
  }
  dry_run_ = !dry_run.empty();
  if (auto cause = CheckDryRun(dry_run)) causes.push_back(*std::move(cause));
  if (!causes.empty()) return InvalidError("meta.k8s.io", "DeleteOptions", "", causes);
  if (wanted == "Foreground") finalizer_ = "foregroundDeletion";
  if (wanted == "Orphan" || (orphan != nullptr && orphan->asBool())) finalizer_ = "orphan";
  return absl::OkStatus();
}

// Without a body, the query has the options.
absl::Status DeleteFlow::ReadParameters() {
  if (const auto policy = request().Query("propagationPolicy")) {
    options_["propagationPolicy"] = *policy;
  }
  // Go's conversion of a query's booleans: any other value is true.
  if (const auto orphan = request().Query("orphanDependents")) {
    options_["orphanDependents"] = *orphan != "0" && *orphan != "false";
  }
  for (const std::string& one : request().QueryAll("dryRun")) options_["dryRun"].append(one);
  if (const auto seconds = request().Query("gracePeriodSeconds")) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(*seconds, &number)) {
      return BadRequest(
          StrCat("strconv.ParseInt: parsing ", rbac::Quote(*seconds), ": invalid syntax"));
    }
    options_["gracePeriodSeconds"] = Json::Int64{number};
  }
  return absl::OkStatus();
}

absl::Status DeleteFlow::Delete(const std::shared_ptr<const StoredObject>& live) {
  if (type_.name == GroupResource{"", "namespaces"} &&
      (live->name == "default" || live->name == "kube-system" || live->name == "kube-public")) {
    return ForbiddenError(type_.name, live->name, "this namespace may not be deleted");
  }
  RETURN_IF_ERROR(CheckPreconditions(*live));
  std::shared_ptr<const StoredObject> last = Mark(*live);
  gone_ = last == nullptr;
  if (gone_) last = dry_run_ ? live : core_.store.Delete(type_.name, live->ns, live->name);
  // The response for a collection has the objects before the deletion.
  deleted_.push_back(collection_ ? live : std::move(last));
  return absl::OkStatus();
}

absl::Status DeleteFlow::CheckPreconditions(const StoredObject& live) const {
  const Json::Value* preconditions = FindMember(options_, "preconditions");
  if (preconditions == nullptr) return absl::OkStatus();
  const GroupResource kind{type_.name.group, type_.kind};
  const std::string uid = StringAt(*preconditions, "uid");
  if (preconditions->isMember("uid") && uid != live.uid) {
    return ConflictError(
        kind, live.name,
        StrCat("the UID in the precondition (", uid, ") does not match the UID in record (",
               live.uid, "). The object might have been deleted and then recreated"));
  }
  const std::string version = StringAt(*preconditions, "resourceVersion");
  if (preconditions->isMember("resourceVersion") && version != std::to_string(live.revision)) {
    return ConflictError(kind, live.name,
                         StrCat("the ResourceVersion in the precondition (", version,
                                ") does not match the ResourceVersion in record (", live.revision,
                                "). The object might have been modified"));
  }
  return absl::OkStatus();
}

std::shared_ptr<const StoredObject> DeleteFlow::Mark(const StoredObject& live) {
  Json::Value object = live.Parse();
  const bool is_namespace = type_.name == GroupResource{"", "namespaces"};
  const Json::Value* spec = FindMember(object, "spec");
  const Json::Value* held =
      is_namespace && spec != nullptr ? FindMember(*spec, "finalizers") : nullptr;
  if (!finalizer_.empty() && !live.deleting) {
    MutableMetadata(object)["finalizers"].append(finalizer_);
  }
  if (FinalizersOf(object).empty() && (held == nullptr || held->empty())) return nullptr;
  if (live.deleting) return core_.store.Get(type_.name, live.ns, live.name);
  Json::Value& metadata = MutableMetadata(object);
  metadata["deletionTimestamp"] = core_.Now();
  if (is_namespace) {
    object["status"]["phase"] = "Terminating";
  } else {
    metadata["deletionGracePeriodSeconds"] = 0;
  }
  if (const int64_t generation = GenerationOf(object); generation > 0) {
    metadata["generation"] = Json::Int64{generation + 1};
  }
  if (dry_run_) return MakeStored(std::move(object), live.revision);
  return core_.store.Put(type_.name, std::move(object));
}

std::string DeleteFlow::Success(const StoredObject& object) const {
  Json::Value status(Json::objectValue);
  status["status"] = "Success";
  status["metadata"] = Json::Value(Json::objectValue);
  Json::Value& details = status["details"];
  details["name"] = object.name;
  if (!type_.name.group.empty()) details["group"] = type_.name.group;
  details["kind"] = type_.name.resource;
  details["uid"] = object.uid;
  return WriteMessage(status, "v1", "Status", answer_, *meta::Status::descriptor()).value_or("");
}

void DeleteFlow::Answer() {
  std::string body;
  if (collection_) {
    body = WriteList(deleted_, list_, type_, answer_);
  } else if (gone_ && !type_.returns_deleted) {
    body = Success(*deleted_.back());
  } else {
    body = WriteObject(*deleted_.back(), type_, answer_);
  }
  // 202 if orphanDependents is false and the object remains.
  const Json::Value* orphan = FindMember(options_, "orphanDependents");
  const bool later = !collection_ && !gone_ && orphan != nullptr && !orphan->asBool();
  exchange_.Respond({.code = later ? 202 : 200,
                     .headers = {{"content-type", std::string(MediaType(answer_))}},
                     .body = std::move(body)});
}

}  // namespace mandate::apiserver
