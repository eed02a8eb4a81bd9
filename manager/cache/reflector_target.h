// What a reflector writes to.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/cache/field_index.h"

namespace mandate {

// The bytes of objects.
struct ObjectBytes {
  void Add(const RawObject& object) {
    stored += object.stored_size();
    encoded += object.size();
  }
  void Subtract(const RawObject& object) {
    stored -= object.stored_size();
    encoded -= object.size();
  }

  size_t stored = 0;   // as they are held: large ones are compressed
  size_t encoded = 0;  // as the server sent them
};

// The objects of one watch, as its reflector knows them. One thread writes.
class ReflectorTarget {
 public:
  struct Content {
    // If two objects have the same key, the last one counts.
    void Put(ObjectPtr object);

    ObjectSet objects;
    ObjectBytes bytes;
  };
  // The changes that a new content made.
  struct Replaced {
    std::vector<ObjectEvent> events;
    // Set if there are more events than requested: the former content, instead of the events.
    std::shared_ptr<const ObjectSet> before;
    // The server has gone back to an earlier version: it was restored from a backup.
    bool is_restored = false;
  };

  virtual ~ReflectorTarget() = default;

  // The form in which to put an object that has arrived: transformed, smaller, or the copy that is
  // here already.
  virtual ObjectPtr Pack(ObjectPtr object) { return object; }
  // The form in which to remove an object: with the name under which Pack() had it put.
  virtual ObjectPtr Trimmed(ObjectPtr object) const { return object; }

  // A read of the whole state begins, which ends with Replace(). `consistent`: its answer has all
  // that the server had committed before the request.
  virtual void BeginRead(bool /*consistent*/) {}
  // Makes `content` the content, as of `resource_version`, and returns the changes, including
  // deletes that no watch reported. An unchanged object stays the same copy. The first content
  // needs no comparison; each later one needs a comparison for each object.
  virtual Replaced Replace(Content content, std::string resource_version, size_t most_events) = 0;
  // A watch's ADDED or MODIFIED. No event for an object that is known already, or newer here.
  virtual std::vector<ObjectEvent> Put(ObjectPtr object) = 0;
  // A watch's DELETED. No event for an object that is not here, or is newer here.
  virtual std::vector<ObjectEvent> Remove(ObjectPtr object) = 0;
  // The version up to which the objects are known.
  virtual void SetResourceVersion(std::string resource_version) = 0;

  virtual size_t size() const = 0;
  virtual ObjectBytes bytes() const = 0;
};

}  // namespace mandate
