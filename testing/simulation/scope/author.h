// Plays the users: creates, edits and deletes templates, instances and namespaces at random.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <vector>

#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/dice.h"
#include "testing/simulation/scope/tally.h"

namespace mandate::simulation {

// Single-threaded.
class Author {
 public:
  struct Options {
    int templates = 2;
    int instances = 3;
    int namespaces = 4;
  };

  // Creates the first half of the namespaces. `cluster`, `dice` and `tally` outlive this.
  Author(Options options, Cluster& cluster, Dice& dice, Tally& tally);

  // Makes one random change.
  void Act();
  // Adds or removes the label that selectors ask for, in a namespace that exists.
  void LabelNamespace();

  // The keys under which Act() counts.
  static std::vector<std::string> Kinds();

 private:
  // Makes a spec that the API server accepts and the controllers reject.
  void Invalidate(Json::Value& spec);
  Json::Value TemplateSpec();
  Json::Value Role(int index);
  Json::Value Subjects();
  Json::Value InstanceSpec();
  Json::Value Selector();

  void EditTemplate();
  void EditInstance();
  void EditNamespace();
  void Empty(const Json::Value& scope_template);
  void Narrow(const Json::Value& instance);
  // Creates the object, or replaces its spec.
  void Put(const apiserver::GroupResource& kind, const std::string& object_kind,
           const std::string& name, const Json::Value& spec, const std::string& what);

  const Options options_;
  Cluster& cluster_;
  Dice& dice_;
  Tally& tally_;
};

}  // namespace mandate::simulation
