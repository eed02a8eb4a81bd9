// A RunningComponent that watches widgets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/cache_fixture.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/testing/log_capture.h"
#include "manager/running_component.h"

namespace mandate {

inline TokenStatus Token(bool usable, absl::Status last_error) {
  TokenStatus status;
  status.usable = usable;
  status.last_error = std::move(last_error);
  return status;
}

class RunningComponentFixture : public CacheFixture {
 protected:
  RunningComponentFixture() {
    CacheFixture::Create();
    server_.Serve(a_);
    server_.Put("default/x");
  }
  ~RunningComponentFixture() override {
    if (started_) {
      EXPECT_EQ(running_->StopControllers(absl::InfiniteFuture()), absl::OkStatus());
    }
    demand_.reset();
    running_.reset();
    loop_.RunFor(absl::Minutes(10));
  }

  RunningComponent::Options Options() {
    return {.client = a_,
            .events = events_,
            .cache = *cache_,
            .workers = pool_,
            .metrics = metrics_,
            .log = Logger(log_, loop_.clock()),
            .seed = 42};
  }
  // Controllers of these names that watch widgets and call `run` for each request.
  void Run(
      const RunningComponent::Options& options, const std::vector<std::string>& names = {},
      const std::function<void(const CallContext&)>& run = [](const CallContext&) {}) {
    auto running = RunningComponent::Create(
        {.mandate = &kReader,
         .make_controllers = [&](const Component& component) -> absl::StatusOr<Controllers> {
           Controllers controllers;
           for (const std::string& name : names) {
             auto controller =
                 Controller::Create({.name = name,
                                     .controller_context = component.controller_context,
                                     .sources = {{{kWidget, "", ""}, EnqueueObject(), {}}},
                                     .reconciler = std::make_unique<FunctionReconciler>(
                                         [run](const CallContext& context, const Request&) {
                                           run(context);
                                           return Result{};
                                         }),
                                     .controller = controller_options_});
             if (!controller.ok()) return controller.status();
             controllers_.push_back(controller->get());
             controllers.push_back(*std::move(controller));
           }
           return controllers;
         }},
        options);
    ASSERT_TRUE(running.ok()) << running.status();
    running_ = *std::move(running);
  }
  // A component without controllers that demands widgets, and may read them through view_.
  void RunReader() {
    auto running = RunningComponent::Create(
        {.mandate = &kReader,
         .make_controllers = [this](const Component& component) -> absl::StatusOr<Controllers> {
           view_ = &component.cache();
           demand_ = view_->Demand({kWidget, "", ""}, nullptr);
           return Controllers();
         }},
        Options());
    ASSERT_TRUE(running.ok()) << running.status();
    running_ = *std::move(running);
  }
  void Start() {
    running_->StartControllers();
    started_ = true;
    Settle();
  }

  SimulatedPool pool_{loop_, 1};
  FakeEventRecorder events_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  ControllerOptions controller_options_;
  std::vector<Controller*> controllers_;
  CacheView* view_ = nullptr;
  std::unique_ptr<DemandHandle> demand_;
  std::unique_ptr<RunningComponent> running_;
  bool started_ = false;
};

}  // namespace mandate
