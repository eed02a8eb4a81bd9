// Patches and selectors, valid and nearly valid ones.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>

#include "testing/conformance/explore/bodies.h"
#include "testing/conformance/explore/dice.h"

namespace mandate::conformance::explore {

Json::Value MakeMergePatch(const Resource& resource, Dice& dice);
Json::Value MakeJsonPatch(Dice& dice);

// A selector, encoded for a query.
std::string MakeLabelSelector(Dice& dice);

}  // namespace mandate::conformance::explore
