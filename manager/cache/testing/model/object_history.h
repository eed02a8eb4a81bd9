// All states that the objects on the server ever had.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manager/cache/testing/model/watch_scope.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate::model {

using ObjectLabels = std::map<std::string, std::string>;

// The versions of objects, by key: "foo/x@7" in messages.
using Content = std::map<ObjectKey, int>;
std::string ToString(const Content& content);

int VersionOf(const RawObject& object);

// Written by the actor that writes to the server. The versions are the server's revisions.
class ObjectHistory {
 public:
  struct State {
    int version = 0;
    std::string uid;  // empty: deleted
    ObjectLabels labels;

    bool exists() const { return !uid.empty(); }
  };

  // The object exists from this version on; it is a new one if none existed before. Without a UID
  // it has that of the existing one, or the next one of WidgetServer.
  void Put(const ObjectKey& key, int version, const ObjectLabels& labels, std::string uid = "");
  // No effect if it does not exist.
  void Delete(const ObjectKey& key, int version);

  // Null: it does not exist now.
  const State* Now(const ObjectKey& key) const;
  // Null: no state has this version, or it is a deletion.
  const State* At(const ObjectKey& key, int version) const;
  // Whether the object did not exist at some version from `version` on.
  bool WasAbsentSince(const ObjectKey& key, int version) const;
  // The objects that exist now, and match the scope and its selector.
  Content Of(const WatchScope& scope) const;
  int version() const { return version_; }

 private:
  std::map<ObjectKey, std::vector<State>> states_;  // oldest first
  int version_ = 0;
  int created_ = 0;
};

// Whether a selector in the syntax of queries matches.
bool Selects(const std::string& selector, const ObjectLabels& labels);

}  // namespace mandate::model
