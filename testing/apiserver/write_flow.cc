#include "testing/apiserver/write_flow.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/configuration.h"
#include "testing/apiserver/definitions.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/field_managers.h"
#include "testing/apiserver/kind_rules.h"
#include "testing/apiserver/managed_fields.h"
#include "testing/apiserver/meta_rules.h"
#include "testing/apiserver/namespaces.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/owner_permissions.h"
#include "testing/apiserver/patch_body.h"
#include "testing/apiserver/schema.h"
#include "testing/apiserver/unknown_members.h"

namespace mandate::apiserver {
namespace {

// The maximum length of a generateName in a name, so that the name is a DNS label.
constexpr size_t kMaxGenerated = 58;

std::string_view OptionsOf(const Request& request) {
  if (request.method == "POST") return "CreateOptions";
  return request.method == "PUT" ? "UpdateOptions" : "PatchOptions";
}

// Sets the members of metadata that a client may omit or cannot change.
void KeepSystemFields(const Json::Value& live, Json::Value& metadata) {
  for (const char* field : {"uid", "deletionGracePeriodSeconds"}) {
    if (!metadata.isMember(field) && live.isMember(field)) metadata[field] = live[field];
  }
  for (const char* field : {"creationTimestamp", "deletionTimestamp"}) {
    if (live.isMember(field)) metadata[field] = live[field];
  }
}

// Parses a resourceVersion into `version`. False if it is invalid.
bool ReadVersion(const std::string& text, uint64_t* version) {
  *version = 0;
  return text.empty() || absl::SimpleAtoi(text, version);
}

bool IsBadRequest(const absl::Status& status) {
  const auto api = ApiStatus(status);
  return api && api->code() == 400;
}

}  // namespace

void WriteFlow::Serve(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer) {
  const absl::Status status = WriteFlow(core, exchange, type, answer).Run();
  if (!status.ok()) exchange.Fail(status);
}

absl::Status WriteFlow::Run() {
  RETURN_IF_ERROR(Prepare());
  if (request().method != "POST") {
    live_ = core_.store.Get(type_.name, ns(), request().attributes.name);
  }
  if (live_ != nullptr) live_object_ = live_->Parse();
  ASSIGN_OR_RETURN(object_, Candidate());
  if (creating()) {
    RETURN_IF_ERROR(
        CheckNamespace(core_.store, type_, request().attributes.ns, MetaString(object_, "name")));
  }
  DropOwnersNamedTwice(" after mutating admission happens", object_);
  RETURN_IF_ERROR(Complete(object_));
  if (core_.hooks != nullptr && creating() && request().method != "POST") {
    RETURN_IF_ERROR(core_.hooks->CheckCreate(request()));
  }
  return Commit();
}

absl::Status WriteFlow::Prepare() {
  // An error of the media type is reported before any other.
  if (request().method == "PATCH") {
    absl::StatusOr<Json::Value> patch = ReadPatch(request(), type_);
    if (!patch.ok() && !IsBadRequest(patch.status())) return patch.status();
    ASSIGN_OR_RETURN(query_, WriteQuery::Parse(request(), OptionsOf(request())));
    // An invalid body is reported only if the object exists.
    unreadable_ = patch.status();
    if (query_.apply && subresource().empty()) RETURN_IF_ERROR(unreadable_);
    if (patch.ok()) body_ = *std::move(patch);
    return absl::OkStatus();
  }
  const auto encoding = BodyEncoding(request(), type_.protobuf());
  if (request().method == "POST") RETURN_IF_ERROR(encoding.status());
  ASSIGN_OR_RETURN(query_, WriteQuery::Parse(request(), OptionsOf(request())));
  RETURN_IF_ERROR(encoding.status());
  ASSIGN_OR_RETURN(body_, ReadObject(request().body, *encoding, type_));
  if (*encoding != Encoding::kProtobuf) {
    RETURN_IF_ERROR(CheckMembers(ParseJson(request().body).value_or(Json::Value()), type_,
                                 query_.validation, request().notes->warnings));
  }
  RETURN_IF_ERROR(CheckApiVersion(body_, type_));
  RETURN_IF_ERROR(CheckIdentity(body_));
  DropOwnersNamedTwice("", body_);
  return absl::OkStatus();
}

void WriteFlow::DropOwnersNamedTwice(std::string_view when, Json::Value& object) const {
  const std::vector<std::string> uids = DropRepeatedOwners(object);
  if (uids.empty()) return;
  std::string list;
  for (const std::string& uid : uids) StrAppend(&list, &uid == &uids[0] ? "" : ", ", uid);
  request().notes->warnings.push_back(
      StrCat(".metadata.ownerReferences contains duplicate entries", when,
             "; API server dedups owner references in 1.20+, and may reject such requests as early "
             "as 1.24; please fix your requests; duplicate UID(s) observed: ",
             list));
}

absl::Status WriteFlow::CheckIdentity(const Json::Value& object) const {
  const std::string ns = MetaString(object, "namespace");
  if (type_.namespaced && !ns.empty() && ns != request().attributes.ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (request().method == "POST") return absl::OkStatus();
  const std::string name = MetaString(object, "name");
  const std::string& wanted = request().attributes.name;
  if (name.empty()) {
    return BadRequest(StrCat("the name of the object (", wanted,
                             " based on URL) was undeterminable: name must be provided"));
  }
  if (name != wanted) {
    return BadRequest(StrCat("the name of the object (", name,
                             ") does not match the name on the URL (", wanted, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Json::Value> WriteFlow::Candidate() {
  if (creating() && request().method != "POST") {
    const bool may_create =
        subresource().empty() &&
        (query_.apply || (request().method == "PUT" && AllowsCreateOnUpdate(type_)));
    if (!may_create) return NotFoundError(type_.name, request().attributes.name);
  }
  Json::Value object = body_;
  if (request().method == "PATCH") {
    ASSIGN_OR_RETURN(object, Patched());
  }
  MutableMetadata(object).removeMember("namespace");
  if (type_.namespaced) MutableMetadata(object)["namespace"] = ns();
  if (type_.custom()) {
    // An applied configuration is merged without decoding; everything else is decoded first.
    if (!query_.apply) object = type_.schema->DropNulls(object);
    typed_ = CheckType(type_, object).empty() && !type_.schema->TypeProblem(object);
  }
  SetDefaults(type_, object);
  if (request().method != "POST") RETURN_IF_ERROR(CheckPreconditions(object));
  if (creating()) return object;
  PrepareForUpdate(type_, subresource(), live_object_, object);
  return object;
}

absl::StatusOr<Json::Value> WriteFlow::Patched() const {
  RETURN_IF_ERROR(unreadable_);
  if (query_.apply) return Applied();
  Json::Value given;
  ASSIGN_OR_RETURN(Json::Value object, PatchObject(request(), live_object_, body_, type_, &given));
  const absl::Status strict =
      CheckMembers(given, type_, query_.validation, request().notes->warnings);
  if (!strict.ok()) return BadPatch(given, strict);
  RETURN_IF_ERROR(CheckIdentity(object));
  return object;
}

absl::StatusOr<Json::Value> WriteFlow::Applied() const {
  RETURN_IF_ERROR(CheckConfiguration(body_, type_));
  const FieldManager manager{query_.manager_name, subresource(), core_.Now(), true};
  ASSIGN_OR_RETURN(Json::Value object,
                   ApplyConfiguration(type_, live_object_, body_, manager, query_.force));
  if (creating() && !MetaString(object, "uid").empty()) {
    return ConflictError(type_.name, request().attributes.name,
                         StrCat("uid mismatch: the provided object specified uid ",
                                MetaString(object, "uid"), ", and no existing object was found"));
  }
  // The configuration of a status has no metadata, but its version is a precondition.
  const std::string version = MetaString(body_, "resourceVersion");
  if (!version.empty()) MutableMetadata(object)["resourceVersion"] = version;
  RETURN_IF_ERROR(CheckIdentity(object));
  if (type_.custom()) DropUnreadableTimes(object);
  return Normalise(object, type_);
}

absl::Status WriteFlow::CheckUid(const Json::Value& object, const std::string& live) const {
  const std::string uid = MetaString(object, "uid");
  if (uid.empty() || uid == live) return absl::OkStatus();
  const std::string& name = request().attributes.name;
  return ConflictError(
      type_.name, name,
      StrCat("StorageError: invalid object, Code: 4, Key: ", query_.dry_run ? "/" : "/registry/",
             type_.custom() ? type_.name.group + "/" : "", type_.name.resource, "/",
             type_.namespaced ? ns() + "/" : "", name,
             ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
             "precondition: ",
             uid, ", UID in object meta: ", live));
}

absl::Status WriteFlow::CheckPreconditions(const Json::Value& object) const {
  const std::string given = MetaString(object, "resourceVersion");
  if (request().method == "PUT") RETURN_IF_ERROR(CheckUid(object, creating() ? "" : live_->uid));
  uint64_t version = 0;
  if (!ReadVersion(given, &version)) {
    return PlainError(StrCat("strconv.ParseUint: parsing \"", given, "\": invalid syntax"));
  }
  if (creating()) return absl::OkStatus();
  if (version == 0) {
    if (request().method != "PUT" || AllowsUnconditionalUpdate(type_)) return absl::OkStatus();
    return InvalidError(
        type_.name.group, type_.name.resource, live_->name,
        {InvalidField("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  if (version != static_cast<uint64_t>(live_->revision)) {
    return ModifiedError(type_.name, live_->name);
  }
  return absl::OkStatus();
}

absl::Status WriteFlow::Complete(Json::Value& object) {
  Json::Value& metadata = MutableMetadata(object);
  if (request().method == "POST") {
    for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
      metadata.removeMember(field);
    }
  }
  if (creating()) {
    if (MetaString(object, "name").empty() && !MetaString(object, "generateName").empty()) {
      metadata["name"] =
          MetaString(object, "generateName").substr(0, kMaxGenerated) + core_.NewSuffix();
    }
    metadata["uid"] = core_.NewUid();
    metadata["creationTimestamp"] = core_.Now();
  }
  // This request does not set the status, so no manager may own it.
  if (creating() && type_.custom() && type_.has_status) object.removeMember("status");
  if (!query_.apply) {
    TrackUpdate(type_, live_object_, {query_.manager_name, subresource(), core_.Now(), typed_},
                object);
  }
  DropEmptyLists(type_, object);
  if (creating()) PrepareForCreate(type_, object);
  if (type_.kind == "CustomResourceDefinition") RETURN_IF_ERROR(Definitions::Check(object));
  if (HasWebhookRules(type_, object)) return Unsupported("admission webhooks with rules");
  std::optional<WriteAttributes> write;
  if (core_.hooks != nullptr) {
    // The permission is checked before a name is generated.
    const std::string name = MetaString(request().method == "POST" ? body_ : object, "name");
    write = {.request = &request(),
             .creates = creating(),
             .resource = type_.name,
             .name = name,
             .object = object,
             .old_object = live_object_};
    RETURN_IF_ERROR(core_.hooks->CheckRules(*write));
  }
  // The permission check above counts an object without these members as changed.
  if (!creating()) KeepSystemFields(MetadataOf(live_object_), MutableMetadata(object));
  RETURN_IF_ERROR(CheckObject(object));
  if (write.has_value()) {
    write->name = MetaString(object, "name");
    RETURN_IF_ERROR(CheckOwnerPermissions(*core_.hooks, core_.kinds, *write));
  }
  for (std::string& warning : FinalizerWarnings(type_, object, live_object_)) {
    request().notes->warnings.push_back(std::move(warning));
  }
  return absl::OkStatus();
}

absl::Status WriteFlow::CheckObject(const Json::Value& object) const {
  const std::string api_version = StringAt(object, "apiVersion");
  if (api_version.empty()) {
    return InternalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  // Only a custom object can have another kind here. Then nothing else is validated.
  std::vector<Cause> type = CheckType(type_, object);
  std::vector<Cause> causes;
  const auto add = [&causes](std::vector<Cause> more) {
    for (Cause& cause : more) causes.push_back(std::move(cause));
  };
  if (creating() && type.empty()) add(CheckNames(type_, object));
  if (!creating() || type.empty()) add(CheckMeta(type_, object));
  if (!creating()) add(CheckMetaUpdate(object, live_object_));
  add(type.empty() ? CheckKind(type_, subresource(), object, live_object_) : std::move(type));
  if (!creating() && ChecksNamesOnUpdate(type_)) add(CheckNames(type_, object));
  if (causes.empty()) return absl::OkStatus();
  const size_t slash = api_version.find('/');
  return InvalidError(slash == api_version.npos ? "" : api_version.substr(0, slash),
                      StringAt(object, "kind"), MetaString(object, "name"), causes);
}

absl::Status WriteFlow::Commit() {
  const std::string ns = MetaString(object_, "namespace");
  const std::string name = MetaString(object_, "name");
  uint64_t version = 0;
  if (request().method == "POST" && !query_.dry_run &&
      ReadVersion(MetaString(object_, "resourceVersion"), &version) && version != 0) {
    return PlainError("resourceVersion should not be set on objects to be created");
  }
  if (creating()) {
    if (const auto other = core_.store.Get(type_.name, ns, name)) return AlreadyExists(*other);
  }
  if (query_.dry_run) {
    // A dry run of a creation keeps the given resourceVersion.
    Answer(*MakeStored(object_, creating() ? kOwnRevision : live_->revision),
           creating() ? 201 : 200);
    return absl::OkStatus();
  }
  MutableMetadata(object_).removeMember("selfLink");
  if (creating()) {
    Answer(*core_.store.Put(type_.name, object_), 201);
    return absl::OkStatus();
  }
  MutableMetadata(object_)["resourceVersion"] = std::to_string(live_->revision);
  KeepManagerTimes(live_object_, object_);
  if (IsDeleting(object_) && FinalizersOf(object_).empty() && type_.kind != "Namespace") {
    // The object is removed together with its last finalizer.
    core_.store.Delete(type_.name, ns, name);
    Answer(*MakeStored(object_, live_->revision), 200);
  } else if (WriteJson(object_) == WriteJson(live_object_)) {
    Answer(*live_, 200);  // without a change nothing is written
  } else {
    Answer(*core_.store.Put(type_.name, object_), 200);
  }
  return absl::OkStatus();
}

absl::Status WriteFlow::AlreadyExists(const StoredObject& other) const {
  const bool generated = !MetaString(object_, "generateName").empty();
  return AlreadyExistsError(type_.name, other.name,
                            {.deleting = other.deleting, .generated = generated});
}

void WriteFlow::Answer(const StoredObject& object, int code) {
  exchange_.Respond({.code = code,
                     .headers = {{"content-type", std::string(MediaType(answer_))}},
                     .body = WriteObject(object, type_, answer_)});
}

}  // namespace mandate::apiserver
