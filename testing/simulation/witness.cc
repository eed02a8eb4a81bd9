#include "testing/simulation/witness.h"

#include <cstdlib>
#include <set>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using apiserver::Change;
using Type = ObjectEvent::Type;

ObjectKey KeyOf(const Change& change) { return {change.object->ns, change.object->name}; }

int64_t RevisionOf(const RawObject& object) {
  return std::strtoll(std::string(object.resource_version()).c_str(), nullptr, 10);
}

// The event type of a watch.
Type TypeOf(const Change& change) {
  switch (change.type) {
    case Change::Type::kAdded:
      return Type::kAdd;
    case Change::Type::kModified:
      return Type::kUpdate;
    case Change::Type::kDeleted:
      return Type::kDelete;
  }
  return Type::kAdd;
}

const char* Name(Type type) {
  return type == Type::kAdd ? "add" : type == Type::kUpdate ? "update" : "delete";
}

}  // namespace

void Witness::OnEvent(const ObjectEvent& event) {
  told_.push_back({event.type, event.object->Key(), std::string(event.object->uid()),
                   RevisionOf(*event.object), event.initial});
}

void Witness::OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) {
  for (const auto& object : objects) {
    told_.push_back({Type::kDelete, object->Key(), std::string(object->uid()), RevisionOf(*object),
                     /*initial=*/false, /*purged=*/true});
  }
}

std::vector<const Change*> Witness::Scoped(const std::vector<Change>& history) const {
  std::vector<const Change*> scoped;
  for (const Change& change : history) {
    if (InScope(change)) scoped.push_back(&change);
  }
  return scoped;
}

std::vector<std::string> Witness::Check(const std::vector<Change>& history, bool unbroken) const {
  std::vector<std::string> wrong;
  const std::vector<const Change*> scoped = Scoped(history);
  std::set<std::pair<ObjectKey, int64_t>> written;  // objects as they were
  State now;
  for (const Change* change : scoped) {
    if (change->type == Change::Type::kDeleted) {
      now.erase(KeyOf(*change));
    } else {
      now[KeyOf(*change)] = change->object->revision;
    }
    written.emplace(KeyOf(*change), change->object->revision);
  }

  State seen;
  for (const Told& told : told_) {
    const std::string what =
        StrCat(Name(told.type), " of ", told.key.ToString(), " at ", told.revision);
    if (!written.contains({told.key, told.revision})) wrong.push_back(StrCat(what, " never was"));
    const auto before = seen.find(told.key);
    if (told.type == Type::kAdd) {
      if (before != seen.end()) wrong.push_back(StrCat(what, ": it was there"));
    } else if (before == seen.end()) {
      wrong.push_back(StrCat(what, ": it was not there"));
    } else if (told.revision < before->second ||
               (told.type == Type::kUpdate && told.revision == before->second)) {
      wrong.push_back(StrCat(what, " after ", before->second));
    }
    if (told.type == Type::kDelete) {
      seen.erase(told.key);
    } else {
      seen[told.key] = told.revision;
    }
  }
  for (const auto& [key, revision] : now) {
    const auto found = seen.find(key);
    if (found == seen.end() || found->second != revision) {
      wrong.push_back(StrCat(key.ToString(), " at ", revision, " is lost"));
    }
  }
  for (const auto& [key, revision] : seen) {
    if (!now.contains(key)) wrong.push_back(StrCat("the end of ", key.ToString(), " is lost"));
  }
  if (!unbroken) return wrong;

  // The changes of each object after its initial state; without one, after the first event.
  std::map<ObjectKey, std::vector<const Told*>> news;
  State start;
  for (const Told& told : told_) {
    if (told.initial || told.purged) {
      start[told.key] = told.revision;
    } else {
      news[told.key].push_back(&told);
      start.emplace(told.key, told.revision - 1);
    }
  }
  for (const auto& [key, events] : news) {
    auto event = events.begin();
    for (const Change* change : scoped) {
      if (KeyOf(*change) != key || change->object->revision <= start[key]) continue;
      const std::string expected =
          StrCat(Name(TypeOf(*change)), " of ", key.ToString(), " at ", change->object->revision);
      if (event == events.end()) {
        wrong.push_back(StrCat("no event for the ", expected));
        break;
      }
      const Told& told = **event++;
      if (TypeOf(*change) != told.type || change->object->revision != told.revision) {
        wrong.push_back(StrCat("told the ", Name(told.type), " at ", told.revision,
                               ", but next was the ", expected));
        break;
      }
    }
  }
  return wrong;
}

}  // namespace mandate
