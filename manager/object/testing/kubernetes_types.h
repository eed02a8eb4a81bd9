// Every message of one release of Kubernetes' API, without a line of generated code.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/message.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_plan.h"
#include "manager/object/kind.h"
#include "manager/object/testing/go_types.h"

namespace mandate {

// The folder of a repository of third_party/bazel/kubernetes.bzl in a test: "kubernetes" or
// "kubernetes_next".
std::string KubernetesRoot(std::string_view repository);

// Thread-safe. Messages that it makes must not outlive it.
class KubernetesTypes {
 public:
  // The types of a repository whose :descriptors and :go_types are data of the test. With
  // `only_metadata` the messages have only the field metadata, as for a client without typed kinds.
  static const KubernetesTypes& Of(std::string_view repository, bool only_metadata = false);

  KubernetesTypes(const std::string& root, bool only_metadata);

  // The message of an object, such as "apps/v1" and "Deployment"; nullptr if there is none.
  const google::protobuf::Descriptor* Find(std::string_view api_version,
                                           std::string_view kind) const;
  std::unique_ptr<google::protobuf::Message> New(const google::protobuf::Descriptor& type) const;

  // As the functions of json_codec.h.
  absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message,
                                     const KindInfo* kind) const;
  absl::Status FromJson(std::string_view json, google::protobuf::Message& out,
                        const FromJsonOptions& options = {}) const;

  // Clears the zero values that Go writes to protobuf and omits from JSON. Two messages mean the
  // same to a Kubernetes server if and only if they are equal afterwards.
  void DropZeros(google::protobuf::Message& message) const;

  const GoFields& go_fields() const { return go_fields_; }
  void ForEachMessage(const std::function<void(const google::protobuf::Descriptor&)>& visit) const;

 private:
  const GoFields go_fields_;
  const std::map<std::string, std::string> group_packages_;
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
  mutable MessagePlans plans_;
  std::vector<const google::protobuf::FileDescriptor*> files_;
};

// The apiVersion's group and version in the form that the codec takes; borrows.
KindInfo KindInfoOf(std::string_view api_version, std::string_view kind);

}  // namespace mandate
