// The typed client of a component, and a server with scripted answers.
#pragma once

#include <string>
#include <utility>

#include "manager/client/client.h"
#include "manager/client/testing/client_fixture.h"
#include "manager/object/json.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {

inline constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
inline constexpr char kBindings[] =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings";

inline rbacv1::RoleBinding Binding(std::string name = "bar") {
  rbacv1::RoleBinding binding;
  binding.mutable_metadata()->set_name(std::move(name));
  binding.mutable_metadata()->set_namespace_("foo");
  return binding;
}

inline FakeReply Protobuf(const google::protobuf::Message& message, const KindInfo& kind,
                          int code = 200) {
  FakeReply reply = FakeReply::Json(code, *EncodeObject(message, kind, Encoding::kProtobuf));
  reply.result->content_type = kProtobuf;
  return reply;
}
inline FakeReply Protobuf(const rbacv1::RoleBinding& binding) {
  return Protobuf(binding, KindOf<rbacv1::RoleBinding>::value);
}

struct ClientTest : ClientFixture {
  Client<kScope> typed = *Client<kScope>::Create(client());
  const RecordedRequest& Last() { return fake.requests().back(); }
  Json::Value Body() { return *ParseJson(Last().body); }
};

}  // namespace mandate
