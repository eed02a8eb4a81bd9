// Fifty identities with tokens of one minute, for six hours: one watch, no request with another
// component's name, no request without a valid token.
#include <gtest/gtest.h>
#include <jsoncpp/json/json.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "testing/simulation/witness.h"
#include "testing/simulation/world.h"

namespace mandate {
namespace {

constexpr int kIdentities = 50;

Json::Value Parsed(const std::string& line) {
  Json::Value event;
  Json::CharReaderBuilder builder;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  EXPECT_TRUE(reader->parse(line.data(), line.data() + line.size(), &event, nullptr)) << line;
  return event;
}

TEST(Identities, FiftyWithTokensOfAMinute) {
  World world({.seed = 1, .components = kIdentities, .token_life = absl::Minutes(1)});
  std::vector<std::shared_ptr<Witness>> witnesses;
  std::vector<std::unique_ptr<DemandHandle>> demands;
  for (int i = 0; i < kIdentities; ++i) {
    world.Grant(i);
    witnesses.push_back(std::make_shared<Witness>(""));
    demands.push_back(world.view(i).Demand({kConfigMaps, "", ""}, witnesses.back()));
  }
  world.identities().Start();
  world.loop().RunFor(absl::Minutes(1));
  std::map<std::string, int> tokens, requests;  // by user
  std::set<std::string> issued;                 // credential ids
  for (int hour = 0; hour < 6; ++hour) {
    for (int minute = 0; minute < 60; ++minute) {
      world.Put({"a", StrCat("o", minute % 7)});
      world.loop().RunFor(absl::Minutes(1));
      for (const auto& witness : witnesses) {
        ASSERT_EQ(witness->status().state, DemandState::kSynced)
            << hour << " h " << minute << " min: " << witness->status().reason;
      }
      ASSERT_EQ(world.server().core().stats().watches, 1u) << hour << " h " << minute << " min";
    }
    for (const std::string& line : world.TakeAudit()) {
      const Json::Value event = Parsed(line);
      const std::string user = event["user"]["username"].asString();
      const std::string agent = event["userAgent"].asString();
      ASSERT_LT(event["responseStatus"]["code"].asInt(), 300) << line;
      const Json::Value& ref = event["objectRef"];
      if (ref["subresource"].asString() == "token") {
        EXPECT_EQ(user, "system:serviceaccount:mandate:mandate-manager") << line;
        ++tokens[ref["name"].asString()];
        issued.insert(
            event["annotations"]["authentication.kubernetes.io/issued-credential-id"].asString());
        continue;
      }
      const std::string component = agent.substr(agent.rfind(' ') + 1);
      ASSERT_EQ(user, "system:serviceaccount:mandate:mandate-manager-" + component) << line;
      const std::string credential =
          event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0].asString();
      ASSERT_TRUE(issued.contains(credential)) << line;
      ++requests[user];
    }
  }
  EXPECT_EQ(requests.size(), static_cast<size_t>(kIdentities));
  ASSERT_EQ(tokens.size(), static_cast<size_t>(kIdentities));
  for (const auto& [account, count] : tokens) {
    // A token is renewed at 80 % of its life, with jitter: every 36 s to 60 s.
    EXPECT_GE(count, 6 * 60) << account;
    EXPECT_LE(count, 6 * 100) << account;
  }
  for (const auto& witness : witnesses) {
    for (const std::string& wrong : witness->Check(world.history(), true)) ADD_FAILURE() << wrong;
  }
}

}  // namespace
}  // namespace mandate
