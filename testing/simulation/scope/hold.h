// Objects that strangers keep alive or out of reach.
#pragma once

#include <map>
#include <string>

namespace mandate::simulation {

// Why the controllers cannot bring an object to its desired state.
struct Hold {
  // The template or instance for which the object was made.
  std::string owner_uid;
  // True for a foreign object with a name of one of our objects; false for our object with a
  // finalizer or another owner.
  bool impostor = false;
  // For a binding, the template whose role it grants. The role is not created again while the
  // binding exists.
  std::string template_uid = {};
  // For a binding, the name of its instance. A later instance of that name may report the binding.
  std::string owner_name = {};
  // Whether it is a binding that lost its owner reference. Its instance adopts it again unless the
  // instance is deleted first. Strangers may still change it.
  bool loose = false;
};

// By the object's UID.
using Held = std::map<std::string, Hold>;

}  // namespace mandate::simulation
