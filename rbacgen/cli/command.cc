#include "rbacgen/cli/command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/cli/output_paths.h"
#include "rbacgen/lint/lint.h"
#include "rbacgen/markers/reading.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {

CLI::Validator ComponentFromWords() {
  // CLI11 parses an enumeration from its number.
  const auto number = [](std::string& word) -> std::string {
    static const std::map<std::string, ComponentFrom> kWords = {{"marker", ComponentFrom::kMarker},
                                                                {"dir", ComponentFrom::kDir},
                                                                {"file", ComponentFrom::kFile}};
    const auto found = kWords.find(word);
    if (found == kWords.end()) return word + " not in {marker,dir,file}";
    word = std::to_string(static_cast<int>(found->second));
    return "";
  };
  return CLI::Validator(number, "marker|dir|file");
}

namespace {

template <class Check>
CLI::Validator IsName(Check check) {
  return CLI::Validator([check](std::string& word) { return std::string(check(word).message()); },
                        "");
}

absl::Status CheckAudience(std::string_view audience) {
  if (!audience.empty() && audience.find_first_of(" \t\n'\"\\{}") == std::string_view::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "an audience must not be empty or contain spaces, quotes, backslashes or braces");
}

}  // namespace

CLI::Validator IsNamespace() { return IsName(CheckDnsLabel); }
CLI::Validator IsBaseName() {
  return IsName([](std::string_view name) {
    const absl::Status account = CheckDnsSubdomain(name);
    return account.ok() ? CheckLabelValue(name) : account;
  });
}
CLI::Validator IsAudience() { return IsName(CheckAudience); }

void AddSourceFlags(CLI::App* command, SourceFlags* flags) {
  command
      ->add_option(
          "--component-from", flags->component_from,
          "How to name the component of rules that have no +mandate:component marker in "
          "their file: marker (they have no component), dir (the name of their folder), file (the "
          "name of their file, without _controller, _reconciler, _webhook)")
      ->transform(ComponentFromWords())
      ->default_str("marker");
  command
      ->add_option(
          "PATH", flags->paths,
          "Source files, and folders, which are read recursively (DIR and DIR/... are the same)")
      ->required();
}

void AddMandateSourceFlags(CLI::App* command, SourceFlags* flags) {
  AddSourceFlags(command, flags);
  command->add_flag(
      "--warn-unjustified", flags->warn_unjustified,
      "Report risky rules without a reason (+mandate:justify:reason=…) as warnings, not as errors");
}

int ReadSources(const SourceFlags& flags, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics) {
  const auto files = FindSourceFiles(flags.paths);
  if (!files.ok()) {
    PrintMessage(AsStd(files.status().message()));
    return kExitUnknown;
  }
  ReadFiles(*files, flags.component_from, misplaced, sources, diagnostics);
  return 0;
}

int ReadMandateSources(const SourceFlags& flags, Sources* sources, Diagnostics* diagnostics) {
  if (const int misuse = ReadSources(flags, Severity::kError, sources, diagnostics)) return misuse;
  LintAll(*sources, Severity::kError, diagnostics);
  CheckMandates(*sources, flags.warn_unjustified ? Severity::kWarning : Severity::kError,
                diagnostics);
  if (const int errors = Conclude(*diagnostics)) return errors;
  if (!sources->components.empty()) return 0;
  std::cerr << "rbacgen: the named paths have no +mandate:component marker; write "
               "// +mandate:component:name=NAME above the rules of a component\n";
  return kExitFound;
}

void SayWhatIsBelow(const std::vector<std::string>& paths, const std::vector<Place>& markers) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (path.ends_with("...") || !std::filesystem::is_directory(path, error)) continue;
    const auto is_below = [&](const Place& place) {
      const std::filesystem::path file =
          std::filesystem::path(place.file)
              .lexically_relative(std::filesystem::path(path).lexically_normal());
      return !file.empty() && *file.begin() != ".." && file.has_parent_path();
    };
    const auto below = std::ranges::count_if(markers, is_below);
    if (below == 0) continue;
    PrintMessage(StrCat(path, " is read recursively; the folders below it have ", below,
                        below == 1 ? " marker" : " markers",
                        "; controller-gen reads them only if the path ends with /..."));
  }
}

void PrintMessage(std::string_view text) { std::cerr << "rbacgen: " << Printable(text) << "\n"; }

int Conclude(const Diagnostics& diagnostics) {
  std::cerr << diagnostics.Report();
  if (diagnostics.errors() == 0) return 0;
  std::cerr << "rbacgen: " << diagnostics.errors()
            << (diagnostics.errors() == 1 ? " error" : " errors") << "; nothing was written\n";
  return diagnostics.unreadable() ? kExitUnknown : kExitFound;
}

int Emit(const std::string& file, const std::string& text) {
  if (file.empty() || file == "-") {
    std::cout << text << std::flush;
    if (std::cout) return kExitOk;
    std::cerr << "rbacgen: cannot write to standard output\n";
    return kExitUnknown;
  }
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (const int error = MakeFolder(folder)) return error;
  const absl::Status status = WriteWholeFile(file, text);
  if (status.ok()) return kExitOk;
  PrintMessage(AsStd(status.message()));
  return kExitUnknown;
}

int EmitFrom(const SourceFlags& sources, const std::string& file, const std::string& text) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) {
    InputFiles inputs;
    const auto files = FindSourceFiles(sources.paths);
    for (const std::string& source : files.value_or(sources.paths)) inputs.Add(source, "a source");
    if (const absl::Status status = inputs.Check(file); !status.ok()) {
      PrintMessage(AsStd(status.message()));
      return kExitUnknown;
    }
  }
  return Emit(file, text);
}

int MakeFolder(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return kExitOk;
  std::filesystem::create_directories(folder, error);
  if (error) {
    PrintMessage(StrCat("cannot create the folder ", folder, ": ", error.message()));
    return kExitUnknown;
  }
  PrintMessage(StrCat("created the folder ", folder));
  return kExitOk;
}

}  // namespace mandate::rbacgen
