#include "manager/cache/testing/model/scoped_world.h"

#include <algorithm>

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

Cache::Options OptionsFor(SimulatedLoop& loop, Metrics& metrics, uint64_t seed,
                          std::mt19937_64& random) {
  const auto die = [&](size_t sides) { return static_cast<size_t>(random() % sides); };
  Cache::Options options{.loop = loop, .metrics = metrics};
  options.seed = seed;
  // No other event happens at the moment at which this ends.
  if (die(2) == 0) options.close_unused_watch_after = absl::Seconds(20) + absl::Microseconds(500);
  // With it, the checks know the stream and the proof of each scope.
  options.close_covered_watch_after =
      die(2) == 0 ? absl::InfiniteDuration() : absl::Seconds(die(60)) + absl::Microseconds(500);
  options.proof_lifetime = absl::Minutes(1 + die(5));
  options.max_events_per_loop_turn = die(2) == 0 ? 2 : 256;
  options.probes = {.per_second = 1, .burst = 4};
  options.reflector.watch_list = die(3) != 0;
  options.reflector.page_size = 1 + static_cast<int>(die(4));
  options.reflector.max_frame_bytes = 1000;
  options.reflector.max_queue_bytes = 2000 + die(20'000);
  options.packing = {.min_object_bytes = die(3) == 0 ? SIZE_MAX : 1,
                     .sample_bytes = 4000,
                     .dictionary_bytes = 1000};
  return options;
}

}  // namespace

const std::vector<WatchScope> kScopes = {{"", ""},     {"foo", ""},  {"bar", ""}, {"baz", ""},
                                         {"foo", "0"}, {"foo", "1"}, {"bar", "0"}};
const std::vector<ObjectKey> kKeys = {{"foo", "0"}, {"foo", "1"}, {"foo", "2"}, {"foo", "3"},
                                      {"bar", "0"}, {"bar", "1"}, {"bar", "2"}, {"baz", "0"}};

ScopedWorld::ScopedWorld(uint64_t seed)
    : random_(seed),
      server_(loop_, seed * 41 + 7, SingleKeys()),
      violations_(loop_.clock()),
      options_(OptionsFor(loop_, metrics_, seed, random_)),
      cache_(*Cache::Create(options_)) {
  components_.resize(2 + Die(3));
  const std::string names = "abcd";
  for (size_t i = 0; i < components_.size(); ++i) {
    Component& component = components_[i];
    component.name = names.substr(i, 1);
    component.client = std::make_unique<ObservedClient>(loop_, component.name, ledger_);
    component.client->OnSend([this, &component] { ReadInside(component, kKeys[0]); });
    server_.Serve(*component.client);
    component.view = &cache_->AddComponent(*component.client, kReader);
    component.probe_tokens = options_.probes.burst;
    component.probes_counted_at = Now();
    component.owners = std::make_unique<DemandOwners>(DemandOwners::Config{
        .component = component.name,
        .violations = violations_,
        .open =
            [this, &component](const WatchScope& scope, DemandOwners::OnEvent on_event) {
              return Open(component, scope, /*with_sink=*/true, std::move(on_event));
            },
        .close =
            [this, &component](std::unique_ptr<DemandOwners::Open> open) {
              const WatchScope scope = open->sink->scope();
              Close(component, scope, std::move(open));
            }});
  }
}

ScopedWorld::~ScopedWorld() { ReleaseAll(); }

void ScopedWorld::Put(const ObjectKey& key, const ObjectLabels& labels, Component* writer) {
  const int version = server_.Put(key.ToString(), labels);
  history_.Put(key, version, labels);
  if (writer == nullptr) return;
  writer->client->own_writes().Wrote(kWidget, key, StrCat(version));
  writer->known[key].own_write = version;
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
  cache_->OnCredentialLost(component.name, absl::UnauthenticatedError("401"));
  loop_.RunReady();
  ledger_.LoseCredential(component.name);
}

std::unique_ptr<DemandOwners::Open> ScopedWorld::Open(Component& component, const WatchScope& scope,
                                                      bool with_sink,
                                                      DemandOwners::OnEvent on_event) {
  const bool is_new = !MayBeOpenFor(component, scope);
  if (std::ranges::none_of(components_, [&](const auto& c) { return MayBeOpenFor(c, scope); })) {
    // A wider stream may serve the scope from where it is, which is behind the server.
    int began = server_.revision();
    for (const WatchScope& by : Serving(component, scope)) {
      if (by != scope) began = std::min(began, StreamBegan(by));
    }
    began_[scope] = began;
  }
  if (is_new) ledger_.Begin(component.name, scope);
  ++component.demands[scope];
  auto open = std::make_unique<DemandOwners::Open>();
  if (with_sink) {
    open->sink = std::make_shared<ModelSink>(ModelSink::Config{
        .who = StrCat(component.name, " \"", scope.ToString(), "\""),
        .scope = scope,
        .history = history_,
        .violations = violations_,
        .may_see =
            [this, &component, scope] {
              return std::ranges::any_of(Serving(component, scope), [&](const WatchScope& by) {
                return ledger_.Of(component.name, by) != AccessLedger::Answer::kDenied;
              });
            },
        .is_denied =
            [this, &component, scope] {
              return ledger_.Of(component.name, scope) == AccessLedger::Answer::kDenied;
            },
        .on_event =
            [this, &component, on_event = std::move(on_event)](const ObjectEvent* event) {
              if (event != nullptr) Learn(component, *event);
              if (on_event) on_event(event);
            }});
  }
  open->handle = component.view->Demand(scope.Spec(), open->sink);
  return open;
}

