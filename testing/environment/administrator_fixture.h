// An administrator of a double of the API server.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "manager/core/secret.h"
#include "manager/core/testing/must.h"
#include "testing/apiserver/api_server.h"
#include "testing/environment/administrator.h"

namespace mandate {

class AdministratorTest : public testing::Test {
 protected:
  AdministratorTest() {
    ClusterConfig cluster;
    cluster.endpoint.server = server_->url();
    cluster.endpoint.ca_pem = server_->ca_pem();
    cluster.base = StaticToken{std::make_shared<const Secret>(apiserver::kAdminToken)};
    administrator_ = Must(Administrator::Create(cluster));
  }

  std::unique_ptr<apiserver::ApiServer> server_ = Must(apiserver::ApiServer::Create({}));
  std::unique_ptr<Administrator> administrator_;
};

}  // namespace mandate
