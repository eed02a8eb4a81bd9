// "VERB RESOURCE[/NAME]" on a command line, as kubectl auth can-i takes it.
#ifndef RBACGEN_ANALYSIS_QUESTION_H_
#define RBACGEN_ANALYSIS_QUESTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/rule.h"
#include "rbacgen/analysis/world.h"

namespace mandate::rbacgen {

struct QuestionText {
  std::string verb;
  std::string resource;  // "pods", "Pod", "deployments.apps/web", "/metrics"
  std::string subresource;
  std::string ns;
};

// The request that is asked about; FindResource() says what the resource names. InvalidArgument if
// it is none.
absl::StatusOr<rbac::Attributes> ParseQuestion(const QuestionText& text, const World& world);

// What of the question may not be what was meant, a sentence each: a subresource that is taken for
// a name, as kubectl takes it; a namespace for what is of none; what Kubernetes' own API does not
// know, as far as this knows it.
std::vector<std::string> QuestionDoubts(const QuestionText& text, const rbac::Attributes& request);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ANALYSIS_QUESTION_H_
