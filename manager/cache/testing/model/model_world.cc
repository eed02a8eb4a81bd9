#include "manager/cache/testing/model/model_world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

constexpr std::array<std::string_view, 2> kReadVerbs = {"list", "watch"};
constexpr std::array<std::string_view, 1> kGroups = {kWidget.group};
constexpr std::array<std::string_view, 1> kPlurals = {kWidget.plural};
constexpr std::array<rbac::MandateRule, 1> kRules = {
    {{{kReadVerbs, kGroups, kPlurals, {}, {}}, "", false}}};
constexpr rbac::Mandate kReader = {"reader", kRules};

}  // namespace

const std::vector<WatchScope> kScopes = {{"", ""},     {"foo", ""},  {"bar", ""}, {"baz", ""},
                                         {"foo", "0"}, {"foo", "1"}, {"bar", "0"}};
const std::vector<ObjectKey> kKeys = {{"foo", "0"}, {"foo", "1"}, {"foo", "2"}, {"foo", "3"},
                                      {"bar", "0"}, {"bar", "1"}, {"bar", "2"}, {"baz", "0"}};

ModelWorld::ModelWorld(Config config)
    : random_(config.seed),
      options_{.loop = config.loop, .metrics = metrics_},
      loop_(config.loop),
      scopes_(std::move(config.scopes)),
      keys_(std::move(config.keys)),
      lateness_(config.lateness),
      violations_(loop_.clock()) {}

ModelWorld::~ModelWorld() { ReleaseAll(); }

void ModelWorld::CreateCache() { cache_ = *Cache::Create(options_); }

void ModelWorld::AddComponents(const std::vector<RestClient*>& inners) {
  components_.resize(inners.size());
  for (size_t i = 0; i < inners.size(); ++i) {
    Component& component = components_[i];
    component.name = std::string(inners[i]->component());
    component.client = std::make_unique<ObservedClient>(*inners[i], ledger_,
                                                        options_.reflector.watch_list ? 1 : 2);
    for (const WatchScope& scope : scopes_) {
      if (!scope.selector.empty()) component.client->TakeReviewsFor(scope);
    }
    component.client->OnSend([this, &component] { ReadInside(component, kKeys[0]); });
    component.view = &cache_->AddComponent(*component.client, kReader);
    component.probe_tokens = options_.probes.burst + options_.probes.hints.burst;
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

void ModelWorld::NoteOwnWrite(Component& writer, const ObjectKey& key, int version) {
  writer.client->own_writes().Wrote(kWidget, key, StrCat(version));
  writer.known[key].own_write = version;
}

std::unique_ptr<DemandOwners::Open> ModelWorld::Open(Component& component, const WatchScope& scope,
                                                     bool with_sink,
                                                     DemandOwners::OnEvent on_event) {
  // Its timers have run just before, so that they are not late.
  const bool has_closed = component.closed_now.erase(scope) > 0;
  const bool is_new = has_closed || !MayBeOpenFor(component, scope, absl::ZeroDuration());
  if (std::ranges::none_of(components_,
                           [&](const auto& c) { return MayBeOpenFor(c, scope, lateness_); })) {
    // A wider stream may serve the scope from where it is, which is behind the server.
    int began = ServerVersion();
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
                return ledger_.MayDeliver(component.name, by);
              });
            },
        .is_denied =
            [this, &component, scope] {
              return ledger_.Of(component.name, scope) == AccessLedger::Answer::kDenied;
            },
        .on_event =
            [this, &component, scope, on_event = std::move(on_event)](const ObjectEvent* event) {
              if (event != nullptr) Learn(component, scope, *event);
              if (on_event) on_event(event);
            }});
  }
  open->handle = component.view->Demand(scope.Spec(), open->sink);
  return open;
}

