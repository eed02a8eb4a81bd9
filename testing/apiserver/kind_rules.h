// The rules of single kinds: defaults, fields that clients cannot set, validation.
#pragma once

#include <jsoncpp/json/json.h>

#include <string_view>
#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Whether the object is a webhook configuration whose webhooks an API server calls.
bool HasWebhookRules(const ResourceType& type, const Json::Value& object);

// Whether a PUT of an absent object creates it.
bool AllowsCreateOnUpdate(const ResourceType& type);
// Whether a PUT without a resourceVersion replaces the object.
bool AllowsUnconditionalUpdate(const ResourceType& type);

// Sets the defaults of absent fields.
void SetDefaults(const ResourceType& type, Json::Value& object);
// Removes the fields that a client cannot set on creation.
void PrepareForCreate(const ResourceType& type, Json::Value& object);
// Copies from `old` the fields that this request cannot change: the status, or all except the
// status.
void PrepareForUpdate(const ResourceType& type, std::string_view subresource,
                      const Json::Value& old, Json::Value& object);

// Checks the object's apiVersion and kind.
std::vector<Cause> CheckType(const ResourceType& type, const Json::Value& object);
// `old` is null for a creation.
std::vector<Cause> CheckKind(const ResourceType& type, std::string_view subresource,
                             const Json::Value& object, const Json::Value& old);

}  // namespace mandate::apiserver
