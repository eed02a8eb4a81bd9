#include "manager/rbac/risky_rights.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "rbacgen/lint/builtin_resources.h"

namespace mandate::rbacgen {
namespace {

std::string Full(const rbac::RiskyRight& risky) {
  return std::string(risky.resource) + (risky.subresource.empty() ? "" : "/") +
         std::string(risky.subresource);
}

rbac::Rule Allows(const rbac::RiskyRight& risky, const std::string& verb) {
  rbac::Rule rule = {{verb}, {std::string(risky.group)}, {Full(risky)}, {}, {}};
  if (!risky.name.empty()) rule.resource_names.emplace_back(risky.name);
  return rule;
}

// The first RiskyRight that applies to the rule, as "verb consequence".
std::string RiskOf(const rbac::Rule& rule) {
  for (const rbac::RiskyRight& risky : rbac::RiskyRights()) {
    const std::string_view verb = risky.VerbOf(rule);
    if (!verb.empty()) return std::string(verb) + " " + std::string(risky.consequence);
  }
  return "";
}

TEST(RiskyRights, NameOnlyVerbsAndResourcesOfTheServer) {
  std::set<std::string> seen;
  for (const rbac::RiskyRight& risky : rbac::RiskyRights()) {
    SCOPED_TRACE(Full(risky));
    const BuiltinResource* resource = FindBuiltin(risky.group, Full(risky));
    ASSERT_NE(resource, nullptr);
    EXPECT_FALSE(risky.consequence.empty());
    for (const std::string_view each : risky.Verbs()) {
      const std::string verb(each);
      // The API server authorizes these verbs while it handles a request with another verb.
      const bool is_asked_besides = verb == "bind" || verb == "escalate" || verb == "impersonate";
      EXPECT_TRUE(is_asked_besides || KnowsVerb(*resource, verb)) << verb;
      EXPECT_EQ(risky.VerbOf(Allows(risky, verb)), verb);
      EXPECT_TRUE(seen.insert(verb + " " + Full(risky) + "." + std::string(risky.group) + " " +
                              std::string(risky.name))
                      .second)
          << verb << " is there twice";
    }
    EXPECT_EQ(risky.VerbOf(Allows(risky, "nothing")), "");
  }
}

TEST(RiskyRights, CoverTheRisksOfRbacScanners) {
  const struct {
    rbac::Rule rule;
    const char* want;
  } rows[] = {
      {{{"create"}, {"apps"}, {"deployments"}, {}, {}}, "create runs as any ServiceAccount there"},
      {{{"patch"}, {""}, {"pods"}, {}, {}}, "patch runs images of its choice in any pod there"},
      {{{"*"}, {"*"}, {"pods/exec"}, {}, {}}, "create runs commands in any pod there"},
      {{{"update"}, {""}, {"secrets"}, {"one"}, {}},
       "update replaces credentials, and creates tokens of ServiceAccounts"},
      {{{"patch"}, {""}, {"nodes/status"}, {}, {}}, "patch decides which pods a node gets"},
      {{{"create"}, {"apiregistration.k8s.io"}, {"apiservices"}, {}, {}},
       "create answers requests instead of the API server"},
      {{{"update"}, {""}, {"configmaps"}, {"aws-auth"}, {}},
       "update decides the permissions of AWS users"},
      {{{"update"}, {""}, {"configmaps"}, {"mine"}, {}}, ""},
      {{{"update"}, {""}, {"configmaps"}, {}, {}}, ""},
      {{{"get"}, {""}, {"pods"}, {}, {}}, ""},
      {{{"create"}, {"g.io"}, {"pods"}, {}, {}}, ""},
      {{{"update"}, {"*"}, {"*/status"}, {}, {}}, "update decides which pods a node gets"},
  };
  for (const auto& row : rows) EXPECT_EQ(RiskOf(row.rule), row.want);
}

// The comment next to each rule names the grade's source: a rbac-police policy, KubiScan or krane.
TEST(SeverityOf, IsTheGradeOfTheScanners) {
  using enum rbac::RiskyRight::Severity;
  constexpr char kRbac[] = "rbac.authorization.k8s.io";
  const struct {
    rbac::Rule rule;
    std::optional<rbac::RiskyRight::Severity> want;
  } rows[] = {
      {{{"create"}, {""}, {"serviceaccounts/token"}, {}, {}}, kCritical},  // token_request
      {{{"impersonate"}, {""}, {"groups"}, {}, {}}, kCritical},            // impersonate; all three
      {{{"escalate", "get"}, {kRbac}, {"roles"}, {}, {}}, kCritical},      // escalate_roles
      {{{"bind"}, {kRbac}, {"clusterroles"}, {"one"}, {}}, kCritical},     // bind_roles
      {{{"create"}, {"apps"}, {"deployments"}, {}, {}}, kCritical},        // assign_sa
      {{{"get"}, {""}, {"secrets"}, {}, {}}, kCritical},                   // retrieve_token_secrets
      {{{"create"}, {""}, {"secrets"}, {}, {}}, kCritical},                // issue_token_secrets
      {{{"patch"}, {""}, {"configmaps"}, {"aws-auth"}, {}}, kCritical},    // eks_modify_aws_auth
      {{{"update"}, {"certificates.k8s.io"}, {"certificatesigningrequests/approval"}, {}, {}},
       kCritical},                                           // approve_csrs
      {{{"*"}, {"*"}, {"*"}, {}, {}}, kCritical},            // cluster_admin
      {{{"patch"}, {""}, {"pods"}, {}, {}}, kHigh},          // modify_pods
      {{{"create"}, {""}, {"pods/exec"}, {}, {}}, kHigh},    // pods_exec
      {{{"create"}, {""}, {"pods/attach"}, {}, {}}, kHigh},  // KubiScan
      {{{"get"}, {""}, {"nodes/proxy"}, {}, {}}, kHigh},     // nodes_proxy
      {{{"update"}, {""}, {"nodes"}, {}, {}}, kHigh},        // steal_pods
      {{{"patch"}, {"admissionregistration.k8s.io"}, {"mutatingwebhookconfigurations"}, {}, {}},
       kHigh},                                                     // control_webhooks
      {{{"patch"}, {kRbac}, {"rolebindings"}, {}, {}}, kMedium},   // KubiScan: low
      {{{"create"}, {kRbac}, {"clusterroles"}, {}, {}}, kMedium},  // krane: warning
      {{{"get"}, {}, {}, {}, {"/debug/pprof/heap"}}, kMedium},
      {{{"patch"}, {""}, {"configmaps"}, {"mine"}, {}}, std::nullopt},
      {{{"get"}, {""}, {"pods"}, {}, {}}, std::nullopt},
      {{{"get"}, {}, {}, {}, {"/metrics"}}, std::nullopt},
      // The highest one counts.
      {{{"patch", "create"}, {""}, {"pods", "pods/exec"}, {}, {}}, kCritical},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(rbac::SeverityOf(row.rule), row.want) << testing::PrintToString(row.rule.resources);
  }
  EXPECT_EQ(rbac::SeverityName(kCritical), "critical");
  EXPECT_EQ(rbac::SeverityName(kHigh), "high");
  EXPECT_EQ(rbac::SeverityName(kMedium), "medium");
}

TEST(RiskOfUrls, ReportsProfilesAndLogs) {
  const auto of = [](const std::string& url) {
    return std::string(rbac::RiskOfUrls({{"get"}, {}, {}, {}, {url}}));
  };
  EXPECT_EQ(of("/debug/pprof/heap"), "reads the API server's memory");
  EXPECT_EQ(of("/debug/*"), "reads the API server's memory");
  EXPECT_EQ(of("/logs/*"), "reads the logs of the API server's host");
  for (const char* plain : {"/metrics", "/healthz/*", "/logsx", "/debugx/*"}) {
    EXPECT_EQ(of(plain), "") << plain;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