void ModelWorld::Close(Component& component, const WatchScope& scope,
                       std::unique_ptr<DemandOwners::Open> open) {
  if (--component.demands[scope] == 0) {
    component.demands.erase(scope);
    component.left_at[scope] = Now();
    // After the cache's own task. Without a time to linger it has ended the membership.
    if (options_.close_unused_watch_after <= absl::ZeroDuration()) {
      loop_.Post([&component, scope] {
        if (!component.demands.contains(scope)) component.closed_now.insert(scope);
      });
    }
  }
  if (open->sink != nullptr) ended_sinks_.push_back(open->sink);
  open->handle.reset();
}

ModelWorld::Static& ModelWorld::Demand(Component& component, const WatchScope& scope,
                                       bool with_sink) {
  statics_.push_back(std::make_unique<Static>(
      Static{&component, scope, Open(component, scope, with_sink, nullptr)}));
  return *statics_.back();
}

void ModelWorld::Release(size_t index) {
  Static& demand = *statics_[index];
  Close(*demand.component, demand.scope, std::move(demand.open));
  statics_.erase(statics_.begin() + static_cast<ptrdiff_t>(index));
}

void ModelWorld::ReleaseAll() {
  while (!statics_.empty()) Release(statics_.size() - 1);
  for (Component& component : components_) component.owners->ReleaseAll();
}

std::vector<ComponentDemand> ModelWorld::Demands() const {
  std::vector<ComponentDemand> demands;
  for (const Component& component : components_) {
    for (const auto& [scope, count] : component.demands) {
      demands.push_back({component.name, scope});
    }
  }
  return demands;
}

std::vector<WatchScope> ModelWorld::Serving(const Component& component,
                                            const WatchScope& scope) const {
  std::vector<WatchScope> serving = {scope};
  if (!covers()) return serving;
  const auto add = [&](const WatchScope& wide) {
    if (wide != scope && wide.Contains(scope)) serving.push_back(wide);
  };
  for (const auto& [wide, count] : component.demands) add(wide);
  // The cache hears of the end of a demand later in the same moment.
  for (const auto& [wide, when] : component.left_at) {
    if (Now() <= when + lateness_) add(wide);
  }
  return serving;
}

std::vector<WatchScope> ModelWorld::Covering(const Component& component,
                                             const ObjectKey& key) const {
  std::vector<WatchScope> covering;
  for (const auto& [scope, count] : component.demands) {
    if (scope.Covers(key)) covering.push_back(scope);
  }
  return covering;
}

bool ModelWorld::HasStream(const WatchScope& scope) {
  for (Component& component : components_) {
    for (const auto& open : component.client->open_watches()) {
      if (open->scope == scope && !open->renews && open->follows()) return true;
    }
  }
  return false;
}

bool ModelWorld::WaitsForAPlace() {
  return std::ranges::any_of(components_, [&](const Component& component) {
    return Gauge("mandate_cache_probes_waiting",
                 {{"identity", component.name}, {"reason", "first"}}) > 0;
  });
}

int ModelWorld::StreamBegan(const WatchScope& scope) const {
  const auto found = began_.find(scope);
  return found == began_.end() ? 0 : found->second;
}

bool ModelWorld::MayBeOpenFor(const Component& component, const WatchScope& scope,
                              absl::Duration lateness) const {
  if (component.demands.contains(scope)) return true;
  const auto left = component.left_at.find(scope);
  return left != component.left_at.end() &&
         Now() <= left->second + options_.close_unused_watch_after + lateness;
}

void ModelWorld::Learn(Component& component, const WatchScope& scope, const ObjectEvent& event) {
  const ObjectKey key = event.object->Key();
  Component::Known& known = component.known[key];
  if (event.type == ObjectEvent::Type::kDelete) {
    // Another selector may still match it.
    if (!scope.selector.empty()) return;
    known.gone_uid = std::string(event.object->uid());
  } else {
    known.version = std::max(known.version, VersionOf(*event.object));
  }
  ReadInside(component, key);
}

// No lock is held while the cache calls a sink or sends a request (I10): a read would never end.
void ModelWorld::ReadInside(Component& component, const ObjectKey& key) {
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
