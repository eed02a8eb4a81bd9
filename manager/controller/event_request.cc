#include "manager/controller/event_request.h"

#include "manager/client/call_record.h"
#include "manager/controller/event_object.h"
#include "manager/object/api_error.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

constexpr KindInfo kKind = KindOf<eventsv1::Event>::value;

}  // namespace

RestRequest EventCreation(const eventsv1::Event& event) {
  LeaveCallNote<CallNoteOf("*", "create", "events.k8s.io", "events", "")>();
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kKind, {KeyOf(event).ns, ""});
  request.body = EncodeObject(event, Encoding::kJson).value_or("");
  request.idempotent = true;  // a name is used once
  return request;
}

RestRequest EventRepetition(const eventsv1::Event& event, int count, absl::Time wall) {
  LeaveCallNote<CallNoteOf("*", "patch", "events.k8s.io", "events", "")>();
  RestRequest request;
  request.method = "PATCH";
  request.target = ResourceTarget(kKind, KeyOf(event));
  request.content_type = "application/merge-patch+json";
  request.body = SeriesPatch(count, wall);
  request.idempotent = true;  // a count is absolute
  return request;
}

bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsUnauthenticated(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsInternal(status);
}

bool IsOfTheServer(const absl::Status& status) {
  const bool of_the_server = absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
                             absl::IsUnauthenticated(status);
  // A webhook denies this event, with a code that it chooses.
  return of_the_server && !IsDeniedByWebhook(status);
}

}  // namespace mandate
