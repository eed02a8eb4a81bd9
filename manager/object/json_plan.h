// How a message type maps to JSON, worked out once per type.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "manager/core/mutex.h"
#include "manager/object/json_hooks.h"

namespace mandate {

struct MessagePlan;

struct FieldPlan {
  const google::protobuf::FieldDescriptor* field = nullptr;
  std::string_view json_name;
  // Its members are members of the JSON object of the message that has the field.
  bool flattened = false;
  // Of the field's message; of a map, of its values' message; nullptr for scalars.
  const MessagePlan* message = nullptr;
};

// The field that receives the value of a JSON member.
struct MemberPlan {
  const FieldPlan* target = nullptr;
  // The flattened fields on the way from the message to the target, outermost first.
  std::vector<const FieldPlan*> through;
};

// Immutable.
struct MessagePlan {
  JsonHook hook = JsonHook::kNone;
  // An object or list of objects: its JSON may name its apiVersion and kind.
  bool has_metadata = false;
  std::vector<FieldPlan> fields;  // in the order of the .proto file
  std::unordered_map<std::string_view, MemberPlan> members;
};

// The plans of types of any pool, which must outlive them. Thread-safe.
class MessagePlans {
 public:
  // Lives as long as this does.
  const MessagePlan* Of(const google::protobuf::Descriptor& type) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const MessagePlan* Add(const google::protobuf::Descriptor& type, std::vector<MessagePlan*>& added)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::unordered_map<const google::protobuf::Descriptor*, std::unique_ptr<MessagePlan>> plans_
      ABSL_GUARDED_BY(mutex_);
};

// The plan of a type in the generated pool, valid until the process ends; nullptr for a type of
// another pool. Thread-safe.
const MessagePlan* PlanOf(const google::protobuf::Descriptor& type);

}  // namespace mandate
