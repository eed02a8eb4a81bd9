// The structural schema of a custom resource (apiextensions/v1 JSONSchemaProps): validates objects,
// prunes them and sets defaults.
#pragma once

#include <jsoncpp/json/json.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/apiserver/errors.h"

namespace mandate::apiserver {

// Immutable.
class Schema {
 public:
  // `definition` is the root's openAPIV3Schema.
  explicit Schema(Json::Value definition) : definition_(std::move(definition)) {}

  // The first keyword that the double does not support, such as "x-kubernetes-validations"; "" if
  // it supports all.
  std::string UnknownKeyword() const;

  // The errors of an object, with the server's messages.
  std::vector<Cause> Validate(const Json::Value& object) const;
  // The first value whose type differs from the schema's; null fits any type. nullopt if all fit.
  std::optional<std::string> TypeProblem(const Json::Value& object) const;
  // The object without unknown members. apiVersion, kind and metadata are kept.
  Json::Value Prune(const Json::Value& object) const;
  // The same, with the schema's defaults.
  Json::Value PruneAndDefault(const Json::Value& object) const;
  // The object without null members that are neither nullable nor have a default, as after
  // decoding.
  Json::Value DropNulls(const Json::Value& object) const;

  const Json::Value& definition() const { return definition_; }

 private:
  const Json::Value definition_;
};

}  // namespace mandate::apiserver
