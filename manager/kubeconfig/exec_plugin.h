// A kubeconfig's exec entry: the command that prints base's credential, as
// client.authentication.k8s.io has it.
#ifndef MANAGER_KUBECONFIG_EXEC_PLUGIN_H_
#define MANAGER_KUBECONFIG_EXEC_PLUGIN_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/secret.h"

namespace mandate {

// A value.
struct ExecPlugin {
  std::string api_version = {};  // "client.authentication.k8s.io/v1", or …/v1beta1
  // What is run, never through a shell. Without a slash it is looked for in $PATH.
  std::string command = {};
  // Arguments and variables may hold what is secret: messages name the command alone.
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // beside the process's own
  std::string install_hint = {};                              // for when the command is not there
  std::string info = {};                                      // $KUBERNETES_EXEC_INFO
  std::string said_by = {};                                   // "FILE: user \"NAME\""; for messages
};

// What a plugin printed.
struct ExecCredential {
  // Exactly one of the two is there.
  std::optional<Secret> token;
  std::string certificate_pem;
  std::optional<Secret> key_pem;
  absl::Time expires = absl::InfiniteFuture();  // by the wall clock; infinite: it did not say
};

// kInvalidArgument says what is wrong with the ExecCredential, as the rest of a sentence that
// begins with what was printed: "is no JSON". Nothing of the text is quoted but its apiVersion and
// kind.
absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text,
                                                   std::string_view api_version);

// `text` as it may be logged: without `secrets`, and without what looks like a credential (a long
// run that mixes lower case, upper case and digits, as tokens and keys do), its control characters
// as blanks, no longer than `max` bytes, of which the last are kept.
std::string WithoutCredentials(std::string text, const std::vector<std::string_view>& secrets,
                               size_t max);

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_EXEC_PLUGIN_H_
