// Objects in YAML.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"

namespace mandate {

// kInvalidArgument with the line for text that is not YAML.
absl::StatusOr<Json::Value> ParseYaml(std::string_view text);

// Replaces the content of `object`; apiVersion and kind may be missing. kInvalidArgument also for
// a field that the type does not have.
absl::Status ParseYamlObject(std::string_view text, const KindInfo& kind,
                             google::protobuf::Message& object);

// The documents of a file. kNotFound: it cannot be read.
absl::StatusOr<std::vector<Json::Value>> ReadYamlFile(const std::string& path);

}  // namespace mandate
