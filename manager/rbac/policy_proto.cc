#include "manager/rbac/policy_proto.h"

#include <string>
#include <vector>

namespace mandate::rbac {
namespace {

using Repeated = google::protobuf::RepeatedPtrField<std::string>;

std::vector<std::string> Strings(const Repeated& field) { return {field.begin(), field.end()}; }

void Fill(Repeated& field, const std::vector<std::string>& values) {
  field.Assign(values.begin(), values.end());
}

template <class Message>
std::vector<Rule> Rules(const Message& message) {
  std::vector<Rule> rules;
  rules.reserve(message.rules_size());
  for (const v1::PolicyRule& rule : message.rules()) rules.push_back(FromProto(rule));
  return rules;
}

template <class Message>
std::vector<Subject> Subjects(const Message& message) {
  std::vector<Subject> subjects;
  subjects.reserve(message.subjects_size());
  for (const v1::Subject& s : message.subjects()) {
    subjects.push_back(
        {.kind = s.kind(), .api_group = s.apigroup(), .name = s.name(), .ns = s.namespace_()});
  }
  return subjects;
}

RoleRef Ref(const v1::RoleRef& message) {
  return {.api_group = message.apigroup(), .kind = message.kind(), .name = message.name()};
}

// To the server, an absent field and an empty string mean the same, so empty fields are omitted.
template <class Binding, class Message>
void FillBinding(const Binding& binding, Message& message) {
  message.mutable_metadata()->set_name(binding.name);
  v1::RoleRef& ref = *message.mutable_roleref();
  ref.set_apigroup(binding.role_ref.api_group);
  ref.set_kind(binding.role_ref.kind);
  ref.set_name(binding.role_ref.name);
  for (const Subject& subject : binding.subjects) {
    v1::Subject& s = *message.add_subjects();
    s.set_kind(subject.kind);
    if (!subject.api_group.empty()) s.set_apigroup(subject.api_group);
    s.set_name(subject.name);
    if (!subject.ns.empty()) s.set_namespace_(subject.ns);
  }
}

}  // namespace

Rule FromProto(const v1::PolicyRule& message) {
  return {.verbs = Strings(message.verbs()),
          .api_groups = Strings(message.apigroups()),
          .resources = Strings(message.resources()),
          .resource_names = Strings(message.resourcenames()),
          .non_resource_urls = Strings(message.nonresourceurls())};
}

Role FromProto(const v1::Role& message) {
  return {.ns = message.metadata().namespace_(),
          .name = message.metadata().name(),
          .rules = Rules(message)};
}

ClusterRole FromProto(const v1::ClusterRole& message) {
  return {.name = message.metadata().name(), .rules = Rules(message)};
}

RoleBinding FromProto(const v1::RoleBinding& message) {
  return {.ns = message.metadata().namespace_(),
          .name = message.metadata().name(),
          .role_ref = Ref(message.roleref()),
          .subjects = Subjects(message)};
}

ClusterRoleBinding FromProto(const v1::ClusterRoleBinding& message) {
  return {.name = message.metadata().name(),
          .role_ref = Ref(message.roleref()),
          .subjects = Subjects(message)};
}

v1::PolicyRule ToProto(const Rule& rule) {
  v1::PolicyRule message;
  Fill(*message.mutable_verbs(), rule.verbs);
  Fill(*message.mutable_apigroups(), rule.api_groups);
  Fill(*message.mutable_resources(), rule.resources);
  Fill(*message.mutable_resourcenames(), rule.resource_names);
  Fill(*message.mutable_nonresourceurls(), rule.non_resource_urls);
  return message;
}

v1::Role ToProto(const Role& role) {
  v1::Role message;
  message.mutable_metadata()->set_namespace_(role.ns);
  message.mutable_metadata()->set_name(role.name);
  for (const Rule& rule : role.rules) *message.add_rules() = ToProto(rule);
  return message;
}

v1::ClusterRole ToProto(const ClusterRole& role) {
  v1::ClusterRole message;
  message.mutable_metadata()->set_name(role.name);
  for (const Rule& rule : role.rules) *message.add_rules() = ToProto(rule);
  return message;
}

v1::RoleBinding ToProto(const RoleBinding& binding) {
  v1::RoleBinding message;
  message.mutable_metadata()->set_namespace_(binding.ns);
  FillBinding(binding, message);
  return message;
}

v1::ClusterRoleBinding ToProto(const ClusterRoleBinding& binding) {
  v1::ClusterRoleBinding message;
  FillBinding(binding, message);
  return message;
}

}  // namespace mandate::rbac
