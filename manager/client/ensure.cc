#include "manager/client/ensure.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "manager/client/as_desired.h"
#include "manager/client/field_takeover.h"
#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using google::protobuf::Message;

// A resourceVersion that no object has (etcd's first write is revision 2). An apply with this
// precondition creates an object, and is a Conflict if the object exists. An apply without it would
// take over the fields of any object of the name.
constexpr char kMustNotExist[] = "1";

ObjectKey KeyOfMessage(const Message& object) {
  const ObjectMeta& metadata = MetadataOf(object);
  return {metadata.namespace_(), metadata.name()};
}

absl::Status CheckObserved(const Message& observed, const Message& desired) {
  const ObjectKey key = KeyOfMessage(observed);
  if (observed.GetDescriptor() != desired.GetDescriptor() || key != KeyOfMessage(desired)) {
    return absl::InvalidArgumentError(
        StrCat("the observed object is the ", observed.GetDescriptor()->name(), " ", key.ToString(),
               ", but the desired object is the ", desired.GetDescriptor()->name(), " ",
               KeyOfMessage(desired).ToString()));
  }
  if (!MetadataOf(observed).uid().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("the observed object, ", key.ToString(),
                                           ", has no uid: it was not read from a server"));
}

// Whether the server reports that an object of this name exists. Other conflicts concern other
// objects (a quota).
bool IsConflictOf(const absl::Status& status, const KindInfo& kind, const ObjectKey& key) {
  if (!IsConflict(status)) return false;
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  return proto->details().name() == key.name && proto->details().kind() == kind.plural;
}

// Makes the component's Update entries its Apply entry.
absl::Status TakeOver(ObjectClient& client, const CallContext& context, const KindInfo& kind,
                      const Message& read, bool* done) {
  ASSIGN_OR_RETURN(const std::optional<JsonPatch> patch,
                   TakeoverPatch(read, client.rest().component()));
  *done = patch.has_value();
  if (!patch.has_value()) return absl::OkStatus();
  const std::unique_ptr<Message> answer(read.New());
  return client.PatchObject(context, kind, KeyOfMessage(read), "", *patch, *answer);
}

absl::Status CreateByApply(ObjectClient& client, const CallContext& context, const KindInfo& kind,
                           Message& object) {
  const ObjectKey key = KeyOfMessage(object);
  ObjectMeta* metadata = MutableMetadataOf(object);
  metadata->clear_uid();
  metadata->set_resourceversion(kMustNotExist);
  const absl::Status status = client.Apply(context, kind, key, "", {}, object);
  if (!IsConflictOf(status, kind, key)) return status;
  ApiStatusProto proto = *ApiStatus(status);
  proto.set_reason("AlreadyExists");
  proto.set_message(StrCat(kind.kind, " ", key.ToString(), " already exists, but component ",
                           client.rest().component(),
                           " has not observed it, so it is not changed"));
  return StatusFromApi(proto);
}

absl::Status ApplyToObserved(ObjectClient& client, const CallContext& context, const KindInfo& kind,
                             const std::string& uid, Message& object) {
  const ObjectKey key = KeyOfMessage(object);
  ObjectMeta* metadata = MutableMetadataOf(object);
  metadata->set_uid(uid);
  metadata->clear_resourceversion();
  return client.Apply(context, kind, key, "", {}, object);
}

}  // namespace

absl::Status EnsureObject(ObjectClient& client, const CallContext& context, const KindInfo& kind,
                          const Message* observed, Message& object) {
  if (MutableMetadataOf(object) == nullptr) {
    return absl::InvalidArgumentError(StrCat(object.GetTypeName(), " has no metadata"));
  }
  if (observed == nullptr) return CreateByApply(client, context, kind, object);
  RETURN_IF_ERROR(CheckObserved(*observed, object));
  if (IsAsDesired(kind, *observed, object, client.rest().component())) {
    object.CopyFrom(*observed);
    return absl::OkStatus();
  }
  bool taken_over = false;
  RETURN_IF_ERROR(TakeOver(client, context, kind, *observed, &taken_over));
  const std::unique_ptr<Message> desired(object.New());
  desired->CopyFrom(object);
  const std::string uid = MetadataOf(*observed).uid();
  RETURN_IF_ERROR(ApplyToObserved(client, context, kind, uid, object));
  // The observed object may be older than an Update entry, or may lack all entries.
  RETURN_IF_ERROR(TakeOver(client, context, kind, object, &taken_over));
  if (!taken_over) return absl::OkStatus();
  object.CopyFrom(*desired);
  return ApplyToObserved(client, context, kind, uid, object);
}

}  // namespace mandate
