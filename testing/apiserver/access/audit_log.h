// The audit log: one event of level Metadata for each request.
#pragma once

#include <jsoncpp/json/json.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "manager/core/clock.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Takes an event, which is a line of JSON without the newline, on the loop.
using AuditSink = std::function<void(std::string line)>;

// Loop thread only. It outlives the exchanges that pass through it.
class AuditLog {
 public:
  // Borrows the clock. Without a sink no event is written. `new_uid` makes the audit id of a
  // request without one.
  AuditLog(AuditSink sink, const Clock& clock, std::function<std::string()> new_uid);

  // The outermost filter: gives the request its audit id, adds this id and the warnings to the
  // response, and writes the event when the exchange is closed. The event has the annotations that
  // other stages add to the request's notes.
  void Watch(const std::shared_ptr<Exchange>& exchange);

 private:
  void Write(const Request& request, std::string_view stage, const Json::Value& status);

  const AuditSink sink_;
  const Clock& clock_;
  const std::function<std::string()> new_uid_;
};

}  // namespace mandate::apiserver
