// The requests that record events, and their errors.
#ifndef MANAGER_CONTROLLER_EVENT_REQUEST_H_
#define MANAGER_CONTROLLER_EVENT_REQUEST_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/object/kinds/events_v1.h"

namespace mandate {

// Creates the event.
RestRequest EventCreation(const eventsv1::Event& event);
// Reports that an existing event was observed `count` times (at least 2), last at `wall`.
RestRequest EventRepetition(const eventsv1::Event& event, int count, absl::Time wall);

// The same request may succeed later.
bool IsTransient(const absl::Status& status);
// The server is down or overloaded, or does not accept the credential: no other request would
// succeed now.
bool IsOfTheServer(const absl::Status& status);

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_EVENT_REQUEST_H_
