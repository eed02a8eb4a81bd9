// Kubernetes JSON to protobuf and back: the walker behind FromJson and ToJson.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_plan.h"
#include "manager/object/kind.h"

namespace mandate {

// `out` is empty.
absl::Status DecodeJson(const MessagePlan& plan, std::string_view json,
                        const FromJsonOptions& options, google::protobuf::Message& out);

// Appends `message` to `out`; with `kind`, which may be nullptr, its apiVersion and kind come
// first.
absl::Status EncodeJson(const MessagePlan& plan, const google::protobuf::Message& message,
                        const KindInfo* kind, std::string& out);

}  // namespace mandate
