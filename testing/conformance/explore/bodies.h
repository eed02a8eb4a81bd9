// Objects and patches of the kinds that are explored: most are right, some are nearly right.
#ifndef TESTING_CONFORMANCE_EXPLORE_BODIES_H_
#define TESTING_CONFORMANCE_EXPLORE_BODIES_H_

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

// One of few names, so that steps meet; outside namespaces they have a prefix.
std::string PickName(const Resource& resource, Dice& dice);

// A prefix for generateName that hardly comes twice: names that differ only in what the server
// appends sort differently on every server.
std::string MakeGenerateName(Dice& dice);

Json::Value MakeObject(const Resource& resource, const std::string& name, Dice& dice);

// Changes up to three members, rightly or wrongly.
void Disturb(const Resource& resource, Json::Value& object, Dice& dice);

}  // namespace mandate::conformance::explore

#endif  // TESTING_CONFORMANCE_EXPLORE_BODIES_H_
