// "VERB RESOURCE[/NAME]" on a command line, as kubectl auth can-i takes it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/rule.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct QuestionText {
  std::string verb;
  std::string resource;  // "pods", "Pod", "deployments.apps/web", "/metrics"
  std::string subresource;
  std::string ns;
};

// The request of the question; FindResource() resolves its resource. InvalidArgument if the text is
// not a valid request.
absl::StatusOr<rbac::Attributes> ParseQuestion(const QuestionText& text, const World& world);

// Whether the resource is a cluster-scoped resource of Kubernetes itself, so that no RoleBinding
// allows the request. Exceptions are namespaces, because a request for one belongs to that
// namespace, and "bind", which is authorized in the namespace of the binding.
bool IsOfNoNamespace(const rbac::Attributes& request);

struct QuestionDoubt {
  std::string text;  // a sentence
  // The verb or the resource is mistyped or unknown: "no" would answer another question.
  bool is_open = false;
};

// The parts of the question that may be misread: a subresource that is read as a name, as kubectl
// reads it; a namespace for a cluster-scoped resource; and verbs and resources that the table of
// Kubernetes' own API does not have. A resource that the world's `custom` has is known.
std::vector<QuestionDoubt> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request,
                                          const World& world);

}  // namespace mandate::rbacgen
