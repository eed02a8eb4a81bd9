// rbacgen generate and rbacgen check: write the outputs of rbacgen.yaml, or compare them with the
// files.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/config.h"
#include "rbacgen/cli/project.h"
#include "rbacgen/markers/source_files.h"
#include "rbacgen/report/findings.h"
#include "rbacgen/report/short_diff.h"
#include "version.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;

constexpr char kConfigFile[] = "rbacgen.yaml";

struct Flags {
  std::string config = kConfigFile;
  std::vector<std::string> proto_path;
  std::string format = "text";
  bool strict = false;
  std::vector<std::string> paths;
};

// A source that the project does not have is one of a library, such as the header of a component:
// it is below one of the roots.
void FindInRoots(const Flags& flags, std::vector<SourcePath>* sources) {
  const fs::path folder = fs::path(flags.config).parent_path();
  const auto exists = [](const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error);
  };
  for (SourcePath& source : *sources) {
    if (exists(folder / source.path)) continue;
    const auto root = std::ranges::find_if(flags.proto_path, [&](const std::string& folder) {
      return exists(fs::path(folder) / source.path);
    });
    if (root != flags.proto_path.end()) {
      source.path = fs::absolute(fs::path(*root) / source.path).string();
    }
  }
}

absl::StatusOr<Config> ReadConfig(const Flags& flags) {
  const auto text = ReadWholeFile(flags.config);
  if (!text.ok()) {
    return absl::NotFoundError(StrCat(
        flags.config, ": ", AsStd(text.status().message()),
        flags.config == kConfigFile ? "; use another configuration with --config=FILE" : ""));
  }
  ASSIGN_OR_RETURN(Config config, ParseConfig(flags.config, *text));
  config.file = fs::path(flags.config).filename().string();
  FindInRoots(flags, &config.sources);
  if (config.crd) {
    for (const std::string& folder : flags.proto_path) {
      config.crd->proto_path.push_back(fs::absolute(folder).string());
    }
  }
  return config;
}

// Reads the configuration and changes to its folder, to which the paths of findings are relative.
absl::StatusOr<Project> ReadProject(const Flags& flags) {
  if (!flags.paths.empty()) {
    Config config;
    for (const std::string& path : flags.paths) config.sources.push_back({.path = path});
    return MakeProject(config);
  }
  ASSIGN_OR_RETURN(const Config config, ReadConfig(flags));
  if (const fs::path folder = fs::path(flags.config).parent_path(); !folder.empty()) {
    std::error_code error;
    fs::current_path(folder, error);
    if (error) {
      return absl::UnavailableError(
          StrCat("cannot enter the folder ", folder.string(), ": ", error.message()));
    }
  }
  return MakeProject(config);
}

int CountErrors(const std::vector<SourceFinding>& findings) {
  return std::ranges::count(findings, Severity::kError, &SourceFinding::severity);
}

// Whether the file on disk has this text.
bool IsCurrent(const OutputFile& file) {
  const auto old = ReadWholeFile(file.path);
  return old.ok() && *old == file.text;
}

absl::Status Remove(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot remove ", path, ": ", error.message()));
}

absl::Status WriteProject(const Project& project) {
  std::map<std::string, const OutputFile*> changes;  // null if the file is to be removed
  for (const OutputFile& file : project.files) {
    if (!IsCurrent(file)) changes[file.path] = &file;
  }
  for (const std::string& path : project.stale) changes[path] = nullptr;
  for (const auto& [path, file] : changes) {
    if (file == nullptr) {
      RETURN_IF_ERROR(Remove(path));
    } else {
      RETURN_IF_ERROR(WriteWholeFile(path, file->text));
    }
    std::cout << (file == nullptr ? "removed " : "wrote ") << Printable(path) << std::endl;
  }
  return absl::OkStatus();
}

