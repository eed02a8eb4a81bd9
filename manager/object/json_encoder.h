// Protobuf to Kubernetes JSON: the walker behind ToJson.
#ifndef MANAGER_OBJECT_JSON_ENCODER_H_
#define MANAGER_OBJECT_JSON_ENCODER_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "manager/object/json_plan.h"
#include "manager/object/kind.h"

namespace mandate {

// Appends `message` to `out`; with `kind`, which may be nullptr, its apiVersion and kind come
// first.
absl::Status EncodeJson(const MessagePlan& plan, const google::protobuf::Message& message,
                        const KindInfo* kind, std::string& out);

}  // namespace mandate

#endif  // MANAGER_OBJECT_JSON_ENCODER_H_
