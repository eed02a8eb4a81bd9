// Reviews of access and of identities, and requests for tokens.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>

#include "testing/conformance/explore/dice.h"

namespace mandate::conformance::explore {

struct ReviewRequest {
  std::string target;
  Json::Value body;
};

// One of the kinds of authentication.k8s.io and authorization.k8s.io.
ReviewRequest MakeReview(Dice& dice);
Json::Value MakeTokenRequest(Dice& dice);

}  // namespace mandate::conformance::explore
