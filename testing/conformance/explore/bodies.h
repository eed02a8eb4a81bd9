// Objects and patches of the kinds that are explored: most are valid, some are nearly valid.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>

#include "testing/conformance/explore/dice.h"

namespace mandate::conformance::explore {

struct Resource {
  const char* api;  // "/apis/apps/v1"
  const char* api_version;
  const char* kind;
  const char* plural;
  bool namespaced;
  bool status;
};

const Resource& Configmaps();
const Resource& PickResource(Dice& dice);

// One of a few names, so that several steps use the same object. Cluster-scoped names have a
// prefix.
std::string PickName(const Resource& resource, Dice& dice);

// A prefix for generateName that is almost never repeated: names that differ only in the server's
// suffix sort differently on each server.
std::string MakeGenerateName(Dice& dice);

Json::Value MakeObject(const Resource& resource, const std::string& name, Dice& dice);

// Changes one or two members, to valid or invalid values.
void Disturb(const Resource& resource, Json::Value& object, Dice& dice);

}  // namespace mandate::conformance::explore
