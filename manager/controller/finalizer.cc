#include "manager/controller/finalizer.h"

#include <jsoncpp/json/json.h>

#include "manager/object/json.h"

namespace mandate {

absl::StatusOr<MergePatch> FinalizersPatch(const google::protobuf::Message& read,
                                           const std::vector<std::string>& finalizers) {
  Json::Value patch;
  Json::Value& list = patch["metadata"]["finalizers"] = Json::Value(Json::arrayValue);
  for (const std::string& finalizer : finalizers) list.append(finalizer);
  return MergePatch::IfUnchanged(read, WriteJson(patch));
}

}  // namespace mandate
