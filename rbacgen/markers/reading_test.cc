#include "rbacgen/markers/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::SizeIs;

// Writes a file to the test's folder and returns its path.
std::string Write(const std::string& name, const std::string& text) {
  std::string path = StrCat(std::getenv("TEST_TMPDIR"), "/", name);
  EXPECT_TRUE(WriteWholeFile(path, text).ok());
  return path;
}

std::string Rule(const std::string& url) {
  return StrCat("// +kubebuilder:rbac:urls=/", url, ",verbs=get\n");
}

struct Result {
  Sources sources;
  std::string report;
};

Result Read(const std::vector<std::string>& files, ComponentFrom from = ComponentFrom::kMarker) {
  Result result;
  Diagnostics diagnostics;
  ReadFiles(files, from, Severity::kError, &result.sources, &diagnostics);
  result.report = diagnostics.Report();
  return result;
}

TEST(ReadFiles, KeepsTheOrderOfTheFiles) {
  constexpr int kFiles = 500;
  std::vector<std::string> files;
  for (int i = 0; i < kFiles; ++i) {
    files.push_back(Write(StrCat("many/", i, ".cc"),
                          StrCat("// +mandate:component:name=c", i % 3, "\n", Rule(StrCat(i)),
                                 i % 100 == 0 ? "// +kubebuilder:rbac:verbs\n" : "")));
  }
  const Result r = Read(files);
  ASSERT_THAT(r.sources.declarations, SizeIs(kFiles));
  for (int i = 0; i < kFiles; ++i) {
    EXPECT_THAT(r.sources.declarations[i].rule.non_resource_urls, ElementsAre(StrCat("/", i)));
    EXPECT_EQ(r.sources.declarations[i].place.file, files[i]);
  }
  EXPECT_THAT(r.sources.components, ElementsAre(Key("c0"), Key("c1"), Key("c2")));
  EXPECT_THAT(r.sources.components.at("c0"), SizeIs(167));
  EXPECT_EQ(std::count(r.report.begin(), r.report.end(), '\n'), kFiles / 100);
}

TEST(ReadFiles, ReportsAFileThatCannotBeRead) {
  const std::string there = Write("there.cc", Rule("x"));
  const Result r = Read({there + ".none", there});
  EXPECT_THAT(r.report, HasSubstr(there + ".none: error: cannot read it"));
  EXPECT_THAT(r.sources.declarations, SizeIs(1));
}

TEST(ReadFiles, WarnsOfUtf16Files) {
  const std::string file = Write("wide.cs", std::string("\xFF\xFE/\0/\0", 6));
  EXPECT_EQ(
      Read({file}).report,
      StrCat(file, ": warning: is UTF-16, so its markers are not read; convert it to UTF-8\n"));
}

TEST(ReadFiles, ReportsTwoValuesOfAComponentInAnyFiles) {
  for (const int apart : {1, 31, 32, 100}) {
    std::vector<std::string> files;
    for (int i = 0; i <= apart; ++i) {
      files.push_back(Write(StrCat("values/", i, ".cc"), StrCat("// +mandate:component:name=c",
                                                                i == 0       ? ",value=a"
                                                                : i == apart ? ",value=b"
                                                                             : "",
                                                                "\n")));
    }
    const Result r = Read(files);
    EXPECT_EQ(r.report,
              StrCat(files.back(),
                     ":1: error: component c already has value=a; it cannot also have value=b\n"))
        << apart;
    EXPECT_EQ(r.sources.values.at("c").path, "a");
  }
}

TEST(ReadFiles, CollectsAllDeclarationsOfAFile) {
  const Result r = Read({Write("all/a.cc",
                               "// +mandate:component:name=c,value=v,events=none\n"
                               "// +mandate:fence:groups=g,resources=r,label=l\n"
                               "// +kubebuilder:rbac:groups=g,resources=r,verbs=get\n")});
  EXPECT_EQ(r.report, "");
  EXPECT_THAT(r.sources.components, ElementsAre(Key("c")));
  EXPECT_THAT(r.sources.values, ElementsAre(Key("c")));
  EXPECT_THAT(r.sources.without_events, ElementsAre("c"));
  EXPECT_THAT(r.sources.fences, SizeIs(1));
  EXPECT_THAT(r.sources.declarations, SizeIs(1));
}

TEST(ReadFiles, NamesComponentsAfterFoldersOrFiles) {
  const std::vector<std::string> files = {Write("x/one/a.go", Rule("a")),
                                          Write("x/one/b_controller.go", Rule("b")),
                                          Write("x/two/c.go", "// no rule\n")};
  EXPECT_THAT(Read(files).sources.components, SizeIs(0));
  const Result of_folders = Read(files, ComponentFrom::kDir);
  EXPECT_EQ(of_folders.report, "");
  EXPECT_THAT(of_folders.sources.components, ElementsAre(Key("one")));
  const Result of_files = Read(files, ComponentFrom::kFile);
  EXPECT_EQ(of_files.report, "");
  EXPECT_THAT(of_files.sources.components, ElementsAre(Key("a"), Key("b")));
}

TEST(ReadFiles, ReportsTwoFoldersWithTheSameName) {
  const std::string first = Write("y/pod/a.go", Rule("a"));
  const std::string second = Write("z/pod/b.go", Rule("b"));
  EXPECT_THAT(Read({first, second}, ComponentFrom::kDir).report,
              HasSubstr(second + ":1: error: component name pod is already used by "));
  Write("z/pod/b.go", "// +mandate:component:name=pod\n" + Rule("b"));
  EXPECT_EQ(Read({first, second}, ComponentFrom::kDir).report, "") << "a marker means it";
}

TEST(ReadFiles, AControllerAndItsWebhookInOneFolderAreOneComponent) {
  const std::vector<std::string> files = {Write("w/pod_controller.go", Rule("a")),
                                          Write("w/pod_webhook.go", Rule("b"))};
  const Result together = Read(files, ComponentFrom::kFile);
  EXPECT_EQ(together.report, "");
  EXPECT_THAT(together.sources.components, ElementsAre(Key("pod")));
  const std::string elsewhere = Write("v/pod_webhook.go", Rule("b"));
  EXPECT_THAT(
      Read({files[0], elsewhere}, ComponentFrom::kFile).report,
      HasSubstr(elsewhere + ":1: error: component name pod is already used by " + files[0]));
}

TEST(ReadFiles, ReportsAFolderWithoutAValidName) {
  const std::string file = Write("base/a.go", "\n" + Rule("a"));
  const Result r = Read({file}, ComponentFrom::kDir);
  EXPECT_THAT(r.report, HasSubstr(file + ":2: error: the name of its folder, \"base\""));
  EXPECT_THAT(r.sources.components, SizeIs(0));
}

}  // namespace
}  // namespace mandate::rbacgen
