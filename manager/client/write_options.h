// Options that the writes have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mandate {

// What the API server does about fields of an object or a patch that its kind does not have, and
// about fields that are given twice. It checks JSON only: patches, applies and custom resources.
// Create and Update of built-in kinds send protobuf, in which there are no such fields.
enum class FieldValidation {
  kServerDefault,  // kWarn since Kubernetes 1.27
  kStrict,         // rejects the request: kInvalidArgument (400, or 422 for a patch)
  kWarn,           // drops the fields, with a warning (ClientOptions::on_warning)
  kIgnore,         // drops the fields
};

struct WriteOptions {
  // The API server does all that a write does, admission included, but stores nothing. The result
  // is the object as it would be; a created one has a UID that no object will have. Needs the same
  // grants as the write. The client may repeat the request after any failed connection.
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kServerDefault;
};

// Appends the parameters of a request's query.
inline void AppendTo(std::vector<std::pair<std::string, std::string>>& query,
                     const WriteOptions& options) {
  constexpr const char* kValidation[] = {"", "Strict", "Warn", "Ignore"};
  if (options.dry_run) query.emplace_back("dryRun", "All");
  if (options.field_validation != FieldValidation::kServerDefault) {
    query.emplace_back("fieldValidation", kValidation[static_cast<int>(options.field_validation)]);
  }
}

}  // namespace mandate
