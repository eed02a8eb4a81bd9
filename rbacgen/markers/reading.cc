#include "rbacgen/markers/reading.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/parallel.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

constexpr size_t kFilesOfABatch = 32;

// A component that is named after the path of the file with its rules.
struct Named {
  std::string file;
  Place place;
  absl::StatusOr<std::string> component;
};

struct Batch {
  Sources sources;
  Diagnostics diagnostics;
  std::vector<Named> named;
};

// Whether the rule's component comes from a +mandate:component marker, not from its file's path.
bool IsUnderMarker(const Declaration& rule, const Sources& sources) {
  const auto component = sources.components.find(rule.component);
  return component == sources.components.end() ||
         std::ranges::find(component->second, rule.place) == component->second.end();
}

void ReadFile(const std::string& file, ComponentFrom from, Severity misplaced, Batch* batch) {
  const auto text = ReadWholeFile(file);
  if (!text.ok()) {
    batch->diagnostics.Unreadable({file}, std::string(text.status().message()));
    return;
  }
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF")) {
    batch->diagnostics.Add(Severity::kWarning, {file},
                           "is UTF-16, so its markers are not read; convert it to UTF-8");
    return;
  }
  auto component = ComponentOfFile(file, from);
  const size_t before = batch->sources.declarations.size();
  ReadDeclarations(file, *text, misplaced, &batch->sources, &batch->diagnostics,
                   component.value_or("?"));
  if (from == ComponentFrom::kMarker || batch->sources.declarations.size() == before) return;
  const Declaration& first = batch->sources.declarations[before];
  if (IsUnderMarker(first, batch->sources)) return;
  batch->named.push_back({file, first.place, std::move(component)});
}

void Append(Sources more, Sources* to, Diagnostics* diagnostics) {
  std::ranges::move(more.declarations, std::back_inserter(to->declarations));
  std::ranges::move(more.fences, std::back_inserter(to->fences));
  to->without_events.merge(more.without_events);
  for (auto& [name, value] : more.values) AddValue(name, std::move(value), to, diagnostics);
  for (auto& [name, places] : more.components) {
    std::ranges::move(places, std::back_inserter(to->components[name]));
  }
}

// The path after which a component is named. Files that give the same name in one folder, such as
// pod_controller.go and pod_webhook.go, belong to the same component.
struct Origin {
  std::string folder;
  std::string shown;
};

Origin OriginOf(const std::string& file, ComponentFrom from) {
  std::string folder = std::filesystem::path(file).parent_path().string();
  std::string shown = from == ComponentFrom::kDir ? folder : file;
  return {std::move(folder), std::move(shown)};
}

}  // namespace

void ReadFiles(const std::vector<std::string>& files, ComponentFrom from, Severity misplaced,
               Sources* sources, Diagnostics* diagnostics) {
  std::vector<Batch> batches((files.size() + kFilesOfABatch - 1) / kFilesOfABatch);
  InParallel(batches.size(), UsefulThreads(), [&](size_t i) {
    const size_t end = std::min(files.size(), (i + 1) * kFilesOfABatch);
    for (size_t k = i * kFilesOfABatch; k < end; ++k) {
      ReadFile(files[k], from, misplaced, &batches[i]);
    }
  });
  // The origins of the components without a marker.
  std::map<std::string, Origin> origins;
  size_t declarations = sources->declarations.size();
  for (const Batch& batch : batches) declarations += batch.sources.declarations.size();
  sources->declarations.reserve(declarations);
  for (Batch& batch : batches) {
    diagnostics->Merge(std::move(batch.diagnostics));
    Append(std::move(batch.sources), sources, diagnostics);
    for (const Named& named : batch.named) {
      if (!named.component.ok()) {
        diagnostics->Error(named.place, std::string(named.component.status().message()));
        continue;
      }
      const Origin origin = OriginOf(named.file, from);
      const auto& [name, known] = *origins.emplace(*named.component, origin).first;
      if (known.folder == origin.folder) continue;
      diagnostics->Error(named.place,
                         StrCat("component name ", name, " is already used by ", known.shown,
                                "; components with the same name share one identity and all its "
                                "permissions; write // +mandate:component:name=NAME "
                                "above its first rule"));
    }
  }
  sources->components.erase("?");
}

}  // namespace mandate::rbacgen
