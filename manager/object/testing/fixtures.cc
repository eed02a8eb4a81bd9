#include "manager/object/testing/fixtures.h"

#include <cctype>
#include <filesystem>
#include <set>

#include "manager/core/read_file.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"
#include "manager/object/testing/kubernetes_types.h"

namespace mandate {
namespace {

void AddFolder(std::string_view repository, const std::filesystem::path& folder,
               std::vector<Fixture>* fixtures) {
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() == ".pb" && !stem.ends_with(".after_roundtrip")) {
      stems.insert(stem);
    }
  }
  for (const std::string& stem : stems) {
    const auto read = [&](std::string_view suffix) {
      return ReadFile(folder / StrCat(stem, suffix)).value_or("");
    };
    Fixture& fixture = fixtures->emplace_back();
    fixture.repository = repository;
    fixture.folder = folder.filename();
    fixture.stem = stem;
    fixture.json = fixture.json_after = read(".json");
    fixture.protobuf = fixture.protobuf_after = read(".pb");
    if (std::string after = read(".after_roundtrip.json"); !after.empty()) {
      fixture.json_after = after;
    }
    if (std::string after = read(".after_roundtrip.pb"); !after.empty()) {
      fixture.protobuf_after = after;
    }
    const size_t kind = stem.rfind('.');
    const size_t version = stem.rfind('.', kind - 1);
    const std::string group = stem.substr(0, version);
    const std::string suffix = stem.substr(version + 1, kind - version - 1);
    fixture.api_version = group == "core" ? suffix : StrCat(group, "/", suffix);
    fixture.kind = stem.substr(kind + 1);
    const auto envelope = ParseEnvelope(fixture.protobuf);
    fixture.names_kind = envelope.ok() && !envelope->kind.empty();
  }
}

}  // namespace

void PrintTo(const Fixture& fixture, std::ostream* out) {
  *out << fixture.repository << "/" << fixture.folder << "/" << fixture.stem;
}

std::vector<Fixture> HeadFixtures(std::string_view repository) {
  std::vector<Fixture> fixtures;
  AddFolder(repository, KubernetesRoot(repository) + "/testdata/HEAD", &fixtures);
  return fixtures;
}

std::vector<Fixture> ReleasedFixtures(std::string_view repository) {
  std::vector<Fixture> fixtures;
  std::set<std::filesystem::path> folders;
  for (const auto& entry :
       std::filesystem::directory_iterator(KubernetesRoot(repository) + "/testdata")) {
    if (entry.is_directory() && entry.path().filename() != "HEAD") folders.insert(entry.path());
  }
  for (const auto& folder : folders) AddFolder(repository, folder, &fixtures);
  return fixtures;
}

std::string FixtureName(const testing::TestParamInfo<Fixture>& info) {
  std::string name = StrCat(info.param.folder, "_", info.param.stem);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

}  // namespace mandate
