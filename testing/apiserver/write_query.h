// The query of a write (metav1.CreateOptions, UpdateOptions, PatchOptions), validated.
#pragma once

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

struct WriteQuery {
  // `options` is "CreateOptions", "UpdateOptions" or "PatchOptions".
  static absl::StatusOr<WriteQuery> Parse(const Request& request, std::string_view options);

  bool dry_run = false;
  bool apply = false;        // a server-side apply
  bool force = false;        // for an apply
  std::string manager;       // as given
  std::string validation;    // fieldValidation: "", "Ignore", "Warn", "Strict"
  std::string manager_name;  // `manager`, or the start of the user agent
};

// Validates the values of dryRun.
std::optional<Cause> CheckDryRun(const std::vector<std::string>& given);

// Takes the media type in lower case and without parameters.
std::string ContentTypeOf(const Request& request);

}  // namespace mandate::apiserver
