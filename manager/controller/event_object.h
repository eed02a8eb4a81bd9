// An Event of events.k8s.io/v1 within the API server's limits, and the requests that record it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/controller/event_recorder.h"
#include "manager/object/kinds/events_v1.h"

namespace mandate {

// The reporter of an event: the component, and its process.
struct EventReporter {
  std::string controller;  // "scope-instance"
  std::string instance;    // "host_uuid"
};

struct EventContent {
  ObjectRef regarding;
  EventType type = EventType::kNormal;
  std::string reason, action, note;

  bool operator==(const EventContent&) const = default;
  // Equal for repetitions of one event; the object's version does not count.
  std::string SeriesKey() const;
};

// Cuts each text to the server's limit, at a character of UTF-8.
EventContent TruncateToLimits(EventContent content);

// The first observation, at `wall`. Its name depends on content and time alone, so that a repeated
// request creates no second event.
eventsv1::Event EventObject(const EventContent& content, const EventReporter& reporter,
                            absl::Time wall);

// Creates the event.
RestRequest EventCreation(const eventsv1::Event& event);
// Reports that an existing event was observed `count` times (at least 2), last at `wall`.
RestRequest EventRepetition(const eventsv1::Event& event, int count, absl::Time wall);

// The same request may succeed later.
bool IsTransient(const absl::Status& status);
// The server is down or overloaded, or does not accept the credential: no other request would
// succeed now.
bool IsServerUnavailable(const absl::Status& status);

}  // namespace mandate
