// Changes between the read of an object and the report in its status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::StartsWith;

constexpr char kUnknownTemplate[] = R"("scopeTemplateName": "none")";

class ReportRacesTest : public ScopedTest {
 protected:
  ~ReportRacesTest() override { cluster_.intercept = nullptr; }

  // Before the component's next write with this text, calls `meanwhile`. At the write after it,
  // stores the result of `report`.
  void At(const std::string& write, const std::function<void()>& meanwhile,
          const std::function<std::string()>& report) {
    cluster_.intercept = [=, this](const std::string& sent) -> std::optional<HttpResponse> {
      if (happened_ && !reported_.has_value()) reported_ = report();
      if (sent == write && !happened_) {
        happened_ = true;
        meanwhile();
      }
      return std::nullopt;
    };
  }

  bool happened_ = false;
  std::optional<std::string> reported_;
};

// The server ignores the UID when it writes a status. Only the version tells the two apart.
TEST_F(ReportRacesTest, NewInstanceDoesNotGetTheConditionsOfItsPredecessor) {
  Begin(R"("namespaces": ["foo"])");
  At(
      "PATCH scopeinstances/status",
      [this] {
        EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
        EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo"])")),
                  201);
      },
      [this] { return cluster_.Scoped(); });
  EditSpec(kUnknownTemplate);
  EXPECT_EQ(reported_, "");
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

TEST_F(ReportRacesTest, NewTemplateDoesNotGetTheConditionsOfItsPredecessor) {
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kDocumentRoles)), 201);
  At(
      "PATCH scopetemplates/status",
      [this] {
        EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
        EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kDocumentRoles)), 201);
      },
      [this] { return cluster_.Templated(); });
  cluster_.Start();
  cluster_.Settle();
  EXPECT_EQ(reported_, "");
  EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
}

// A writer of annotations delays a report only as long as it goes on.
TEST_F(ReportRacesTest, ReportsAfterTheLastAnnotation) {
  Begin(R"("namespaces": ["foo"])");
  int reports = 0;
  cluster_.intercept = [&](const std::string& sent) -> std::optional<HttpResponse> {
    if (sent != "PATCH scopeinstances/status" || ++reports > 5) return std::nullopt;
    const std::string patch = StrCat(R"({"metadata":{"annotations":{"n":")", reports, R"("}}})");
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", patch), 200);
    return std::nullopt;
  };
  EditSpec(kUnknownTemplate);
  EXPECT_EQ(reports, 6);
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopeTemplateNotFound"));
}

}  // namespace
}  // namespace mandate::scope
