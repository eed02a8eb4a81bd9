// Two components in one Manager, on the double over HTTPS: "noisy" gets into trouble, and "quiet"
// must have its work done meanwhile. Each Trouble concerns one thing that components share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manager/testing_manager.h"

namespace mandate {

// Its methods are for one thread; `map` and `reconcile` are called on threads of the Manager.
class Bulkhead {
 public:
  static constexpr int kAtOnce = 8;  // reconcilers of the noisy component

  // The settings with which Run() starts.
  struct Settings {
    size_t max_watch_bytes = size_t{1} << 30;
    HttpOptions transport;
    std::function<void()> map, reconcile;  // of the noisy component; empty: returns at once
  };

  Bulkhead();
  // Ends the trouble, and stops the manager; aborts the process if the manager had failed.
  ~Bulkhead();

  Settings& settings() { return settings_; }
  apiserver::ApiServer& server() { return manager_.server(); }
  void Run();

  // The latches that `map` and `reconcile` of a trouble wait for and set.
  Latch began, arrived, trouble_over;
  std::atomic<int> inside = 0;
  // Opened by the trouble, closed when it is over.
  std::vector<std::unique_ptr<DemandHandle>> demands;

  EventRecorder& noisy_events() { return *noisy_events_; }
  EventRecorder& quiet_events() { return *quiet_events_; }
  CacheView& noisy_view() { return *noisy_view_; }
  CacheView& quiet_view() { return *quiet_view_; }

  // Creates an object that the noisy component watches.
  void LoadConfigMap(const std::string& name, size_t bytes = 1);
  // Creates an object of the quiet component's, and waits until it is reconciled. Returns the time
  // between the two.
  absl::Duration Probe();
  // How many objects of the quiet component's have been reconciled.
  size_t reconciled();
  // Watches whose kind was larger than may be held.
  double Overflows() const;

 private:
  void Load(const std::string& json);

  Settings settings_;
  Metrics* metrics_ = nullptr;
  EventRecorder* noisy_events_ = nullptr;
  EventRecorder* quiet_events_ = nullptr;
  CacheView* noisy_view_ = nullptr;
  CacheView* quiet_view_ = nullptr;
  int probes_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::set<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  TestManager manager_;
};

struct Trouble {
  const char* name;
  std::function<void(Bulkhead&)> prepare;  // before Run()
  // After Run(); returns when the trouble has come. It lasts until the Bulkhead is destroyed.
  std::function<void(Bulkhead&)> begin;
  // Checks what else must still work for the quiet component. Returns when it has worked.
  std::function<void(Bulkhead&)> check;
};

const std::vector<Trouble>& Troubles();

}  // namespace mandate
