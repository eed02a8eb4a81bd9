// The .proto files of a command line.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/emit/crd/proto_files.h"

namespace mandate::rbacgen {

struct ProtoFlags {
  std::vector<std::string> folders;  // the roots of imports; empty: "."
  std::vector<std::string> files;
};

inline constexpr char kNoKinds[] =
    "rbacgen: the named files have no message with option (mandate.api.resource); nothing to "
    "write\n";

void AddProtoFlags(CLI::App* command, ProtoFlags* flags);

std::vector<std::string> FoldersOf(const ProtoFlags& flags);

// Each file once. Files that cannot be loaded are missing; `protos` has reported them.
std::vector<const google::protobuf::FileDescriptor*> LoadAll(const ProtoFlags& flags,
                                                             ProtoFiles& protos);

// Prints the diagnostics. Returns the exit code, 0 without errors.
int ConcludeProtos(const Diagnostics& diagnostics, const ProtoFlags& flags);

}  // namespace mandate::rbacgen
