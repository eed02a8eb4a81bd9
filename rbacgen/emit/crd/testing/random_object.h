// A random kind with its definition, and objects of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/message.h"
#include "manager/object/json.h"
#include "manager/object/json_plan.h"
#include "manager/object/kind.h"
#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/emit/crd/testing/random_kind.h"

namespace mandate::rbacgen {

// The JSON that a correct codec must read and write for an object of the kind. It is made from the
// names in `kind`, without the codec. All fields are set, but only one field of each oneof. The
// same seed gives the same object.
Json::Value MakeRandomObject(const RandomKind& kind, uint64_t seed);

// A random kind whose .proto file was read by rbacgen and by protobuf. Not thread-safe.
class LoadedKind {
 public:
  // Writes the .proto file to `folder`; the imports are below `proto_paths`. kInvalidArgument, with
  // rbacgen's report, if rbacgen rejects it.
  static absl::StatusOr<std::unique_ptr<LoadedKind>> Load(RandomKind kind,
                                                          const std::string& folder,
                                                          std::vector<std::string> proto_paths);

  const RandomKind& kind() const { return kind_; }
  const Definition& definition() const { return definition_; }

  // Like the functions of json_codec.h; reading is strict. Messages must not outlive this.
  std::unique_ptr<google::protobuf::Message> New();
  absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);
  absl::Status FromJson(std::string_view json, google::protobuf::Message& out);

 private:
  LoadedKind(RandomKind kind, std::vector<std::string> folders);
  KindInfo Info() const;

  const RandomKind kind_;
  Diagnostics diagnostics_;
  ProtoFiles files_;
  const google::protobuf::Descriptor* descriptor_ = nullptr;
  Definition definition_;
  google::protobuf::DynamicMessageFactory factory_;
  MessagePlans plans_;
};

}  // namespace mandate::rbacgen
