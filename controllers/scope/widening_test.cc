// A role that gets rules, or is created again, does not grant them to subjects that the template
// does not name for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A member of clusterRoles: a role with one rule, for the resource, and with one user.
std::string RoleOf(std::string_view generate_name, std::string_view resource,
                   std::string_view user) {
  return StrCat(R"({"generateName":")", generate_name,
                R"(","rules":[{"apiGroups":[""],"verbs":["get"],"resources":[")", resource,
                R"("]}],"subjects":[{"kind":"User","name":")", user, R"("}]})");
}

class WideningTest : public ScopedTest {
 protected:
  void Deny(std::string_view verb) { Deny(verb, "/apis"); }
  // Only the administrator changes and deletes bindings in this namespace.
  void DenyRevocationsIn(std::string_view ns) {
    const std::string path = StrCat(kBindings.group_path, "/namespaces/", ns, "/");
    for (const char* verb : {"delete", "patch"}) Deny(verb, path);
  }
  // Replaces the template's roles.
  void EditRoles(const std::string& roles) {
    EXPECT_EQ(
        cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":[)", roles, "]}}")),
        200);
    cluster_.Settle();
  }
  std::string RulesResource() const {
    const Json::Value rules = cluster_.Our(kRoles)["rules"];
    return rules.empty() ? "" : rules[0]["resources"][0].asString();
  }
  void ExpectSecretsOnceNothingIsDenied() {
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_EQ(RulesResource(), "secrets");
    ExpectConvergedAndQuiet();
  }

 private:
  void Deny(std::string_view verb, std::string_view path) {
    cluster_.faults().Add({.verb = std::string(verb),
                           .path_prefix = std::string(path),
                           .resource = "rolebindings",
                           .except_bearer = apiserver::kAdminToken,
                           .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
  }
};

// If the role were created again for other subjects or with other rules, it would grant these rules
// to the wrong subjects.
TEST_F(WideningTest, RoleIsNotCreatedWhileARevocationIsDenied) {
  for (const bool narrowed : {false, true}) {
    SCOPED_TRACE(narrowed);
    if (narrowed) {
      EditSpec(R"("namespaces":["foo","bar"])");
    } else {
      Begin(R"("namespaces": ["foo","bar"])");
    }
    EditRoles(RoleOf("reader-", "pods", "eve"));
    const std::string role = NameOf(cluster_.Our(kRoles));
    if (narrowed) {
      DenyRevocationsIn("foo");
    } else {
      for (const char* verb : {"delete", "patch"}) Deny(verb);
    }
    EditRoles(RoleOf("other-", "pods", "eve"));
    EXPECT_TRUE(cluster_.Get(kRoles, role).isNull());
    if (narrowed) EditSpec(R"("namespaces":["bar"])");
    EditRoles(RoleOf("reader-", "secrets", "ann"));
    cluster_.RunFor(absl::Minutes(5));
    EXPECT_TRUE(cluster_.Get(kRoles, role).isNull());
    EXPECT_THAT(cluster_.Templated(),
                AllOf(StartsWith("False TemplatingFailed"), HasSubstr("RoleBinding foo/reader-")));
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_FALSE(cluster_.Get(kRoles, role).isNull());
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    for (const Json::Value& binding : cluster_.Ours(kBindings)) {
      EXPECT_EQ(SubjectNames(binding), "ann");
    }
  }
}

// A binding that waits for its revocation must not get rules that the template gives to others.
TEST_F(WideningTest, RoleIsNotWidenedForRemovedSubjects) {
  Begin(R"("namespaces": ["foo", "bar"])", kAnnAndEve);
  DenyRevocationsIn("foo");
  EditRoles(RoleOf("reader-", "secrets", "ann"));
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve");
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "bar")), "ann") << "elsewhere she has lost it";
  EXPECT_EQ(RulesResource(), "") << "what is revoked does not wait";
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False RevocationPending"), HasSubstr("gets no new rules"),
                    HasSubstr("RoleBinding foo/reader-"), Not(HasSubstr("RoleBinding bar/"))));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  ExpectSecretsOnceNothingIsDenied();
}

TEST_F(WideningTest, RoleIsNotWidenedForUnwantedBindings) {
  Begin(R"("namespaces": ["foo", "bar"])", kAnn);
  DenyRevocationsIn("foo");
  EditSpec(R"("namespaces": ["bar"])");
  EditRoles(RoleOf("reader-", "secrets", "ann"));
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_EQ(RulesResource(), "");
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann");
  ExpectSecretsOnceNothingIsDenied();
}

// A deletion by the administrator ends the wait, too.
TEST_F(WideningTest, AwaitedChangeIsSeenAtOnce) {
  Begin(R"("namespaces": ["foo", "bar"])", kAnnAndEve);
  for (const char* ns : {"foo", "bar"}) DenyRevocationsIn(ns);
  EditRoles(RoleOf("reader-", "secrets", "ann"));
  cluster_.RunFor(absl::Minutes(5));
  for (const char* ns : {"foo", "bar"}) {
    EXPECT_EQ(RulesResource(), "");
    EXPECT_EQ(cluster_.Delete(kBindings, NameOf(cluster_.Our(kBindings, ns)), ns), 200);
    cluster_.RunFor(absl::Seconds(1));
  }
  EXPECT_EQ(RulesResource(), "secrets");
}

// Two roles swap their names in one edit: the subjects of one do not get the rules of the other.
TEST_F(WideningTest, SwappedRolesGrantNothingInBetween) {
  Begin(R"("namespaces": ["foo"])",
        StrCat("[", RoleOf("a-", "pods", "ann"), ",", RoleOf("b-", "secrets", "eve"), "]"));
  int grants = 0;
  cluster_.intercept = [&](const std::string&) -> std::optional<HttpResponse> {
    for (const Json::Value& binding : cluster_.Ours(kBindings)) {
      const Json::Value role = cluster_.Get(kRoles, binding["roleRef"]["name"].asString());
      const std::string subjects = SubjectNames(binding);
      if (subjects.empty() || role["rules"].empty()) continue;
      ++grants;
      const bool pods = role["rules"][0]["resources"][0] == "pods";
      EXPECT_EQ(subjects, pods ? "ann" : "eve");
    }
    return std::nullopt;
  };
  EditRoles(StrCat(RoleOf("a-", "secrets", "eve"), ",", RoleOf("b-", "pods", "ann")));
  EXPECT_GT(grants, 0);
  ExpectConvergedAndQuiet();
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 2u);
}

}  // namespace
}  // namespace mandate::scope
