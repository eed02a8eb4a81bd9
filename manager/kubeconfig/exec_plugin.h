// A kubeconfig's exec entry: the command that prints base's credential
// (client.authentication.k8s.io).
#pragma once

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
  // The command, which never runs through a shell. Without a slash it is looked up in $PATH.
  std::string command = {};
  // Arguments and variables may hold secrets: messages name the command only.
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  // in addition to the process's own
  std::string install_hint = {};  // for the error if the command is missing
  std::string info = {};          // $KUBERNETES_EXEC_INFO
  std::string origin = {};        // "FILE: user \"NAME\"", for messages
};

// The credential that a plugin printed.
struct ExecCredential {
  // Exactly one of the two is set.
  std::optional<Secret> token;
  std::string certificate_pem;
  std::optional<Secret> key_pem;
  absl::Time expires = absl::InfiniteFuture();  // by the wall clock; infinite: not set
};

// kInvalidArgument says what is wrong with the ExecCredential, as the rest of a sentence whose
// subject is the plugin's output: "is not JSON". It quotes only the text's apiVersion and kind.
absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text,
                                                   std::string_view api_version);

// `text` for a log: without `secrets` and without parts that look like a credential (a long run
// that mixes lower case, upper case and digits, like tokens and keys), with blanks instead of
// control characters, cut to its last `max` bytes.
std::string WithoutCredentials(std::string text, const std::vector<std::string_view>& secrets,
                               size_t max);

}  // namespace mandate
