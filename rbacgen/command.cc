#include "rbacgen/command.h"

#include <iostream>

#include "rbacgen/lint.h"
#include "rbacgen/source_files.h"

namespace mandate::rbacgen {

int ReadSources(const std::vector<std::string>& paths, Severity misplaced, Sources* sources,
                Diagnostics* diagnostics) {
  const auto files = FindSourceFiles(paths);
  if (!files.ok()) {
    std::cerr << "rbacgen: " << files.status().message() << "\n";
    return kExitMisuse;
  }
  for (const std::string& file : *files) {
    const auto text = ReadWholeFile(file);
    if (text.ok()) {
      ReadDeclarations(file, *text, misplaced, sources, diagnostics);
    } else {
      diagnostics->Error({file}, std::string(text.status().message()));
    }
  }
  return 0;
}

int ReadMandateSources(const std::vector<std::string>& paths, Sources* sources,
                       Diagnostics* diagnostics) {
  if (const int misuse = ReadSources(paths, Severity::kError, sources, diagnostics)) return misuse;
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
