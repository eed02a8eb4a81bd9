// rbacgen kinds: writes the kinds of .proto files as a C++ header.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/cli/read_protos.h"
#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/emit/crd/kind_header.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  ProtoFlags protos;
  std::string out;
};

int Run(const Flags& flags) {
  Diagnostics diagnostics;
  ProtoFiles files(FoldersOf(flags.protos), &diagnostics);
  const auto sources = LoadAll(flags.protos, files);
  MakeDefinitions(sources, files, YamlOptions(), &diagnostics);  // checks the options
  if (const int errors = ConcludeProtos(diagnostics, flags.protos)) return errors;
  const std::string header = WriteKindHeader(sources);
  if (header.empty()) {
    std::cerr << kNoKinds;
    return kExitFound;
  }
  SourceFlags protos;
  protos.paths = flags.protos.files;
  return EmitFrom(protos, flags.out, header);
}

}  // namespace

void AddKindsCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "kinds", "Write the kinds of .proto files as a C++ header: KindOf of each message");
  AddProtoFlags(command, &flags->protos);
  command->add_option("--out", flags->out, "The header to write; - is standard output")->required();
  command->footer(
      "A kind is a message with option (mandate.api.resource). The header includes the .pb.h of\n"
      "each file. In a BUILD file: kind_header() of //third_party/bazel:mandate.bzl.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
