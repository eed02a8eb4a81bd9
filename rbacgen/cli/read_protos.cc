#include "rbacgen/cli/read_protos.h"

#include <algorithm>
#include <filesystem>

namespace mandate::rbacgen {
namespace {

bool IsThere(const std::string& file, const std::vector<std::string>& folders) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) return true;
  return std::ranges::any_of(folders, [&](const std::string& folder) {
    return std::filesystem::exists(std::filesystem::path(folder) / file, error);
  });
}

}  // namespace

void AddProtoFlags(CLI::App* command, ProtoFlags* flags) {
  command
      ->add_option("--proto-path,-I", flags->folders,
                   "A root folder of imports; repeatable (default: .)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("FILE", flags->files, ".proto files")->required();
}

std::vector<std::string> FoldersOf(const ProtoFlags& flags) {
  return flags.folders.empty() ? std::vector<std::string>{"."} : flags.folders;
}

std::vector<const google::protobuf::FileDescriptor*> LoadAll(const ProtoFlags& flags,
                                                             ProtoFiles& protos) {
  std::vector<const google::protobuf::FileDescriptor*> sources;
  for (const std::string& path : flags.files) {
    const auto* source = protos.Load(path);
    if (source != nullptr && std::ranges::find(sources, source) == sources.end()) {
      sources.push_back(source);
    }
  }
  return sources;
}

int ConcludeProtos(const Diagnostics& diagnostics, const ProtoFlags& flags) {
  const int errors = Conclude(diagnostics);
  if (errors == 0) return 0;
  const bool all_there = std::ranges::all_of(
      flags.files, [&](const std::string& file) { return IsThere(file, FoldersOf(flags)); });
  return all_there ? errors : kExitUnknown;
}

}  // namespace mandate::rbacgen
