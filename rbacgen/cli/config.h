// The configuration of a project, rbacgen.yaml (docs/rbacgen.md#configuration).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/markers/component_from.h"

namespace mandate::rbacgen {

// A file, or a folder that is read with its subfolders.
struct SourcePath {
  std::string path;
  // Whether to read only files with a +mandate:component marker. Files of a library may have other
  // markers as examples in comments.
  bool needs_component = false;
};

struct ChartOutput {
  std::string dir;
  bool minimal = false;
  // Resources of others' CRDs, as "widgets.example.com"; those of the output `crd` are known.
  std::vector<std::string> cluster_scoped = {};
};

struct HeaderOutput {
  std::string out;
  std::string base = "none";  // or with, only
};

struct RolesOutput {
  std::string out;
  std::string role_name;
  bool minimal = false;
};

struct WebhookOutput {
  std::string out;
  std::string service_name;
  std::string service_namespace;
};

struct CrdOutput {
  std::string dir;
  std::vector<std::string> files;  // .proto files, and folders with such files
  std::vector<std::string> proto_path = {"."};
  std::optional<int64_t> max_description;
};

struct AuditPolicyOutput {
  std::string out;
  bool bodies = false;
};

// All paths are relative to the folder of the configuration file.
struct Config {
  std::string file;  // the configuration's name in its folder; empty if there is none
  std::vector<SourcePath> sources;
  std::vector<std::string> skip;  // files and folders below `sources`
  ComponentFrom component_from = ComponentFrom::kMarker;
  bool warn_unjustified = false;
  std::string base_name = "mandate-manager";
  std::string part_of;  // if empty, ChartNames has a default
  std::string ns;       // if empty, each output has its own default

  std::optional<ChartOutput> chart;
  std::optional<HeaderOutput> header;
  std::optional<RolesOutput> roles;
  std::optional<WebhookOutput> webhook;
  std::optional<CrdOutput> crd;
  std::optional<AuditPolicyOutput> audit_policy;
};

// InvalidArgument, with `file` and the line, if the text is not YAML, or has an unknown key (the
// message has the most similar key), a repeated or missing key, or a value of the wrong type.
absl::StatusOr<Config> ParseConfig(const std::string& file, std::string_view text);

}  // namespace mandate::rbacgen
