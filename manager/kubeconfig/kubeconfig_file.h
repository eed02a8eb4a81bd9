// The entries of one kubeconfig file, before any is chosen.
#ifndef MANAGER_KUBECONFIG_KUBECONFIG_FILE_H_
#define MANAGER_KUBECONFIG_KUBECONFIG_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/object/json.h"

namespace mandate {

// A named entry: its plain members as they stand ("server" → "https://…"), those that hold more
// than text as "".
struct KubeconfigEntry {
  std::string file;  // that it stands in
  std::map<std::string, std::string, std::less<>> members;
  // Those that hold more than text.
  std::map<std::string, Json::Value, std::less<>> trees = {};

  bool Has(std::string_view member) const { return members.find(member) != members.end(); }
  // "" when absent.
  std::string Get(std::string_view member) const;
  // Null when absent, or text.
  const Json::Value* Tree(std::string_view member) const;
  // A path, made absolute by the folder of `file`.
  std::string Path(std::string_view member) const;
};

struct KubeconfigFile {
  std::string current_context;
  std::map<std::string, KubeconfigEntry, std::less<>> clusters;
  std::map<std::string, KubeconfigEntry, std::less<>> users;
  std::map<std::string, KubeconfigEntry, std::less<>> contexts;
};

// Adds what `text`, the content of `path`, says to `file`; what is there already stays.
// kInvalidArgument names the file and the line or entry, and never quotes what may be a secret.
absl::Status AddKubeconfig(std::string_view text, const std::string& path, KubeconfigFile& file);

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_KUBECONFIG_FILE_H_
