// The configuration of a server-side apply, before it is merged: a partial object that must fit its
// kind's schema (structured-merge-diff's typed values).
#pragma once

#include <jsoncpp/json/json.h>

#include "absl/status/status.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// 500 for a configuration with members that the kind does not have, with values of other types, or
// with a list that has one item twice.
absl::Status CheckConfiguration(const Json::Value& config, const ResourceType& type);

}  // namespace mandate::apiserver
