// Custom resource definitions: registers their kinds and writes their status.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {

// Serves the kinds of the stored definitions, and marks these definitions as established. Loop
// thread only.
class Definitions {
 public:
  // `core` outlives this.
  explicit Definitions(Core& core);

  // 501 for a definition with a feature that the double does not support, otherwise OK.
  static absl::Status Check(const Json::Value& definition);

 private:
  void Serve(const StoredObject& definition);
  void Remove(const StoredObject& definition);

  Core& core_;
};

}  // namespace mandate::apiserver
