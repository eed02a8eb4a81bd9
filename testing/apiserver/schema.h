// The structural schema of a custom resource (apiextensions/v1 JSONSchemaProps): it validates,
// prunes and fills in.
#ifndef TESTING_APISERVER_SCHEMA_H_
#define TESTING_APISERVER_SCHEMA_H_

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

  // The first keyword in it that the double does not know, such as "x-kubernetes-validations";
  // "": it knows them all.
  std::string UnknownKeyword() const;

  // What is wrong with an object, in the server's words.
  std::vector<Cause> Validate(const Json::Value& object) const;
  // The first value of another type than the schema's, null being of any; nullopt: there is none.
  std::optional<std::string> TypeProblem(const Json::Value& object) const;
  // Without members that the schema does not know. apiVersion, kind and metadata stay as they are.
  Json::Value Prune(const Json::Value& object) const;
  // And with its defaults.
  Json::Value PruneAndDefault(const Json::Value& object) const;
  // Without members that are null, cannot be and have no default: what reading leaves of them.
  Json::Value DropNulls(const Json::Value& object) const;

  const Json::Value& definition() const { return definition_; }

 private:
  const Json::Value definition_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_SCHEMA_H_
