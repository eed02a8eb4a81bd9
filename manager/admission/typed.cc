#include "manager/admission/typed.h"

#include "manager/admission/json_change.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::internal {

absl::Status ReadObject(std::string_view json, std::string_view which, const KindInfo& kind,
                        google::protobuf::Message& out) {
  if (json.empty()) return absl::InvalidArgumentError(StrCat("the review has no ", which));
  // The API server's objects have fewer. A hostile review with millions would take gigabytes.
  constexpr size_t kMaxContainers = 100'000;
  const absl::Status status =
      FromJson(json, out, {.kind = &kind, .limits = {.max_containers = kMaxContainers}});
  if (status.ok()) return status;
  return absl::InvalidArgumentError(StrCat(which, ": ", AsStd(status.message())));
}

absl::Status SetPatch(const google::protobuf::Message& before,
                      const google::protobuf::Message& after, AdmissionCall& call) {
  ASSIGN_OR_RETURN(const std::string before_text, ToJson(before));
  ASSIGN_OR_RETURN(const std::string after_text, ToJson(after));
  if (before_text == after_text) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Json::Value whole, ParseJson(call.request().object().raw()));
  ASSIGN_OR_RETURN(const Json::Value old_part, ParseJson(before_text));
  ASSIGN_OR_RETURN(const Json::Value new_part, ParseJson(after_text));
  const Json::Value patch = DiffToJsonPatch(whole, ApplyTypedChange(whole, old_part, new_part));
  if (patch.empty()) return absl::OkStatus();
  call.response().set_patch(WriteJson(patch));
  call.response().set_patchtype("JSONPatch");
  return absl::OkStatus();
}

}  // namespace mandate::internal
