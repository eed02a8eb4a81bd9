// rbacgen crd: makes CustomResourceDefinitions from .proto files.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rbacgen/cli/command.h"
#include "rbacgen/cli/read_protos.h"
#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  ProtoFlags protos;
  std::string out;
  std::string out_dir;
  int64_t max_description = -1;
  std::string format = "yaml";
  std::string service_namespace;
};

// Writes the files that change, and prints their names.
int WriteAll(const std::vector<Definition>& definitions, const std::string& folder) {
  for (const Definition& definition : definitions) {
    const std::string path = folder + "/" + definition.file;
    const auto before = ReadWholeFile(path);
    if (before.ok() && *before == definition.text) continue;
    if (const int failed = Emit(path, definition.text)) return failed;
    std::cout << path << "\n";
  }
  return 0;
}

int Run(const Flags& flags) {
  if (flags.out.empty() == flags.out_dir.empty()) {
    std::cerr << "rbacgen: crd needs either --out-dir=DIR or --out=FILE (- is standard output)\n";
    return kExitUnknown;
  }
  Diagnostics diagnostics;
  ProtoFiles files(FoldersOf(flags.protos), &diagnostics);
  const auto sources = LoadAll(flags.protos, files);
  YamlOptions options;
  if (flags.max_description >= 0) options.max_description = flags.max_description;
  if (flags.format == "helm") {
    options.flavor = Yaml::Flavor::kHelm;
    options.service_namespace =
        Yaml::Action("{{ .Release.Namespace | quote }}", flags.service_namespace);
  } else if (!flags.service_namespace.empty()) {
    options.service_namespace = flags.service_namespace;
  }
  const auto definitions = MakeDefinitions(sources, files, options, &diagnostics);
  if (const int errors = ConcludeProtos(diagnostics, flags.protos)) return errors;
  if (definitions.empty()) {
    std::cerr << kNoKinds;
    return 0;
  }
  if (!flags.out_dir.empty()) return WriteAll(definitions, flags.out_dir);
  std::string text;
  for (const Definition& definition : definitions) text += definition.text;
  SourceFlags protos;
  protos.paths = flags.protos.files;
  return EmitFrom(protos, flags.out, text);
}

}  // namespace

void AddCrdCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "crd",
      "Write CustomResourceDefinitions from .proto files with option (mandate.api.resource)");
  AddProtoFlags(command, &flags->protos);
  command->add_option(
      "--out-dir", flags->out_dir,
      "Write <group>_<plural>.yaml for each kind to this folder, and print the changed files");
  command->add_option("--out", flags->out, "Write all to this file; - is standard output");
  command
      ->add_option("--max-description", flags->max_description,
                   "Cut descriptions to this many bytes; 0 omits them (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option(
          "--format", flags->format,
          "yaml: plain YAML, which a chart's crds/ can hold; helm: templates for a chart's "
          "templates/, with the conversion webhook in the release's namespace")
      ->check(CLI::IsMember({"helm", "yaml"}))
      ->capture_default_str();
  command->add_option("--service-namespace", flags->service_namespace,
                      "yaml: the conversion webhook's namespace if no option sets it");
  command->footer(
      "Comments become descriptions; options of api/mandate/options.proto the rest. Mistakes that\n"
      "the API server would reject or never report are errors with file and line.\n\n"
      "Example: rbacgen crd -I . -I DIR_OF_k8s.io --out-dir=charts/mine/crds api/v1/widget.proto");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
