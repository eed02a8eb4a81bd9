#include "rbacgen/audit/suggestion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

TEST(ReplaceArgument, KeepsOtherArguments) {
  const struct {
    const char* marker;
    const char* argument;
    const char* want;
  } kCases[] = {
      {"// +kubebuilder:rbac:groups=a,resources=r,verbs=get;list", "verbs",
       "// +kubebuilder:rbac:groups=a,resources=r,verbs=x;y"},
      {"// +kubebuilder:rbac:verbs={get,list},groups=a,resources=r", "verbs",
       "// +kubebuilder:rbac:verbs=x;y,groups=a,resources=r"},
      {"// +kubebuilder:rbac:groups=a,resources=r;s,verbs=get", "resources",
       "// +kubebuilder:rbac:groups=a,resources=x;y,verbs=get"},
      {"// +mandate:rbac:justify=\"so, that\",groups=a,resources=r,verbs=get", "verbs",
       "// +mandate:rbac:justify=\"so, that\",groups=a,resources=r,verbs=x;y"},
      {"// no marker", "verbs", "// no marker"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReplaceArgument(c.marker, c.argument, {"x", "y"}), c.want);
}

// Markers of one component, in the file a.h, and requests "VERB URI" that were allowed.
std::string Suggested(const std::string& markers, const std::vector<std::string>& requests) {
  const std::string text = "// +mandate:component:name=a\n" + markers;
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.h", text, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  std::vector<RuleAtom> atoms;
  for (const Declaration& d : sources.declarations) {
    rbac::Rule rule = d.rule;
    std::ranges::replace(rule.api_groups, "core", "");
    AddAtoms(rule, {.ns = d.ns, .rule = {}, .source = d.place.ToString()}, &atoms);
  }
  Ledger ledger;
  ledger.Declare("a", atoms, {});
  for (const std::string& request : requests) {
    AuditEvent event;
    event.verb = request.substr(0, request.find(' '));
    event.request_uri = request.substr(request.find(' ') + 1);
    event.code = 200;
    ledger.Note(event, "a", "a");
  }
  FourWayInput input;
  input.users["a"] = rbac::ServiceAccountInfo("n", "a");
  const FourWayReport report = BuildFourWay(input, ledger, TraceReport());
  return SuggestMarkers(report, ledger, sources, [&](const std::string&) { return text; });
}

TEST(SuggestMarkers, RemovesUnusedAndAddsUndeclaredRights) {
  const std::string pods_in = "/api/v1/namespaces/";
  std::vector<std::string> many = {"get /version"};
  for (int i = 0; i < 9; ++i) many.push_back(StrCat("get ", pods_in, "n", i, "/pods/x"));
  const struct {
    const char* name;
    const char* markers;
    std::vector<std::string> requests;
    const char* want;
  } kCases[] = {
      {"nothing",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n",
       {"get " + pods_in + "n/pods/x"},
       ""},
      {"a path that is no resource's",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n",
       {"get " + pods_in + "n/pods/x", "get " + pods_in + "n/pods,verbs=*/x",
        "get " + pods_in + "n/pods%0Aevil/x", "*;x " + pods_in + "n/pods/x"},
       ""},
      {"a verb goes",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;delete\n",
       {"get " + pods_in + "n/pods/x"},
       "--- a.h\n+++ a.h\n@@ -2 +2 @@\n"
       "-// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;delete\n"
       "+// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n"},
      {"a verb stays that one of a marker's namespaces needs",
       "// +mandate:rbac:groups=core,resources=pods,verbs=get;delete,namespaces=m;n\n",
       {"get " + pods_in + "m/pods/x", "delete " + pods_in + "n/pods/x"},
       ""},
      {"a verb goes that none of them needs",
       "// +mandate:rbac:groups=core,resources=pods,verbs=get;delete,namespaces=m;n\n",
       {"get " + pods_in + "m/pods/x"},
       "--- a.h\n+++ a.h\n@@ -2 +2 @@\n"
       "-// +mandate:rbac:groups=core,resources=pods,verbs=get;delete,namespaces=m;n\n"
       "+// +mandate:rbac:groups=core,resources=pods,verbs=get,namespaces=m;n\n"},
      {"all goes",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=delete\n",
       {"get /version"},
       "--- a.h\n+++ a.h\n@@ -2 +1,0 @@\n"
       "-// +kubebuilder:rbac:groups=core,resources=pods,verbs=delete\n"},
      {"a verb goes and another comes",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;delete\n",
       {"get " + pods_in + "n/pods/x", "list /api/v1/nodes"},
       "--- a.h\n+++ a.h\n@@ -2 +2,2 @@\n"
       "-// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;delete\n"
       "+// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n"
       "+// +kubebuilder:rbac:groups=core,resources=nodes,verbs=list\n"},
      {"a namespace's use comes for that namespace",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get,namespace=n\n",
       {"get " + pods_in + "n/pods/x", "get " + pods_in + "m/pods/x", "list " + pods_in + "m/pods"},
       "--- a.h\n+++ a.h\n@@ -2,0 +3 @@\n"
       "+// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list,namespace=m\n"},
      {"a use of all namespaces comes for all",
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=get,namespace=n\n",
       {"get " + pods_in + "n/pods/x", "list /api/v1/pods", "list " + pods_in + "m/pods"},
       "--- a.h\n+++ a.h\n@@ -2,0 +3 @@\n"
       "+// +kubebuilder:rbac:groups=core,resources=pods,verbs=list\n"},
      {"a use of more namespaces than one writes down comes for all",
       "// +kubebuilder:rbac:urls=/version,verbs=get\n", many,
       "--- a.h\n+++ a.h\n@@ -2,0 +3 @@\n"
       "+// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n"},
      {"what can be no namespace's name comes not at all",
       "// +kubebuilder:rbac:urls=/version,verbs=get\n",
       {"get /version", "get " + pods_in + "m,n/pods/x"},
       ""},
  };
  for (const auto& c : kCases) EXPECT_EQ(Suggested(c.markers, c.requests), c.want) << c.name;
}

}  // namespace
}  // namespace mandate::rbacgen
