// What strangers keep alive or out of reach.
#ifndef TESTING_SIMULATION_SCOPE_HOLD_H_
#define TESTING_SIMULATION_SCOPE_HOLD_H_

#include <map>
#include <string>

namespace mandate::simulation {

// Why the controllers cannot make an object what it should be.
struct Keeping {
  // The template or instance for which the object was made.
  std::string owner_uid;
  // Somebody else's object under a name of ours; else ours, with a finalizer or another owner.
  bool impostor = false;
  // Of a binding: the template whose role it grants. The role is not made again while this stands.
  std::string template_uid = {};
  // Of a binding: the instance. Another one of its name may report what its predecessor left.
  std::string owner_name = {};
  // Of a binding: it has lost its owner, and its instance takes it back, unless the instance goes
  // first. Others may go on changing it.
  bool loose = false;
};

// By the object's UID.
using Held = std::map<std::string, Keeping>;

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_HOLD_H_
