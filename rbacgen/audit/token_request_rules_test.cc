#include "rbacgen/audit/token_request_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

TEST(Unlike, ListsTheDifferencesOfARequest) {
  struct Row {
    TokenRequestFacts request;
    Strings want;
  };
  const Row rows[] = {
      {{{}, 3600, "", ""}, {}},
      {{{}, 3601, "", ""}, {"valid for 3601 s"}},
      {{{"api"}, 3600, "", ""}, {}},
      {{{"api", "vault"}, 0, "", ""}, {"for the audience vault"}},
      {{{}, 0, "Secret", "a"}, {}},
      {{{}, 0, "Secret", "b"}, {"bound to the Secret b"}},
      {{{}, 0, "Pod", "a"}, {"bound to the Pod a"}},
      {{{"x"}, 7200, "Pod", "p"}, {"valid for 7200 s", "for the audience x", "bound to the Pod p"}},
  };
  for (const Row& row : rows) EXPECT_EQ(Unlike(row.request, "a", {"api"}), row.want);
}

}  // namespace
}  // namespace mandate::rbacgen
