// Kubernetes JSON to protobuf: the walker behind FromJson.
#ifndef MANAGER_OBJECT_JSON_DECODER_H_
#define MANAGER_OBJECT_JSON_DECODER_H_

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_plan.h"

namespace mandate {

// `out` is empty.
absl::Status DecodeJson(const MessagePlan& plan, std::string_view json,
                        const FromJsonOptions& options, google::protobuf::Message& out);

}  // namespace mandate

#endif  // MANAGER_OBJECT_JSON_DECODER_H_
