#include "rbacgen/command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "manager/core/strings.h"
#include "rbacgen/lint.h"
#include "rbacgen/source_files.h"

namespace mandate::rbacgen {
namespace {

// Whether a +mandate:component marker, and not its file's path, says whose the file's first rule
// is.
bool IsUnderMarker(const Declaration& first, const Sources& sources) {
  const auto component = sources.components.find(first.component);
  return component == sources.components.end() ||
         std::ranges::find(component->second, first.place) == component->second.end();
}

std::string OriginOf(const std::string& file, ComponentFrom from) {
  return from == ComponentFrom::kDir ? std::filesystem::path(file).parent_path().string() : file;
}

}  // namespace

void AddSourceFlags(CLI::App* command, SourceFlags* flags) {
  static const std::map<std::string, ComponentFrom> kComponentFrom = {
      {"marker", ComponentFrom::kMarker},
      {"dir", ComponentFrom::kDir},
      {"file", ComponentFrom::kFile}};
  command
      ->add_option("--component-from", flags->component_from,
                   "Whose the rules are above which no +mandate:component marker stands in their "
                   "file: marker (nobody's), dir (the component is named as the folder), file (as "
                   "the file, without _controller, _reconciler, _webhook)")
      ->transform(CLI::CheckedTransformer(kComponentFrom).description(""))
      ->default_str("marker");
  command
      ->add_option("PATH", flags->paths,
                   "Source files, and folders with all below them (DIR and DIR/... are the same)")
      ->required();
}

int ReadSources(const SourceFlags& flags, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics) {
  const auto files = FindSourceFiles(flags.paths);
  if (!files.ok()) {
    std::cerr << "rbacgen: " << files.status().message() << "\n";
    return kExitMisuse;
  }
  // Which folder or file each component without a marker is named after.
  std::map<std::string, std::string> origins;
  for (const std::string& file : *files) {
    const auto text = ReadWholeFile(file);
    if (!text.ok()) {
      diagnostics->Error({file}, std::string(text.status().message()));
      continue;
    }
    const auto component = ComponentOfFile(file, flags.component_from);
    const size_t before = sources->declarations.size();
    ReadDeclarations(file, *text, misplaced, sources, diagnostics, component.value_or("?"));
    if (sources->declarations.size() == before) continue;
    const Declaration& first = sources->declarations[before];
    if (flags.component_from == ComponentFrom::kMarker || IsUnderMarker(first, *sources)) continue;
    if (!component.ok()) {
      diagnostics->Error(first.place, std::string(component.status().message()));
      continue;
    }
    const std::string origin = OriginOf(file, flags.component_from);
    const auto& [name, known] = *origins.emplace(*component, origin).first;
    if (known != origin) {
      diagnostics->Error(first.place, StrCat("component ", name, " is that of ", known,
                                             " already, and two that share an identity share all "
                                             "permissions; write // +mandate:component:name=NAME "
                                             "above its first rule"));
    }
  }
  sources->components.erase("?");
  return 0;
}

int ReadMandateSources(const SourceFlags& flags, Sources* sources, Diagnostics* diagnostics) {
  if (const int misuse = ReadSources(flags, Severity::kError, sources, diagnostics)) return misuse;
  LintAll(*sources, Severity::kError, diagnostics);
  CheckMandates(*sources, diagnostics);
  if (const int errors = Conclude(*diagnostics)) return errors;
  if (!sources->components.empty()) return 0;
  std::cerr << "rbacgen: no +mandate:component marker in what was named; write "
               "// +mandate:component:name=NAME above the rules of a component\n";
  return kExitInput;
}

int Conclude(const Diagnostics& diagnostics) {
  std::cerr << diagnostics.Report();
  if (diagnostics.errors() == 0) return 0;
  std::cerr << "rbacgen: " << diagnostics.errors()
            << (diagnostics.errors() == 1 ? " error" : " errors") << "; nothing was written\n";
  return kExitInput;
}

int Emit(const std::string& file, const std::string& text) {
  if (file.empty() || file == "-") {
    std::cout << text << std::flush;
    if (std::cout) return 0;
    std::cerr << "rbacgen: cannot write to standard output\n";
    return kExitInput;
  }
  const absl::Status status = WriteWholeFile(file, text);
  if (status.ok()) return 0;
  std::cerr << "rbacgen: " << status.message() << "\n";
  return kExitInput;
}

}  // namespace mandate::rbacgen
