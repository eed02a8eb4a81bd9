// The entries of one kubeconfig file, before one is chosen.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/object/json.h"

namespace mandate {

// A named entry. Plain members have their text ("server" → "https://…"); lists and maps have "".
struct KubeconfigEntry {
  std::string file;  // the file of the entry
  std::map<std::string, std::string, std::less<>> members;
  // Lists and maps.
  std::map<std::string, Json::Value, std::less<>> trees = {};

  bool Has(std::string_view member) const { return members.find(member) != members.end(); }
  // "" when absent.
  std::string Get(std::string_view member) const;
  // Null for a member that is absent or plain.
  const Json::Value* Tree(std::string_view member) const;
  // The path; a relative path is relative to the folder of `file`.
  std::string Path(std::string_view member) const;
};

struct KubeconfigFile {
  std::string current_context;
  std::map<std::string, KubeconfigEntry, std::less<>> clusters;
  std::map<std::string, KubeconfigEntry, std::less<>> users;
  std::map<std::string, KubeconfigEntry, std::less<>> contexts;
};

// Adds the entries of `text`, the content of `path`, to `file`. Entries that exist already are
// kept. kInvalidArgument names the file and the line or entry, and never quotes what may be a
// secret.
absl::Status AddKubeconfig(std::string_view text, const std::string& path, KubeconfigFile& file);

}  // namespace mandate
