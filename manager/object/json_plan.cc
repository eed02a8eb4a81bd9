#include "manager/object/json_plan.h"

#include "manager/object/json_names.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kMeta = "k8s.io.apimachinery.pkg.apis.meta.v1.";

bool IsMetadata(const FieldDescriptor& field) {
  if (JsonName(field) != "metadata" || field.message_type() == nullptr) return false;
  const std::string_view type = field.message_type()->full_name();
  return type.starts_with(kMeta) &&
         (type.substr(kMeta.size()) == "ObjectMeta" || type.substr(kMeta.size()) == "ListMeta");
}

const Descriptor* MessageOf(const FieldDescriptor& field) {
  const Descriptor* message = field.message_type();
  if (message != nullptr && field.is_map()) message = message->map_value()->message_type();
  return message;
}

void AddMembers(MessagePlan& plan, const std::vector<FieldPlan>& fields,
                const std::vector<const FieldPlan*>& through) {
  for (const FieldPlan& field : fields) {
    if (field.flattened) {
      std::vector<const FieldPlan*> deeper = through;
      deeper.push_back(&field);
      AddMembers(plan, field.message->fields, deeper);
    } else {
      plan.members[field.json_name] = {&field, through};
    }
  }
}

}  // namespace

const MessagePlan* MessagePlans::Of(const Descriptor& type) {
  MutexLock lock(mutex_);
  std::vector<MessagePlan*> added;
  const MessagePlan* plan = Add(type, added);
  // Only now every field of a flattened message has its plan, also in cycles of types.
  for (MessagePlan* each : added) AddMembers(*each, each->fields, {});
  return plan;
}

const MessagePlan* MessagePlans::Add(const Descriptor& type, std::vector<MessagePlan*>& added) {
  std::unique_ptr<MessagePlan>& place = plans_[&type];
  if (place != nullptr) return place.get();
  MessagePlan* plan = (place = std::make_unique<MessagePlan>()).get();
  added.push_back(plan);
  plan->hook = HookOf(type);
  if (plan->hook != JsonHook::kNone) return plan;
  plan->fields.reserve(static_cast<size_t>(type.field_count()));
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    FieldPlan& each = plan->fields.emplace_back();
    each.field = &field;
    each.json_name = JsonName(field);
    each.flattened = IsFlattened(field.full_name());
    if (const Descriptor* message = MessageOf(field)) each.message = Add(*message, added);
    plan->has_metadata = plan->has_metadata || IsMetadata(field);
  }
  return plan;
}

const MessagePlan* PlanOf(const Descriptor& type) {
  // Types of another pool may be destroyed, and their addresses reused.
  if (type.file()->pool() != DescriptorPool::generated_pool()) return nullptr;
  static MessagePlans& plans = *new MessagePlans;
  return plans.Of(type);
}

}  // namespace mandate
