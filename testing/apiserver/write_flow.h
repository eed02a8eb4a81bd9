// Executes one create, update or patch.
#pragma once

#include <jsoncpp/json/json.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/write_query.h"

namespace mandate::apiserver {

// Loop thread only.
class WriteFlow {
 public:
  // Executes the verb of the exchange's request (create, update or patch) and responds.
  static void Serve(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer);

 private:
  WriteFlow(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer)
      : core_(core), exchange_(exchange), type_(type), answer_(answer) {}

  // Errors become the response.
  absl::Status Run();
  absl::Status Prepare();
  // The new object: the request applied to the existing object, or to none.
  absl::StatusOr<Json::Value> Candidate();
  absl::StatusOr<Json::Value> Patched() const;
  absl::Status CheckIdentity(const Json::Value& object) const;
  absl::StatusOr<Json::Value> Applied() const;
  // 409 for an object with another uid than `live`'s, which is empty if there is no object.
  absl::Status CheckUid(const Json::Value& object, const std::string& live) const;
  absl::Status CheckPreconditions(const Json::Value& object) const;
  // `when`: the stage that may have repeated an owner, for the warning.
  void DropOwnersNamedTwice(std::string_view when, Json::Value& object) const;
  // Sets the fields that the server sets, and validates the object.
  absl::Status Complete(Json::Value& object);
  // All validation errors in one error.
  absl::Status CheckObject(const Json::Value& object) const;
  absl::Status Commit();
  // 409 for a name that exists.
  absl::Status AlreadyExists(const StoredObject& other) const;
  void Answer(const StoredObject& object, int code);

  // Empty for a cluster-scoped kind.
  std::string ns() const { return type_.namespaced ? request().attributes.ns : ""; }
  bool creating() const { return live_ == nullptr; }
  const Request& request() const { return exchange_.request(); }
  const std::string& subresource() const { return request().attributes.subresource; }

  Core& core_;
  Exchange& exchange_;
  const ResourceType& type_;
  const Encoding answer_;
  WriteQuery query_;
  Json::Value body_;         // decoded: an object, or a patch
  absl::Status unreadable_;  // the error of an invalid patch
  std::shared_ptr<const StoredObject> live_;
  Json::Value live_object_;  // null for a creation
  Json::Value object_;       // the object to store
  bool typed_ = true;        // the sent object has the types of its schema
};

}  // namespace mandate::apiserver
