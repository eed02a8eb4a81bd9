// What the API server does for one kind that it does not do for others: defaults, what a client may
// not set, what is valid.
#ifndef TESTING_APISERVER_KIND_RULES_H_
#define TESTING_APISERVER_KIND_RULES_H_

#include <jsoncpp/json/json.h>

#include <string_view>
#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// PUT of an object that is not there creates it.
bool AllowsCreateOnUpdate(const ResourceType& type);
// PUT without a resourceVersion replaces whatever is there.
bool AllowsUnconditionalUpdate(const ResourceType& type);

// Fills in what the client left out.
void SetDefaults(const ResourceType& type, Json::Value& object);
// Takes away what a client cannot set on creation.
void PrepareForCreate(const ResourceType& type, Json::Value& object);
// Gives `object` what this request cannot change of `old`: status, or all but status.
void PrepareForUpdate(const ResourceType& type, std::string_view subresource,
                      const Json::Value& old, Json::Value& object);

// Whether the object is of the kind that it should be.
std::vector<Cause> CheckType(const ResourceType& type, const Json::Value& object);
// `old` is null of a creation.
std::vector<Cause> CheckKind(const ResourceType& type, std::string_view subresource,
                             const Json::Value& object, const Json::Value& old);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_KIND_RULES_H_
