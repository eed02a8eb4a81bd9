// A reflector and a server with random faults. Whatever fails on the way, in the end the store has
// the server's objects, and a sink that followed the changes knows the same objects.
#include <gtest/gtest.h>

#include "manager/cache/reflector.h"
#include "manager/cache/testing/recording_sink.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/cache/testing/widget_server.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"

namespace mandate {
namespace {

class Told : public Reflector::Owner {
 public:
  void OnObjects(const std::vector<ObjectEvent>& events) override {
    for (const ObjectEvent& event : events) sink.OnEvent(event);
  }
  void OnReplaced(const std::shared_ptr<const ObjectSet>&) override {
    ADD_FAILURE() << "more than most_events changes";
  }
  void OnProgress() override {}
  void OnAccess() override {}
  void OnRestored() override { ADD_FAILURE() << "the server has one history"; }
  void OnFailure(const Reflector::Failure&) override {}
  void OnEvicted() override { ADD_FAILURE() << "the budget is larger than everything"; }
  void OnStatus(const DemandStatus& status) override { sink.OnState(status); }

  RecordingSink sink;
};

struct Totals {
  int relists = 0;
  int handovers = 0;
  int forbidden = 0;
};

void RunSeed(uint64_t seed, Totals& totals) {
  SCOPED_TRACE(StrCat("seed ", seed));
  std::mt19937_64 die(seed);
  SimulatedLoop loop;
  WidgetServer server(loop, seed * 7 + 1);
  FakeRestClient first(loop, "first");
  FakeRestClient second(loop, "second");
  for (FakeRestClient* client : {&first, &second}) {
    server.Serve(*client);
    server.Grant(std::string(client->component()));
    client->SetDelay([&die] { return absl::Milliseconds(die() % 200); });
  }
  const auto chance = [&die](double most) {
    return most * std::uniform_real_distribution<double>(0, 1)(die);
  };
  server.faults() = {.refuse_watch = chance(0.4),
                     .refuse_list = chance(0.4),
                     .expire_page = chance(0.3),
                     .no_watch_list = die() % 3 == 0 ? 1.0 : chance(0.5),
                     .cut = chance(0.3),
                     .garbage = chance(0.1),
                     .drop_bookmark = chance(0.5),
                     .refuse_review = 0,
                     .delay = absl::Milliseconds(die() % 3000)};

  ReflectorOptions options;
  options.watch_list = die() % 4 != 0;
  options.page_size = 1 + static_cast<int>(die() % 5);
  options.max_queue_bytes = 2000 + die() % 20000;
  options.max_frame_bytes = 1000;
  const DemandSpec spec{kWidget, die() % 2 == 0 ? "" : "a", ""};
  Metrics metrics;
  WatchBudget budget({.max_bytes = size_t{1} << 40, .max_watches = 1000, .bytes_per_watch = 0},
                     loop.clock(), metrics);
  ProbeBudget probes({.per_second = 5, .burst = 20}, loop, metrics);
  WatchCloser closer({}, loop, metrics);
  std::mt19937_64 jitter(seed);
  ObjectStore store;
  Told told;
  Reflector reflector(Reflector::Config{.spec = spec,
                                        .options = options,
                                        .random = jitter,
                                        .metrics = metrics,
                                        .budget = budget,
                                        .probes = probes,
                                        .flows = [] { return ProbeBudget::Flows(); },
                                        .closer = closer,
                                        .log = {}},
                      first, store, told);
  reflector.Start();

  for (int step = 0; step < 120; ++step) {
    const std::string key = StrCat(die() % 2 == 0 ? "a" : "b", "/", die() % 8);
    switch (die() % 12) {
      case 0:
      case 1:
        server.Delete(key);
        break;
      case 2:
        server.Compact();
        break;
      case 3:
        server.Revoke(std::string(reflector.client().component()));
        break;
      case 4:
        server.Grant("first");
        server.Grant("second");
        reflector.RetryNow();
        break;
      case 5:
        if (die() % 4 != 0) break;
        reflector.UseClient(&reflector.client() == &first ? second : first);
        ++totals.handovers;
        break;
      default:
        server.Put(key);
    }
    loop.RunFor(absl::Milliseconds(die() % (die() % 10 == 0 ? 400'000 : 4000)));
    if (told.sink.status().state == DemandState::kForbidden) ++totals.forbidden;
  }

  server.faults() = {};
  server.Grant("first");
  server.Grant("second");
  reflector.RetryNow();
  loop.RunFor(absl::Minutes(10));
  EXPECT_EQ(reflector.status().state, DemandState::kSynced) << reflector.status().reason;
  EXPECT_EQ(Text(store.List()), server.Content(spec));
  EXPECT_EQ(told.sink.Content(), server.Content(spec));
  for (const std::string& violation : told.sink.violations()) ADD_FAILURE() << violation;
  EXPECT_EQ(server.live_watches(), 1u);
  totals.relists += static_cast<int>(first.Count("limit=") + first.Count("sendInitialEvents"));
}

TEST(ReflectorSimulation, EndsWithTheServersObjects) {
  Totals totals;
  const int64_t ran = RunSeeds(300, [&](uint64_t seed) { RunSeed(seed, totals); });
  if (ran < 100) return;
  // The faults did happen.
  EXPECT_GT(totals.relists, 10 * ran);
  EXPECT_GT(totals.handovers, ran);
  EXPECT_GT(totals.forbidden, ran);
}

}  // namespace
}  // namespace mandate