int Generate(const Flags& flags) {
  const auto project = ReadProject(flags);
  if (!project.ok()) {
    PrintMessage(AsStd(project.status().message()));
    return kExitUnknown;
  }
  std::cerr << FindingsText(project->findings);
  if (const int errors = CountErrors(project->findings)) {
    PrintMessage(StrCat(errors, errors == 1 ? " error" : " errors", "; nothing was written"));
    return project->unreadable ? kExitUnknown : kExitFound;
  }
  const absl::Status written = WriteProject(*project);
  if (written.ok()) return kExitOk;
  PrintMessage(AsStd(written.message()));
  return kExitUnknown;
}

// Compares the outputs with the files on disk.
void AddDrift(Project* project) {
  const FindingRule* drift = RuleOf("drift");
  std::vector<SourceFinding> found;
  for (const OutputFile& file : project->files) {
    const auto old = ReadWholeFile(file.path);
    const ShortDiff diff = DiffOf(old.ok() ? *old : "", file.text);
    if (old.ok() && diff.line == 0) continue;
    found.push_back({drift,
                     Severity::kError,
                     {file.path, old.ok() ? diff.line : 0},
                     old.ok() ? "this file differs from its sources; run `rbacgen generate`"
                              : "this file is missing; run `rbacgen generate`",
                     diff.text});
  }
  for (const std::string& path : project->stale) {
    found.push_back({drift,
                     Severity::kError,
                     {path},
                     "no source generates this file any more; run `rbacgen generate` to remove it",
                     ""});
  }
  std::ranges::sort(found, {}, &SourceFinding::place);
  std::ranges::move(found, std::back_inserter(project->findings));
}

int Check(const Flags& flags) {
  auto project = ReadProject(flags);
  if (!project.ok()) {
    PrintMessage(AsStd(project.status().message()));
    return kExitUnknown;
  }
  AddDrift(&*project);
  const std::vector<SourceFinding>& findings = project->findings;
  const std::string text = flags.format == "json"    ? FindingsJson(findings)
                           : flags.format == "sarif" ? FindingsSarif(findings, kVersion)
                                                     : FindingsText(findings);
  if (const int failed = Emit("", text)) return failed;
  if (project->unreadable) return kExitUnknown;
  const int errors = CountErrors(findings);
  return errors > 0 || (flags.strict && !findings.empty()) ? kExitFound : kExitOk;
}

void AddConfigFlags(CLI::App* command, Flags* flags) {
  command
      ->add_option("--config", flags->config,
                   "The configuration file; its folder is the root of all paths")
      ->capture_default_str();
  command
      ->add_option(
          "--proto-path,-I", flags->proto_path,
          "Another root folder of .proto imports and of sources, after those of the configuration; "
          "repeatable")
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace

void AddGenerateCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "generate", "Write every output of rbacgen.yaml that differs from its sources");
  AddConfigFlags(command, flags.get());
  command->footer(
      "Prints \"wrote FILE\" or \"removed FILE\" for each change. If a source has a mistake, it\n"
      "writes nothing. docs/rbacgen.md describes the configuration.");
  command->callback([flags, exit_code] { *exit_code = Generate(*flags); });
}

void AddCheckCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "check", "Report mistakes in markers, and generated files that differ from their sources");
  AddConfigFlags(command, flags.get());
  command->add_option("--format", flags->format, "text, json, or sarif (for code scanning)")
      ->check(CLI::IsMember({"text", "json", "sarif"}))
      ->capture_default_str();
  command->add_flag("--strict", flags->strict, "Exit with 1 on warnings, too");
  command->add_option("PATH", flags->paths,
                      "Check only the markers of these files and folders, without a configuration");
  command->footer(
      "Writes no file. `rbacgen check PATH…` is a linter for markers.\n\n"
      "Examples: rbacgen check\n"
      "          rbacgen check --format=sarif > rbacgen.sarif\n"
      "          rbacgen check ./...");
  command->callback([flags, exit_code] { *exit_code = Check(*flags); });
}

}  // namespace mandate::rbacgen
