#include "webhooks/scope/maxima.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/kinds.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

std::string Error(const auto& object) {
  return std::string(CheckMaxima(object.spec(), "spec").message());
}

void AddTo(auto* list, int count) {
  while (list->size() < count) list->Add();
}

TEST(CheckMaxima, OfTemplatesAreThoseOfTheSchema) {
  ScopeTemplate ok;
  AddTo(ok.mutable_spec()->mutable_clusterroles(), 100);
  AddTo(ok.mutable_spec()->mutable_bindingtemplate()->mutable_subjects(), 1000);
  auto* role = ok.mutable_spec()->mutable_clusterroles(99);
  std::string name;
  for (int i = 0; i < 200; ++i) name += "é";
  role->set_generatename(name);
  AddTo(role->mutable_rules(), 1000);
  AddTo(role->mutable_subjects(), 1000);
  AddTo(role->mutable_bindingtemplate()->mutable_subjects(), 1000);
  EXPECT_EQ(Error(ok), "");

  ScopeTemplate bad = ok;
  bad.mutable_spec()->add_clusterroles();
  EXPECT_EQ(Error(bad), "spec.clusterRoles: 101 items; the limit is 100");
  bad = ok;
  bad.mutable_spec()->mutable_bindingtemplate()->add_subjects();
  EXPECT_EQ(Error(bad), "spec.bindingTemplate.subjects: 1001 items; the limit is 1000");
  const auto with = [&](auto change) {
    ScopeTemplate changed = ok;
    change(*changed.mutable_spec()->mutable_clusterroles(99));
    return Error(changed);
  };
  EXPECT_EQ(with([](auto& r) { r.add_rules(); }),
            "spec.clusterRoles[99].rules: 1001 items; the limit is 1000");
  EXPECT_EQ(with([](auto& r) { r.add_subjects(); }),
            "spec.clusterRoles[99].subjects: 1001 items; the limit is 1000");
  EXPECT_EQ(with([](auto& r) { r.mutable_bindingtemplate()->add_subjects(); }),
            "spec.clusterRoles[99].bindingTemplate.subjects: 1001 items; the limit is 1000");
  EXPECT_EQ(with([](auto& r) { r.set_generatename(std::string(201, 'a')); }),
            "spec.clusterRoles[99].generateName: 201 characters; the limit is 200");
}

TEST(CheckMaxima, OfInstancesAreThoseOfTheSchema) {
  ScopeInstance ok;
  ok.mutable_spec()->set_scopetemplatename(std::string(253, 'a'));
  for (int i = 0; i < 10'000; ++i) ok.mutable_spec()->add_namespaces(std::string(63, 'a'));
  EXPECT_EQ(Error(ok), "");
  ScopeInstance bad = ok;
  bad.mutable_spec()->add_namespaces("a");
  EXPECT_EQ(Error(bad), "spec.namespaces: 10001 items; the limit is 10000");
  bad = ok;
  bad.mutable_spec()->mutable_namespaces(1)->push_back('a');
  EXPECT_EQ(Error(bad), "spec.namespaces[1]: 64 characters; the limit is 63");
  bad = ok;
  bad.mutable_spec()->mutable_scopetemplatename()->push_back('a');
  EXPECT_EQ(Error(bad), "spec.scopeTemplateName: 254 characters; the limit is 253");
}

TEST(CheckSelector, CountsLabelsRequirementsAndValues) {
  const auto labels = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) StrAppend(&text, i == 0 ? "" : ",", "\"k", i, "\":\"v\"");
    return StrCat("{", text, "}");
  };
  const auto values = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) StrAppend(&text, i == 0 ? "" : ",", "\"v", i, "\"");
    return StrCat(R"({"matchExpressions":[{"key":"k","operator":"In","values":[)", text, "]}]}");
  };
  const auto error = [](const std::string& json) {
    return std::string(CheckSelector(json, "spec.namespaceSelector").message());
  };
  EXPECT_EQ(error(""), "");
  EXPECT_EQ(error("{}"), "");
  EXPECT_EQ(error("null"), "");
  EXPECT_EQ(error(labels(1000)), "");
  EXPECT_EQ(error(labels(1001)),
            "spec.namespaceSelector: 1001 labels, requirements and values; the limit is 1000");
  EXPECT_EQ(error(values(995)), "") << "5 more: the list, its item, and the item's members";
  EXPECT_EQ(error(values(996)),
            "spec.namespaceSelector: 1001 labels, requirements and values; the limit is 1000");
  EXPECT_NE(error("{"), "");
  EXPECT_NE(error(StrCat("{\"a\":", std::string(100'000, '['))), "");
}

}  // namespace
}  // namespace mandate::scope
