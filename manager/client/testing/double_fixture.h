// RestClients whose requests go to the double of an API server (testing/apiserver), in virtual
// time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "testing/apiserver/sim_server.h"

namespace mandate {

class DoubleFixture : public testing::Test {
 protected:
  DoubleFixture() {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://double";
    endpoint->ca_pem = "none";
    endpoint_ = std::move(endpoint);
  }

  // Sends the requests of `rest` to the double, as an administrator.
  void Connect(FakeRestClient& rest) {
    rest.HandleLate([this](const RestRequest& request, const FakeRestClient::Reply& reply) {
      if (before_) before_(request);
      Forward(request, reply);
    });
  }
  void Forward(const RestRequest& request, const FakeRestClient::Reply& reply) {
    HttpRequest http(endpoint_, BearerToken{std::make_shared<Secret>(apiserver::kAdminToken)},
                     request.method, request.target);
    http.body = request.body;
    http.accept = request.accept;
    if (!request.body.empty()) http.content_type = request.content_type;
    server_.transport().Call({}, std::move(http), reply);
  }

  const CallContext context_;
  SimulatedLoop loop_;
  apiserver::SimServer server_{loop_, {}};
  std::shared_ptr<const Endpoint> endpoint_;
  // Runs before each request reaches the server.
  std::function<void(const RestRequest&)> before_;
};

}  // namespace mandate
