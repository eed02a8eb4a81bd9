#include "webhooks/scope/refusals.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/testing_objects.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"

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
      {R"({"kind":"User","name":"system:serviceaccount:mandate-system:"})",
       "of the manager's namespace"},
      {R"({"kind":"User","name":"system:serviceaccount:mandate-system:a:b"})",
       "of the manager's namespace"},
      {R"({"kind":"User","name":"system:serviceaccount:mandate-systems:x"})", ""},
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

// A template with these roles, which share the subjects of the template.
ScopeTemplate Shared(int roles, int subjects) {
  ScopeTemplate shared;
  shared.mutable_metadata()->set_uid("u");
  auto& spec = *shared.mutable_spec();
  for (int i = 0; i < roles; ++i) spec.add_clusterroles()->set_generatename(StrCat("r", i, "-"));
  for (int i = 0; i < subjects; ++i) {
    rbacv1::Subject& subject = *spec.mutable_bindingtemplate()->add_subjects();
    subject.set_kind("ServiceAccount");
    subject.set_name(StrCat("s", i));
    subject.set_namespace_(kNs);
  }
  return shared;
}

TEST(RefuseTemplate, ReportsEachSubjectOnce) {
  constexpr char kWhy[] =
      "cannot be a subject, because it is a ServiceAccount of the manager's namespace";
  EXPECT_EQ(Refused(Shared(1, 1)), StrCat(R"(role "r0-": ServiceAccount "s0" )", kWhy));
  EXPECT_EQ(Refused(Shared(2, 1)),
            StrCat(R"(role "r0-" and 1 other role: ServiceAccount "s0" )", kWhy));
  EXPECT_EQ(Refused(Shared(3, 2)),
            StrCat(R"(role "r0-" and 2 other roles: ServiceAccount "s0" )", kWhy,
                   R"(; role "r0-" and 2 other roles: ServiceAccount "s1" )", kWhy));
  ScopeTemplate own = Shared(3, 1);
  *own.mutable_spec()->mutable_clusterroles(1)->mutable_subjects() =
      own.spec().bindingtemplate().subjects();
  EXPECT_EQ(Refused(own), StrCat(R"(role "r0-" and 2 other roles: ServiceAccount "s0" )", kWhy));
}

// 20 million pairs: one text for each would need gigabytes.
TEST(RefuseTemplate, DoesNotMultiplyRolesAndSubjects) {
  const ScopeTemplate many = Shared(4500, 4500);
  const std::string message = Refused(many);
  EXPECT_EQ(message.find("spec.clusterRoles: the subjects of all roles together have"), 0u);
  EXPECT_NE(message.find("; role \"r0-\" and 4499 other roles: "), message.npos) << message;
  EXPECT_TRUE(message.ends_with("; and 4491 more")) << message;
  EXPECT_EQ(Refused(many, &many), "");
}

TEST(RefuseTemplate, AcceptsOldErrorsOfTheSameRoleAlone) {
  const ScopeTemplate old = Shared(2, 2);
  EXPECT_EQ(Refused(Shared(2, 1), &old), "");
  EXPECT_EQ(Refused(Shared(1, 2), &old), "");
  EXPECT_EQ(Refused(Shared(4, 1), &old).find(R"(role "r2-" and 1 other role: ServiceAccount "s0")"),
            0u);
  EXPECT_EQ(Refused(Shared(2, 3), &old).find(R"(role "r0-" and 1 other role: ServiceAccount "s2")"),
            0u);
  ScopeTemplate own = old;
  *own.mutable_spec()->mutable_clusterroles(0)->add_subjects() =
      old.spec().bindingtemplate().subjects(1);
  EXPECT_EQ(Refused(own, &old), "") << "the role has had this subject";
  EXPECT_EQ(Refused(old, &own).find(R"(role "r0-": ServiceAccount "s0")"), 0u);
}

TEST(RefuseTemplate, ReportsDuplicateNames) {
  const auto twice = FromJsonOrDie<ScopeTemplate>(
      R"({"spec":{"bindingTemplate":{"subjects":[{"kind":"User","name":"ann"}]},"clusterRoles":[
          {"generateName":"a-","rules":[]},{"generateName":"a-","rules":[]}]}})");
  EXPECT_NE(Refused(twice).find("is already the name of spec.clusterRoles[0]"), std::string::npos);
}

TEST(RefuseTemplate, AcceptsNoOtherErrorThanTheOldOne) {
  const ScopeTemplate robot = WithSubject(R"({"kind":"Robot","name":"ann"})");
  const ScopeTemplate without_ns = WithSubject(R"({"kind":"ServiceAccount","name":"x"})");
  EXPECT_EQ(Refused(robot, &robot), "");
  EXPECT_NE(Refused(without_ns, &robot).find("subjects[0].namespace: required"), std::string::npos);
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
  EXPECT_EQ(refused(R"("namespaces":["kube-system","kube-system"])"),
            refused(R"("namespaces":["kube-system"])"));
}

}  // namespace
}  // namespace mandate::scope