void ScopedWorld::Close(Component& component, const WatchScope& scope,
                        std::unique_ptr<DemandOwners::Open> open) {
  if (--component.demands[scope] == 0) {
    component.demands.erase(scope);
    component.left_at[scope] = Now();
  }
  if (open->sink != nullptr) ended_sinks_.push_back(open->sink);
  open->handle.reset();
}

ScopedWorld::Static& ScopedWorld::Demand(Component& component, const WatchScope& scope,
                                         bool with_sink) {
  statics_.push_back(std::make_unique<Static>(
      Static{&component, scope, Open(component, scope, with_sink, nullptr)}));
  return *statics_.back();
}

void ScopedWorld::Release(size_t index) {
  Static& demand = *statics_[index];
  Close(*demand.component, demand.scope, std::move(demand.open));
  statics_.erase(statics_.begin() + static_cast<ptrdiff_t>(index));
}

void ScopedWorld::ReleaseAll() {
  while (!statics_.empty()) Release(statics_.size() - 1);
  for (Component& component : components_) component.owners->ReleaseAll();
}

void ScopedWorld::Pause(Static& demand) {
  demand.open->handle->Pause();
  loop_.RunReady();
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
  for (Component& component : components_) {
    component.client->SetDelay([this] { return absl::Milliseconds(Die(100)); });
  }
}

void ScopedWorld::Calm() {
  server_.faults() = {};
  for (Component& component : components_) {
    component.client->SetDelay(nullptr);
    component.client->Restore();
  }
}

std::vector<ComponentDemand> ScopedWorld::Demands() const {
  std::vector<ComponentDemand> demands;
  for (const Component& component : components_) {
    for (const auto& [scope, count] : component.demands) {
      demands.push_back({component.name, scope});
    }
  }
  return demands;
}

std::vector<WatchScope> ScopedWorld::Serving(const Component& component,
                                             const WatchScope& scope) const {
  std::vector<WatchScope> serving = {scope};
  if (!covers()) return serving;
  const auto add = [&](const WatchScope& wide) {
    if (wide != scope && wide.Contains(scope)) serving.push_back(wide);
  };
  for (const auto& [wide, count] : component.demands) add(wide);
  // The cache hears of the end of a demand later in the same moment.
  for (const auto& [wide, when] : component.left_at) {
    if (when == Now()) add(wide);
  }
  return serving;
}

std::vector<WatchScope> ScopedWorld::Covering(const Component& component,
                                              const ObjectKey& key) const {
  std::vector<WatchScope> covering;
  for (const auto& [scope, count] : component.demands) {
    if (scope.Covers(key)) covering.push_back(scope);
  }
  return covering;
}

bool ScopedWorld::HasStream(const WatchScope& scope) {
  for (Component& component : components_) {
    for (const auto& open : component.client->open_watches()) {
      if (open->scope == scope && !open->renews && open->follows()) return true;
    }
  }
  return false;
}

int ScopedWorld::StreamBegan(const WatchScope& scope) const {
  const auto found = began_.find(scope);
  return found == began_.end() ? 0 : found->second;
}

bool ScopedWorld::MayBeOpenFor(const Component& component, const WatchScope& scope) const {
  if (component.demands.contains(scope)) return true;
  const auto left = component.left_at.find(scope);
  return left != component.left_at.end() &&
         Now() <= left->second + options_.close_unused_watch_after;
}

void ScopedWorld::Learn(Component& component, const ObjectEvent& event) {
  const ObjectKey key = event.object->Key();
  Component::Known& known = component.known[key];
  if (event.type == ObjectEvent::Type::kDelete) {
    known.gone_uid = std::string(event.object->uid());
  } else {
    known.version = std::max(known.version, VersionOf(*event.object));
  }
  ReadInside(component, key);
}

// No lock is held while the cache calls a sink or sends a request (I10): a read would never end.
void ScopedWorld::ReadInside(Component& component, const ObjectKey& key) {
  if (component.view == nullptr) return;
  ++inner_reads_;
  const auto object = component.view->GetRaw(NonBlockingContext(), kWidget, key);
  if (!object.ok()) return;
  const auto version = VersionOf(**object);
  const Component::Known& known = component.known[key];
  if (version < known.version || (*object)->uid() == known.gone_uid) {
    violations_.Add("I4", component.name, " reads ", key.ToString(), "@", version,
                    " inside of a call, after ", known.version, ", deleted ", known.gone_uid);
  }
}

}  // namespace mandate::model
