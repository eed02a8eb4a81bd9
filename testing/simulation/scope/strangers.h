// Plays people and programs that change the objects of the scope controllers, and that create
// objects which look like those.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <vector>

#include "testing/simulation/scope/cluster.h"
#include "testing/simulation/scope/dice.h"
#include "testing/simulation/scope/guardian.h"
#include "testing/simulation/scope/hold.h"
#include "testing/simulation/scope/tally.h"

namespace mandate::simulation {

// Single-threaded.
class Strangers {
 public:
  struct Parts {
    Cluster& cluster;
    Dice& dice;
    Tally& tally;
    Guardian& guardian;  // gets the foreign objects
    Held& held;          // gets the kept objects; all outlive this
  };
  explicit Strangers(Parts parts);

  // Makes one random change, if an object for it exists.
  void Act();
  // Deletes one of our objects of this kind that is not kept, if one exists.
  void DeleteOne(const apiserver::GroupResource& kind);
  // Releases the finalizers, owner references and names that the strangers keep.
  void Relent();

  // The keys under which Act() counts.
  static std::vector<std::string> Kinds();

 private:
  // One of our objects.
  struct Victim {
    apiserver::GroupResource kind;
    Json::Value object;
  };
  struct Kind;
  struct Foreign {
    apiserver::GroupResource kind;
    std::string ns, name;
  };

  static const std::vector<Kind>& AllKinds();
  std::vector<Victim> Victims(bool roles, bool bindings);
  void Delete(const Victim& victim);
  void Merge(const Victim& victim, const std::string& patch);
  void PutHold(const Victim& victim);
  Hold HoldOf(const Victim& victim);
  // Whether the object is kept already; then strangers do not change it.
  bool IsKept(const Victim& victim) const;

  // Deletes the victim's instance, which a finalizer keeps.
  void HoldInstance(const Victim& victim);
  void ReplaceOwner(const Victim& victim);
  void RemoveOwner(const Victim& victim);
  // The patch removes or replaces the owner: the object is no longer ours.
  void Disown(const Victim& victim, const std::string& patch);
  void AddFinalizer(const Victim& victim);
  void ReplaceRoleRef(const Victim& victim);
  void TakeName(const Victim& victim);
  void ForgeLabel(const Victim& victim);
  void CreateForeign(const apiserver::GroupResource& kind, const Json::Value& object);

  Cluster& cluster_;
  Dice& dice_;
  Tally& tally_;
  Guardian& guardian_;
  Held& held_;
  std::vector<Victim> kept_;
  std::vector<Foreign> foreign_;
  int serial_ = 0;
};

}  // namespace mandate::simulation
