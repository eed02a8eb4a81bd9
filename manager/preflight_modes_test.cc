// The grants that preflight asks for, and their subjects, in each identity mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/preflight_mandate.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/preflight.h"
#include "manager/rbac/impersonation.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A server that decides by rules, and two identities that ask it.
struct PreflightModesTest : testing::Test {
  PreflightModesTest() {
    Serve(scope, "system:serviceaccount:mandate:mm-scope", &scope_grants);
    Serve(base, "system:serviceaccount:mandate:mm", &base_grants);
  }

  // A grant in a namespace, or "" for all.
  struct Held {
    std::string ns;
    rbac::Rule rule;
  };
  using Grants = std::vector<Held>;

  static bool Allows(const Grants& grants, const Json::Value& spec) {
    rbac::Attributes asked;
    const Json::Value& r = spec["resourceAttributes"];
    asked.is_resource_request = spec.isMember("resourceAttributes");
    asked.verb = (asked.is_resource_request ? r : spec["nonResourceAttributes"])["verb"].asString();
    asked.path = spec["nonResourceAttributes"]["path"].asString();
    asked.api_group = r["group"].asString();
    asked.resource = r["resource"].asString();
    asked.subresource = r["subresource"].asString();
    asked.name = r["name"].asString();
    asked.ns = r["namespace"].asString();
    for (const Held& held : grants) {
      if ((held.ns.empty() || held.ns == asked.ns) && rbac::RuleAllows(held.rule, asked)) {
        return true;
      }
    }
    return false;
  }

  void Serve(FakeRestClient& client, const std::string& username, const Grants* grants) {
    client.Handle([this, &client, username,
                   grants](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (request.target == "/version") {
        return FakeRestClient::Json(200, StrCat(R"({"major":"1","minor":")", minor, R"("})"));
      }
      if (request.target.ends_with("/selfsubjectreviews")) {
        if (&client == &scope && !server_impersonates) {
          return absl::PermissionDeniedError("cannot impersonate");
        }
        return FakeRestClient::Json(
            201, StrCat(R"({"status":{"userInfo":{"username":")", username, R"("}}})"));
      }
      const bool allowed = Allows(*grants, (*ParseJson(request.body))["spec"]);
      return FakeRestClient::Json(
          201, StrCat(R"({"status":{"allowed":)", allowed ? "true" : "false", "}}"));
    });
  }

  static rbac::Rule Rule(std::vector<std::string> verbs, std::string group, std::string resource,
                         std::vector<std::string> names = {}) {
    return {.verbs = std::move(verbs),
            .api_groups = {std::move(group)},
            .resources = {std::move(resource)},
            .resource_names = std::move(names)};
  }

  // "" when nothing is missing.
  std::string Says(IdentityMode mode, const rbac::Mandate& mandate = kPreflightMandate) {
    PreflightOptions options{
        .mandate = &mandate,
        .mode = mode,
        .username = mode == IdentityMode::kSingle ? "" : "system:serviceaccount:mandate:mm-scope",
        .ns = "mandate",
        .service_account = "mm-scope",
        .base = &base};
    FakeRestClient& client = mode == IdentityMode::kSingle ? base : scope;
    const auto report =
        Preflight({.deadline = absl::InfiniteFuture(), .stop = {}}, client, options);
    return std::string((report.ok() ? report->ToStatus() : report.status()).message());
  }

  const Grants kWhole = {
      {"", Rule({"create", "patch"}, "rbac.authorization.k8s.io", "rolebindings")},
      {"", Rule({"create", "patch"}, "rbac.authorization.k8s.io", "rolebindings/status")},
      {"", Rule({"bind"}, "rbac.authorization.k8s.io", "clusterroles", {"edit"})},
      {"", {.verbs = {"get"}, .non_resource_urls = {"/metrics"}}},
      {"mandate", Rule({"get"}, "", "secrets")}};

