#include "manager/object/json.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

Json::Value StoredObject::Parse() const {
  // What is stored was written by WriteJson.
  return ParseJson(json).value();
}

}  // namespace mandate::apiserver
