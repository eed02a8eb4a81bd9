#include "testing/simulation/scope/run.h"

#include <functional>
#include <utility>

#include "controllers/scope/mandates.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::simulation {
namespace {

using apiserver::GroupResource;

constexpr const char* kLateDeletion = "kill: a deletion arrives after its object was created again";
constexpr const char* kBlind = "kill: a kind may not be read by the next process";
constexpr const char* kDeaths[] = {"kill: request lost", "kill: answer lost",
                                   "kill: request delayed past the death"};

// The longest time until the declared state is reached without further disturbance: a stalled watch
// ends by its own timeout after ten minutes.
constexpr absl::Duration kCalm = absl::Minutes(15);
// The time after which nothing is written any more.
constexpr absl::Duration kSilence = absl::Minutes(2);
constexpr absl::Duration kLongSilence = absl::Minutes(30);

}  // namespace

Run::Options Run::OptionsOf(uint64_t seed) {
  Options options;
  options.seed = seed;
  options.prompt = seed % 2 == 1;
  options.strangers = seed % 4 >= 2;
  options.troubles = seed % 8 != 0;
  if (seed % 16 == 5) options.author = {.templates = 4, .instances = 50, .namespaces = 6};
  if (seed % 16 == 9) options.author = {.templates = 1, .instances = 1, .namespaces = 2};
  if (seed % 16 == 5) options.steps = 90;
  return options;
}

Run::Run(const Options& options, Tally& tally)
    : options_(options),
      tally_(tally),
      dice_(options.seed),
      cluster_(loop_, options.seed),
      aggregator_(cluster_),
      guardian_(cluster_, options.prompt),
      author_(options.author, cluster_, dice_, tally),
      strangers_({cluster_, dice_, tally, guardian_, held_}),
      troubles_({.prompt = options.prompt}, cluster_, dice_, tally),
      checker_(cluster_, held_) {
  Spawn();
}

Run::~Run() {
  process_->Kill();
  // Delayed requests must arrive while the server exists.
  loop_.RunFor(absl::Minutes(2));
}

void Run::Go() {
  for (int step = 0; step < options_.steps && wrong_.empty(); ++step) {
    Step();
    if (dice_.OneIn(10)) Check();
  }
  if (!wrong_.empty()) return;
  Check();
  if (wrong_.empty()) EditInCalm();
  // Objects that strangers hold are not revoked.
  if (!options_.strangers && wrong_.empty()) NarrowWhileBlind();
  // Once the strangers let go, none of their changes remains.
  if (options_.strangers && wrong_.empty()) {
    strangers_.Relent();
    Check();
  }
  if (wrong_.empty()) CheckSilence(kLongSilence);
  tally_["roles and grants compared"] += checker_.compared();
  tally_["writes"] += guardian_.writes();
  tally_["requests judged"] += guardian_.requests();
}

void Run::Step() {
  if (dice_.OneIn(12)) DelayDeletion();
  if (dice_.OneIn(3)) Endanger();
  if (options_.troubles && dice_.OneIn(2)) troubles_.Strike();
  if (options_.strangers && dice_.OneIn(3)) {
    strangers_.Act();
  } else {
    author_.Act();
  }
  loop_.RunFor(dice_.UpTo(dice_.OneIn(8) ? absl::Seconds(60) : absl::Seconds(1)));
  troubles_.Pass();
  if (process_->wire().dead()) {
    Kill();
    Spawn();
  }
  if (aggregator_.writes() >= Aggregator::kTooMany) {
    wrong_.push_back("a write fight with the aggregation controller");
  }
}

void Run::Spawn() {
  process_ = std::make_unique<Process>(Process::Options{.loop = loop_,
                                                        .server = cluster_.server().transport(),
                                                        .seed = dice_.Seed(),
                                                        .ns = kManagerNamespace,
                                                        .base_token = kBaseToken});
}

void Run::Kill() {
  process_->Kill();
  dead_.push_back(std::move(process_));
}

void Run::Endanger() {
  const int how = dice_.Pick(3);
  process_->wire().DieAt(1 + dice_.Pick(6), static_cast<Wire::Death>(how),
                         dice_.UpTo(absl::Minutes(1)), [this, how] { tally_[kDeaths[how]]++; });
}

