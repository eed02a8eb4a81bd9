#include "manager/cache/testing/model/scoped_world.h"

#include "manager/core/strings.h"

namespace mandate::model {
namespace {

std::vector<std::string> SingleKeys() {
  std::vector<std::string> keys;
  for (const WatchScope& scope : kScopes) {
    if (!scope.name.empty()) keys.push_back(scope.ToString());
  }
  return keys;
}

// The options of which the invariants do not depend.
void Choose(Cache::Options& options, uint64_t seed, std::mt19937_64& random) {
  const auto die = [&](size_t sides) { return static_cast<size_t>(random() % sides); };
  options.seed = seed;
  // No other event happens at the moment at which this ends.
  if (die(2) == 0) options.close_unused_watch_after = absl::Seconds(20) + absl::Microseconds(500);
  // With it, the checks know the stream and the proof of each scope.
  options.close_covered_watch_after =
      die(2) == 0 ? absl::InfiniteDuration() : absl::Seconds(die(60)) + absl::Microseconds(500);
  options.proof_lifetime = absl::Minutes(1 + die(5));
  options.max_events_per_loop_turn = die(2) == 0 ? 2 : 256;
  options.max_repacked_per_loop_turn = die(2) == 0 ? 2 : 256;
  options.probes = {.per_second = 1, .burst = 4, .hints = {.per_second = 1, .burst = 4}};
  options.reflector.watch_list = die(3) != 0;
  options.reflector.page_size = 1 + static_cast<int>(die(4));
  options.reflector.max_frame_bytes = 1000;
  options.reflector.max_queue_bytes = 2000 + die(20'000);
  options.packing = {.min_object_bytes = die(3) == 0 ? SIZE_MAX : 1,
                     .sample_bytes = 4000,
                     .dictionary_bytes = 1000};
}

}  // namespace

DoubledServer::DoubledServer(uint64_t seed) : server_(loop_, seed * 41 + 7, SingleKeys()) {}

ScopedWorld::ScopedWorld(uint64_t seed)
    : DoubledServer(seed),
      ModelWorld({.loop = DoubledServer::loop_, .seed = seed, .scopes = kScopes, .keys = kKeys}) {
  Choose(options_, seed, random_);
  CreateCache();
  const std::string names = "abcd";
  std::vector<RestClient*> inners;
  for (size_t i = 2 + Die(3); i > 0; --i) {
    clients_.push_back(std::make_unique<FakeRestClient>(loop(), names.substr(clients_.size(), 1)));
    server_.Serve(*clients_.back());
    inners.push_back(clients_.back().get());
  }
  AddComponents(inners);
}

void ScopedWorld::Put(const ObjectKey& key, const ObjectLabels& labels, Component* writer) {
  const int version = server_.Put(key.ToString(), labels);
  history_.Put(key, version, labels);
  if (writer != nullptr) NoteOwnWrite(*writer, key, version);
}

void ScopedWorld::Delete(const ObjectKey& key) {
  const int version = server_.Delete(key.ToString());
  history_.Delete(key, version);
}

void ScopedWorld::Grant(const Component& component, const WatchScope& scope) {
  server_.Grant(component.name, scope.ToString());
  grants_.Grant(component.name, scope);
}

void ScopedWorld::Revoke(const Component& component, const WatchScope& scope) {
  server_.Revoke(component.name, scope.ToString());
  grants_.Revoke(component.name, scope, Now(), kScopes);
}

void ScopedWorld::LoseCredential(Component& component) {
  component.client->Revoke();
  cache().OnCredentialLost(component.name, absl::UnauthenticatedError("401"));
  loop().RunReady();
  ledger().LoseCredential(component.name);
}

void ScopedWorld::Pause(Static& demand) {
  demand.open->handle->Pause();
  loop().RunReady();
  if (demand.open->sink != nullptr) demand.open->sink->Freeze(true);
}

void ScopedWorld::Resume(Static& demand) {
  if (demand.open->sink != nullptr) demand.open->sink->Freeze(false);
  demand.open->handle->Resume();
}

void ScopedWorld::Storm() {
  const auto chance = [this](double most) {
    return most * std::uniform_real_distribution<double>(0, 1)(random_);
  };
  server_.faults() = {.refuse_watch = chance(0.3),
                      .refuse_list = chance(0.3),
                      .expire_page = chance(0.3),
                      .no_watch_list = chance(0.5),
                      .cut = chance(0.2),
                      .garbage = chance(0.05),
                      .drop_bookmark = chance(0.3),
                      .refuse_review = chance(0.5),
                      .delay = absl::Milliseconds(Die(1000)),
                      .no_response = chance(0.1),
                      .unauthorized = chance(0.1),
                      .close_at_once = chance(0.1),
                      .stall = chance(0.1),
                      .slow_list = chance(0.3),
                      .list_delay = absl::Milliseconds(Die(20'000))};
  for (const auto& client : clients_) {
    client->SetDelay([this] { return absl::Milliseconds(Die(100)); });
  }
}

void ScopedWorld::Calm() {
  server_.faults() = {};
  for (const auto& client : clients_) client->SetDelay(nullptr);
  for (Component& component : components()) component.client->Restore();
}

}  // namespace mandate::model
