#include "webhooks/scope/refusals.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/testing_objects.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

constexpr char kNs[] = "mandate-system";

ScopeTemplate WithSubject(std::string_view subject) {
  return FromJsonOrDie<ScopeTemplate>(
      StrCat(R"({"metadata":{"uid":"u"},"spec":{"clusterRoles":[{"generateName":"a-",)",
             R"("rules":[],"subjects":[)", subject, "]}]}}"));
}

std::string Refused(const ScopeTemplate& now, const ScopeTemplate* old = nullptr) {
  return std::string(RefuseTemplate(old, now, kNs).message());
}

TEST(RefuseTemplate, NeverGrantsToEverybodyOrToTheManager) {
  const struct {
    const char* subject;
    const char* want;  // a part of the message; "" if it is accepted
  } kCases[] = {
      {R"({"kind":"User","name":"ann"})", ""},
      {R"({"kind":"Group","name":"dev"})", ""},
      {R"({"kind":"ServiceAccount","name":"x","namespace":"foo"})", ""},
      {R"({"kind":"User","name":"system:serviceaccount:foo:x"})", ""},
      {R"({"kind":"User","name":"system:anonymous"})", "requests without a credential"},
      {R"({"kind":"Group","name":"system:unauthenticated"})", "requests without a credential"},
      {R"({"kind":"Group","name":"system:authenticated"})", "every user"},
      {R"({"kind":"Group","name":"system:serviceaccounts"})", "contains the manager's"},
      {R"({"kind":"Group","name":"system:serviceaccounts:mandate-system"})",
       "contains the manager's"},
      {R"({"kind":"ServiceAccount","name":"x","namespace":"mandate-system"})",
       "of the manager's namespace"},
      {R"({"kind":"User","name":"system:serviceaccount:mandate-system:x"})",
       "of the manager's namespace"},
      {R"({"kind":"ServiceAccount","name":"x"})", "subjects[0].namespace: required"},
      {R"({"kind":"User","name":"ann","namespace":"foo"})", "namespace: must be empty"},
      {R"({"kind":"Robot","name":"ann"})", "is not one of User, Group, ServiceAccount"},
  };
  for (const auto& c : kCases) {
    const std::string message = Refused(WithSubject(c.subject));
    EXPECT_EQ(message.empty(), *c.want == '\0') << c.subject << ": " << message;
    EXPECT_NE(message.find(c.want), std::string::npos) << message;
  }
}

TEST(RefuseTemplate, ChecksSubjectsInAllThreePlaces) {
  constexpr std::string_view kSubjects =
      R"("subjects":[{"kind":"Group","name":"system:unauthenticated"}])";
  const std::string specs[] = {
      StrCat(R"({"clusterRoles":[{"generateName":"a-","rules":[],)", kSubjects, "}]}"),
      StrCat(R"({"clusterRoles":[{"generateName":"a-","rules":[],"bindingTemplate":{)", kSubjects,
             "}}]}"),
      StrCat(R"({"clusterRoles":[{"generateName":"a-","rules":[]}],"bindingTemplate":{)", kSubjects,
             "}}"),
  };
  for (const std::string& spec : specs) {
    const std::string message =
        Refused(FromJsonOrDie<ScopeTemplate>(StrCat(R"({"spec":)", spec, "}")));
    EXPECT_NE(message.find("requests without a credential"), std::string::npos) << spec;
  }
}

TEST(RefuseTemplate, CutsItsMessage) {
  ScopeTemplate many = WithSubject(R"({"kind":"User","name":"ann"})");
  for (int i = 0; i < 1000; ++i) many.mutable_spec()->mutable_clusterroles(0)->add_rules();
  const std::string message = Refused(many);
  EXPECT_TRUE(message.ends_with(" more")) << message;
  EXPECT_LT(message.size(), 2000);
}

TEST(RefuseTemplate, ReportsDuplicateNames) {
  const auto twice = FromJsonOrDie<ScopeTemplate>(
      R"({"spec":{"bindingTemplate":{"subjects":[{"kind":"User","name":"ann"}]},"clusterRoles":[
          {"generateName":"a-","rules":[]},{"generateName":"a-","rules":[]}]}})");
  EXPECT_NE(Refused(twice).find("is already the name of spec.clusterRoles[0]"), std::string::npos);
}

TEST(RefuseTemplate, AcceptsOldErrors) {
  const ScopeTemplate old = WithSubject(R"({"kind":"User","name":"system:anonymous"})");
  EXPECT_EQ(Refused(old, &old), "");
  const ScopeTemplate worse = WithSubject(
      R"({"kind":"User","name":"system:anonymous"},{"kind":"Group","name":"system:authenticated"})");
  const std::string message = Refused(worse, &old);
  EXPECT_EQ(message.find("system:anonymous"), std::string::npos) << message;
  EXPECT_NE(message.find("system:authenticated"), std::string::npos) << message;
}

TEST(RefuseInstance, ProtectsTheManagerAndTheControlPlane) {
  const auto refused = [](std::string_view spec, const ScopeInstance* old = nullptr) {
    return std::string(RefuseInstance(old, DocumentInstance(spec), kNs).message());
  };
  EXPECT_EQ(refused(R"("namespaces":["foo"])"), "");
  EXPECT_EQ(refused(""), "");
  EXPECT_NE(refused(R"("namespaces":["mandate-system"])").find("the manager's namespace"),
            std::string::npos);
  EXPECT_NE(refused(R"("namespaces":["kube-system"])").find("control plane"), std::string::npos);
  EXPECT_NE(refused(R"("namespaceSelector":{"a":5})").find("spec.namespaceSelector"),
            std::string::npos);
  const ScopeInstance old = DocumentInstance(R"("namespaces":["kube-system"])");
  EXPECT_EQ(refused(R"("namespaces":["kube-system","foo"])", &old), "");
}

}  // namespace
}  // namespace mandate::scope
