// Conversion of rbac/v1 messages to the plain policy structs and back.
//
// It drops labels, annotations, aggregation rules and all other metadata that the structs do not
// have. Never send a converted message back to a server.
#pragma once

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/rule.h"

namespace mandate::rbac {

namespace v1 = ::k8s::io::api::rbac::v1;

Rule FromProto(const v1::PolicyRule& message);
Role FromProto(const v1::Role& message);
ClusterRole FromProto(const v1::ClusterRole& message);
RoleBinding FromProto(const v1::RoleBinding& message);
ClusterRoleBinding FromProto(const v1::ClusterRoleBinding& message);

v1::PolicyRule ToProto(const Rule& rule);
v1::Role ToProto(const Role& role);
v1::ClusterRole ToProto(const ClusterRole& role);
v1::RoleBinding ToProto(const RoleBinding& binding);
v1::ClusterRoleBinding ToProto(const ClusterRoleBinding& binding);

}  // namespace mandate::rbac
