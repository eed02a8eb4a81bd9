// A component whose parts are doubles, for the tests of what reconcilers share.
#pragma once

#include <gtest/gtest.h>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/component.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

class ComponentTest : public testing::Test {
 protected:
  static constexpr rbac::Mandate kKeeper = {.component = "keeper", .rules = {}};

  SimulatedLoop loop_;
  FakeCacheView view_{loop_};
  Metrics metrics_;
  FakeRestClient rest_{loop_, "keeper"};
  FakeEventRecorder events_;
  const Component component_ = {kKeeper, rest_, events_,
                                ControllerContext{"keeper", loop_, loop_, view_, metrics_, {}, 1}};
};

}  // namespace mandate
