// Custom resource definitions: the kinds they bring, and what the API server says of them in their
// status.
#ifndef TESTING_APISERVER_DEFINITIONS_H_
#define TESTING_APISERVER_DEFINITIONS_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {

// Serves the kinds of the definitions that are stored, as they come and go, and marks the
// definitions as established. Loop thread only.
class Definitions {
 public:
  // `core` outlives this.
  explicit Definitions(Core& core);

  // 501 for a definition with something that the double does not do, OK for any other.
  static absl::Status Check(const Json::Value& definition);

 private:
  void Serve(const StoredObject& definition);
  void Remove(const StoredObject& definition);

  Core& core_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_DEFINITIONS_H_
