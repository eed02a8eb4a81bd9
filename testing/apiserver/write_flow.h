// One create, update or patch on its way from the request to the store.
#ifndef TESTING_APISERVER_WRITE_FLOW_H_
#define TESTING_APISERVER_WRITE_FLOW_H_

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
  // Answers the exchange, by its request's verb: create, update or patch.
  static void Serve(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer);

 private:
  WriteFlow(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer)
      : core_(core), exchange_(exchange), type_(type), answer_(answer) {}

  // Errors are the answer.
  absl::Status Run();
  absl::Status Prepare();
  // What the request makes of the object that is there, or of nothing.
  absl::StatusOr<Json::Value> Candidate();
  absl::StatusOr<Json::Value> Patched() const;
  absl::Status CheckIdentity(const Json::Value& object) const;
  absl::StatusOr<Json::Value> Applied() const;
  // 409 for an object that demands another uid than `live`'s; empty: there is none.
  absl::Status CheckUid(const Json::Value& object, const std::string& live) const;
  absl::Status CheckPreconditions(const Json::Value& object) const;
  // `when`: by whom an owner can have been named again.
  void DropOwnersNamedTwice(std::string_view when, Json::Value& object) const;
  // Gives the object what the server gives it, and checks it.
  absl::Status Complete(Json::Value& object);
  // What is wrong with it, all in one.
  absl::Status CheckObject(const Json::Value& object) const;
  absl::Status Commit();
  // 409 for a name that is taken.
  absl::Status AlreadyExists(const StoredObject& other) const;
  void Answer(const StoredObject& object, int code);

  // Empty of a cluster-scoped kind.
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
  absl::Status unreadable_;  // why a patch is none
  std::shared_ptr<const StoredObject> live_;
  Json::Value live_object_;  // null: none
  Json::Value object_;       // as it will be stored
  bool typed_ = true;        // what was sent has the types of its schema
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_WRITE_FLOW_H_
