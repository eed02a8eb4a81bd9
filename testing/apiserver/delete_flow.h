// Executes one DELETE of an object, or of each object of a collection in turn.
#pragma once

#include <jsoncpp/json/json.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {

// Loop thread only.
class DeleteFlow {
 public:
  // Answers the exchange.
  static void Serve(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer);

 private:
  DeleteFlow(Core& core, Exchange& exchange, const ResourceType& type, Encoding answer)
      : core_(core), exchange_(exchange), type_(type), answer_(answer) {}

  // Errors become the response.
  absl::Status Run();
  absl::Status Prepare();
  absl::Status ReadOptions();
  absl::Status ReadParameters();
  absl::Status Delete(const std::shared_ptr<const StoredObject>& live);
  absl::Status CheckPreconditions(const StoredObject& live) const;
  // Marks an object that a finalizer or its dependents keep; null if nothing keeps it.
  std::shared_ptr<const StoredObject> Mark(const StoredObject& live);
  void Answer();
  std::string Success(const StoredObject& object) const;

  const Request& request() const { return exchange_.request(); }

  Core& core_;
  Exchange& exchange_;
  const ResourceType& type_;
  const Encoding answer_;
  bool collection_ = false;
  bool dry_run_ = false;
  Json::Value options_;    // DeleteOptions
  std::string finalizer_;  // required by the propagation policy, or empty
  std::vector<std::pair<std::string, std::string>> targets_;
  ListMeta list_;                                             // for a collection
  std::vector<std::shared_ptr<const StoredObject>> deleted_;  // their last versions
  bool gone_ = false;                                         // the last object has been removed
};

}  // namespace mandate::apiserver
