#include "manager/object/json_codec.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json_plan.h"
#include "manager/object/json_walker.h"

namespace mandate {
namespace {

absl::Status NoPlan(const google::protobuf::Message& message) {
  return absl::InvalidArgumentError(
      StrCat(message.GetTypeName(), " is not a generated message, so it has no JSON"));
}

}  // namespace

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message, const KindInfo* kind) {
  const MessagePlan* plan = PlanOf(*message.GetDescriptor());
  if (plan == nullptr) return NoPlan(message);
  std::string out;
  const absl::Status status = EncodeJson(*plan, message, kind, out);
  if (status.ok()) return out;
  std::string_view what = AsStd(status.message());
  if (what.starts_with('.')) what.remove_prefix(1);
  return absl::Status(status.code(), AsAbsl(what));
}

absl::Status FromJson(std::string_view json, google::protobuf::Message& out,
                      const FromJsonOptions& options) {
  const MessagePlan* plan = PlanOf(*out.GetDescriptor());
  if (plan == nullptr) return NoPlan(out);
  out.Clear();
  return DecodeJson(*plan, json, options, out);
}

}  // namespace mandate