void Run::DelayDeletion() {
  for (const Json::Value& instance : cluster_.List(Instances())) {
    const Json::Value& all = instance["spec"]["namespaces"];
    const std::string name = instance["metadata"]["name"].asString();
    if (all.size() < 2 || instance["metadata"].isMember("deletionTimestamp")) continue;
    Json::Value patch;
    for (Json::ArrayIndex i = 1; i < all.size(); ++i) patch["spec"]["namespaces"].append(all[i]);
    process_->wire().DieAt(1, Wire::Death::kRequestDelayed, absl::Seconds(20));
    cluster_.Merge(Instances(), "", name, WriteJson(patch));
    loop_.RunFor(absl::Milliseconds(500));
    if (!process_->wire().dead()) return process_->wire().Spare();
    Kill();
    Spawn();
    loop_.RunFor(absl::Seconds(5));
    patch["spec"]["namespaces"] = all;
    cluster_.Merge(Instances(), "", name, WriteJson(patch));
    loop_.RunFor(absl::Seconds(30));
    tally_[kLateDeletion]++;
    return;
  }
}

void Run::Calm() {
  process_->wire().Spare();
  if (process_->wire().dead()) {
    Kill();
    Spawn();
  }
  troubles_.Heal();
  loop_.RunFor(kCalm);
}

void Run::Check() {
  Calm();
  tally_["checks"]++;
  if (const absl::Status ready = process_->Ready(); !ready.ok()) {
    wrong_.push_back(StrCat("not ready: ", AsStd(ready.message())));
  }
  Compare();
  CheckSilence(kSilence);
  for (const std::string& wrong : guardian_.wrong()) wrong_.push_back(wrong);
}

void Run::EditInCalm() {
  std::vector<std::function<void()>> edits;
  for (const GroupResource* kind : {&ClusterRoles(), &RoleBindings(), &ClusterRoleBindings()}) {
    edits.emplace_back([this, kind] { strangers_.DeleteOne(*kind); });
  }
  for (int i = 0; i < 2; ++i) edits.emplace_back([this] { author_.LabelNamespace(); });
  for (int i = 0; i < 4; ++i) edits.emplace_back([this] { author_.Act(); });
  if (options_.strangers) {
    for (int i = 0; i < 4; ++i) edits.emplace_back([this] { strangers_.Act(); });
  }
  for (const auto& edit : edits) {
    edit();
    loop_.RunFor(kSilence);
    Compare();
    if (!wrong_.empty()) return;
  }
}

void Run::NarrowWhileBlind() {
  const std::vector<std::string> kinds = {"namespaces", "clusterroles", "scopetemplates"};
  for (const Json::Value& instance : cluster_.List(Instances())) {
    const Json::Value& spec = instance["spec"];
    // The namespaces of a selector are not known.
    if (spec["namespaces"].size() < 2 || spec.isMember("namespaceSelector")) continue;
    if (instance["metadata"].isMember("deletionTimestamp")) continue;
    Json::Value patch;
    patch["spec"]["namespaces"].append(spec["namespaces"][0]);
    const std::string kind = dice_.OneOf(kinds);
    cluster_.Grant(kScopeInstance, "list", kind);
    Kill();
    Spawn();
    cluster_.Merge(Instances(), "", instance["metadata"]["name"].asString(), WriteJson(patch));
    loop_.RunFor(absl::Minutes(1));
    for (const Json::Value& binding : cluster_.List(RoleBindings())) {
      const Json::Value& metadata = binding["metadata"];
      if (ControllerOf(binding, "ScopeInstance") == instance["metadata"]["uid"].asString() &&
          metadata["namespace"] != spec["namespaces"][0]) {
        wrong_.push_back(
            StrCat("without ", kind, " it still grants in ", metadata["namespace"].asString()));
      }
    }
    cluster_.Grant(kScopeInstance);
    tally_[kBlind]++;
    return Check();
  }
}

void Run::Compare() {
  for (std::string& wrong : checker_.Differences()) wrong_.push_back(std::move(wrong));
}

void Run::CheckSilence(absl::Duration span) {
  const int64_t before = guardian_.writes();
  loop_.RunFor(span);
  if (guardian_.writes() != before) {
    wrong_.push_back(
        StrCat("converged, and ", guardian_.writes() - before, " writes all the same"));
  }
}

std::vector<std::string> Run::Kinds() {
  std::vector<std::string> kinds = Author::Kinds();
  kinds.insert(kinds.end(), std::begin(kDeaths), std::end(kDeaths));
  kinds.emplace_back(kLateDeletion);
  kinds.emplace_back(kBlind);
  for (std::string& kind : Troubles::Kinds()) kinds.push_back(std::move(kind));
  for (std::string& kind : Strangers::Kinds()) kinds.push_back(std::move(kind));
  return kinds;
}

}  // namespace mandate::simulation