  static Grants Impersonating(const std::vector<rbac::RulesByNamespace>& parts) {
    Grants grants;
    for (const rbac::RulesByNamespace& part : parts) {
      for (const auto& [ns, of_ns] : part) {
        for (const rbac::Rule& rule : of_ns) grants.push_back({ns, rule});
      }
    }
    return grants;
  }
  static Grants Constrained() {
    return Impersonating({{{"mandate", {rbac::ImpersonateUserRule("mm-scope")}}},
                          rbac::ImpersonateOnRules(kPreflightMandate)});
  }

  SimulatedLoop loop;
  FakeRestClient scope{loop, "scope"};
  FakeRestClient base{loop, "base"};
  Grants scope_grants;
  Grants base_grants;
  std::string minor = "36";
  bool server_impersonates = true;
};

TEST_F(PreflightModesTest, RequiresGrantsThatCoverTheRule) {
  const std::string kRbacGroup = "rbac.authorization.k8s.io";
  const struct {
    std::string what;
    std::function<void(Grants&)> change;
    std::string says;  // "": nothing is missing
  } rows[] = {
      {"as declared", [](Grants&) {}, ""},
      {"a verb less", [](Grants& g) { g[0].rule.verbs = {"patch"}; },
       "may not create rolebindings.rbac.authorization.k8s.io. Apply"},
      {"a subresource less", [](Grants& g) { g.erase(g.begin() + 1); },
       "may not create rolebindings.rbac.authorization.k8s.io/status, "
       "patch rolebindings.rbac.authorization.k8s.io/status. Apply"},
      {"another name", [](Grants& g) { g[2].rule.resource_names = {"view"}; },
       "may not bind clusterroles.rbac.authorization.k8s.io \"edit\". Apply"},
      {"names where all are declared", [](Grants& g) { g[0].rule.resource_names = {"a"}; },
       "may not create rolebindings.rbac.authorization.k8s.io, patch rolebindings."},
      {"any name where one is declared", [](Grants& g) { g[2].rule.resource_names = {}; }, ""},
      {"in one namespace what is cluster-wide", [](Grants& g) { g[0].ns = "foo"; },
       "may not create rolebindings.rbac.authorization.k8s.io, patch rolebindings."},
      {"cluster-wide what is of one namespace", [](Grants& g) { g[4].ns = ""; }, ""},
      {"in another namespace", [](Grants& g) { g[4].ns = "other"; },
       "may not get secrets in namespace mandate. Apply"},
      {"a wildcard",
       [&](Grants& g) {
         g = {{"", Rule({"*"}, "*", "*")}, g[3]};
       },
       ""},
      {"a wildcard of resources only",
       [&](Grants& g) {
         g = {{"", Rule({"*"}, "*", "*")}};
       },
       "may not get /metrics. Apply"},
      {"a wildcard in one group",
       [&](Grants& g) {
         g = {{"", Rule({"*"}, kRbacGroup, "*")}, g[3], g[4]};
       },
       ""},
      {"in pieces, as aggregated roles hold it",
       [&](Grants& g) {
         g[0].rule.verbs = {"create"};
         g.push_back({"", Rule({"patch"}, kRbacGroup, "rolebindings")});
       },
       ""},
      {"nothing", [](Grants& g) { g.clear(); }, "and"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    scope_grants = kWhole;
    row.change(scope_grants);
    const std::string says = Says(IdentityMode::kToken);
    if (row.says.empty()) {
      EXPECT_EQ(says, "");
    } else {
      EXPECT_THAT(says, HasSubstr(row.says));
    }
  }
}

TEST_F(PreflightModesTest, ComponentWithoutRulesLacksNothing) {
  constexpr rbac::Mandate kNothing = {.component = "scope", .rules = {}};
  EXPECT_EQ(Says(IdentityMode::kToken, kNothing), "");
  EXPECT_EQ(scope.Count("selfsubjectreviews"), 1u);
  EXPECT_EQ(scope.requests().size(), 1u);
}

TEST_F(PreflightModesTest, SingleAsksForBaseAndPrintsWhatBaseNeeds) {
  base_grants = kWhole;
  EXPECT_EQ(Says(IdentityMode::kSingle), "");
  base_grants.pop_back();
  const std::string says = Says(IdentityMode::kSingle);
  EXPECT_THAT(says,
              HasSubstr("component base, which acts as base "
                        "(system:serviceaccount:mandate:mm), may not get secrets in namespace "
                        "mandate. Apply"));
  EXPECT_THAT(says, HasSubstr("kind: Role\nmetadata:\n  name: mm-scope\n  namespace: mandate\n"));
  EXPECT_THAT(says, HasSubstr("kind: RoleBinding\nmetadata:\n  name: mm-scope\n"));
  EXPECT_THAT(says, HasSubstr("- kind: ServiceAccount\n  name: mm\n  namespace: mandate\n"));
}

TEST_F(PreflightModesTest, ImpersonationAsksBaseFirst) {
  scope_grants = kWhole;
  std::string says = Says(IdentityMode::kImpersonate);
  EXPECT_THAT(says, HasSubstr("base (system:serviceaccount:mandate:mm) may not act as component "
                              "scope: it may not impersonate:serviceaccount "
                              "serviceaccounts.authentication.k8s.io \"mm-scope\" in namespace "
                              "mandate, impersonate-on:serviceaccount:create "
                              "selfsubjectreviews.authentication.k8s.io, "));
  EXPECT_THAT(says, HasSubstr("kind: Role\nmetadata:\n  name: mm-scope-impersonate-constrained\n"));
  EXPECT_THAT(says, HasSubstr("kind: ClusterRole\nmetadata:\n  name: mm-scope-impersonate-on\n"));
  EXPECT_THAT(says, HasSubstr("verbs: [\"impersonate:serviceaccount\"]"));
  EXPECT_EQ(scope.requests().size(), 0u);

  base_grants = Constrained();
  EXPECT_EQ(Says(IdentityMode::kImpersonate), "");
  // Then the component's own grants, as in mode token.
  scope_grants.pop_back();
  says = Says(IdentityMode::kImpersonate);
  EXPECT_THAT(says,
              HasSubstr("component scope (system:serviceaccount:mandate:mm-scope) may not get "
                        "secrets in namespace mandate. Apply"));
  EXPECT_THAT(says, HasSubstr("kind: RoleBinding\nmetadata:\n  name: mm-scope\n"));
}

TEST_F(PreflightModesTest, ReportsEachMissingRuleOfImpersonation) {
  scope_grants = kWhole;
  const Grants all = Constrained();
  for (size_t i = 0; i < all.size(); ++i) {
    const bool external = all[i].rule.api_groups == std::vector<std::string>{"*"};
    base_grants = all;
    base_grants.erase(base_grants.begin() + static_cast<ptrdiff_t>(i));
    // The external rule of this mandate covers the others that are cluster-wide.
    if (!external) {
      std::erase_if(base_grants, [](const Held& held) {
        return held.rule.api_groups == std::vector<std::string>{"*"};
      });
    }
    EXPECT_NE(Says(IdentityMode::kImpersonate), "") << i;
  }
}

TEST_F(PreflightModesTest, AsksOlderServersForClassicImpersonation) {
  scope_grants = kWhole;
  minor = "35";
  const std::string says = Says(IdentityMode::kImpersonate);
  EXPECT_THAT(says, HasSubstr("may not impersonate serviceaccounts \"mm-scope\" in namespace "
                              "mandate. Apply"));
  EXPECT_THAT(says, Not(HasSubstr("impersonate-on")));
  base_grants = Impersonating({{{"mandate", {rbac::ClassicImpersonation("mm-scope")}}}});
  EXPECT_EQ(Says(IdentityMode::kImpersonate), "");
  // A newer server takes that grant too.
  minor = "37+";
  EXPECT_EQ(Says(IdentityMode::kImpersonate), "");
}

TEST_F(PreflightModesTest, DistinguishesADisabledFeatureGateFromAMissingGrant) {
  server_impersonates = false;
  base_grants = Constrained();
  const std::string says = Says(IdentityMode::kImpersonate);
  EXPECT_THAT(says, HasSubstr("Enable its feature gate ConstrainedImpersonation"));
  EXPECT_THAT(says, HasSubstr("resourceNames: [\"mm-scope\"]\n  resources: [\"serviceaccounts\"]\n"
                              "  verbs: [\"impersonate\"]\n"));
}

}  // namespace
}  // namespace mandate
