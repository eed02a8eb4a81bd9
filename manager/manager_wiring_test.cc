// That a Manager's parts know each other, where each part's own test cannot tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/log.h"
#include "manager/core/loop_label.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/manager.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/testing_base.h"
#include "testing/apiserver/api_server.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using testing::HasSubstr;

constexpr rbac::Mandate kKeeper = {"keeper", {}};
constexpr rbac::Mandate kBase = {"base", {}};

// A log whose lines can be waited for. Thread-safe.
class AwaitedLines : public LogSink {
 public:
  void Write(const LogRecord& record) override {
    MutexLock lock(mutex_);
    lines_.push_back(FormatRecord(record, LogFormat::kText));
    changed_.NotifyAll();
  }
  int verbosity() const override { return 0; }

  // The first line that has `text`.
  std::string Await(std::string_view text) {
    MutexLock lock(mutex_);
    for (size_t i = 0;; ++i) {
      while (i == lines_.size()) changed_.Wait(mutex_);
      if (lines_[i].find(text) != std::string::npos) return lines_[i];
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

// One component that has no permissions, on the double over HTTPS.
class ManagerWiringTest : public testing::Test {
 protected:
  using MakeControllers = std::function<absl::StatusOr<Controllers>(const Component&)>;

  void SetUp() override {
    apiserver::ServerOptions serve;
    serve.objects = {R"({"apiVersion":"v1","kind":"ServiceAccount",
                         "metadata":{"name":"mandate-manager-keeper","namespace":"default"}})"};
    AddBase({"keeper"}, serve);
    auto server = ApiServer::Create(std::move(serve));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    options_.cluster.endpoint.server = server_->url();
    options_.cluster.endpoint.ca_pem = server_->ca_pem();
    options_.cluster.base = StaticToken{std::make_shared<const Secret>(kBaseToken)};
    options_.ns = "default";
    options_.version = "test";
    options_.base_mandate = &kBase;
    options_.health_address = "0";
    options_.metrics_address = "0";
    options_.leader_elect = false;
    options_.log = Logger(lines_, Clock::Real());
  }
  void TearDown() override { stop_.request_stop(); }

  void Create(const MakeControllers& make = [](const Component&) { return Controllers(); }) {
    auto manager = Manager::Create(std::move(options_), {{&kKeeper, make}});
    ASSERT_TRUE(manager.ok()) << manager.status();
    manager_ = *std::move(manager);
  }
  void Run() {
    runs_ = std::jthread([this] { EXPECT_EQ(manager_->Run(stop_.get_token()), absl::OkStatus()); });
  }

  std::shared_ptr<AwaitedLines> lines_ = std::make_shared<AwaitedLines>();
  ManagerOptions options_;
  std::unique_ptr<ApiServer> server_;
  std::vector<std::unique_ptr<FakeCacheView>> caches_;
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  std::jthread runs_;
};

TEST_F(ManagerWiringTest, ATaskThatHoldsTheLoopIsReportedWhileItDoes) {
  options_.loop_turn_limit = absl::Milliseconds(250);
  Loop* loop = nullptr;
  Create([&](const Component& component) {
    loop = &component.runtime.loop;
    return Controllers();
  });
  Latch held;
  loop->Post([&] {
    const LoopLabel label("keeper", "a map that sleeps");
    lines_->Await("a map that sleeps");
    held.Set();
  });
  EXPECT_THAT(lines_->Await("a map that sleeps"),
              HasSubstr("The event loop is held up: nothing else runs on it"));
  held.Wait();
}

// Base's own grants are what a component lacks whom base may not impersonate.
TEST_F(ManagerWiringTest, InModeImpersonateThePermissionsOfBaseAreCheckedFirst) {
  options_.identity_mode = IdentityMode::kImpersonate;
  Create();
  Run();
  EXPECT_THAT(lines_->Await("Permissions are missing"),
              HasSubstr("may not act as component keeper: it may not impersonate"));
}

}  // namespace
}  // namespace mandate
