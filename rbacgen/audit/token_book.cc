#include "rbacgen/audit/token_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/audit/identity_names.h"

namespace mandate::rbacgen {
namespace {

// The maximum number of addresses that are kept for one token or pod; two are already suspicious.
constexpr size_t kMaxPlaces = 4;
// A pod whose requests cover no more time than this may not have requested the Lease yet.
constexpr absl::Duration kSettled = absl::Minutes(1);

absl::Time TimeOf(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::InfinitePast();
  return time;
}

// RFC 3339 texts sort like their times, except texts that are not times.
void Widen(const std::string& when, std::string* first, std::string* last) {
  if (when.empty()) return;
  if (first->empty() || when < *first) *first = when;
  if (when > *last) *last = when;
}

}  // namespace

std::string TokenBook::Place::ToString() const {
  return StrCat(address, " (first at ", when, ", audit id ", audit_id, ")");
}

bool TokenBook::IsBase(const std::string& username) const {
  return ComponentOfUsername(username, options_.ns, options_.base_name) == kBaseComponent;
}

void TokenBook::AddPlace(const AuditEvent& event, std::vector<Place>* places) {
  const auto known = std::ranges::find(*places, event.source, &Place::address);
  if (known == places->end()) {
    if (event.source.empty() || places->size() >= kMaxPlaces) return;
    places->push_back({event.source, event.received, event.audit_id, event.received});
    return;
  }
  if (event.received < known->when) {
    known->when = event.received;
    known->audit_id = event.audit_id;
  }
  known->last = std::max(known->last, event.received);
}

void TokenBook::NoteIssued(const AuditEvent& event) {
  if (event.issued_credential_id.empty() || event.resource != "serviceaccounts" ||
      event.subresource != "token") {
    return;
  }
  // Only the manager's tokens count; those of kubelets and of other users would fill the table.
  const bool ours =
      event.ns == options_.ns && ComponentOfAccount(event.name, options_.base_name).has_value();
  if (!ours) return;
  if (issued_.size() >= options_.max_credentials) {
    issued_left_out_ = issued_left_out_ || !issued_.contains(event.issued_credential_id);
    return;
  }
  const std::string process = !event.pod_uid.empty()         ? event.pod_uid
                              : event.credential_ids.empty() ? ""
                                                             : event.credential_ids.front();
  issued_.emplace(event.issued_credential_id,
                  Issued{StrCat(event.ns, "/", event.name), event.user(), event.received,
                         event.source, process});
}

bool TokenBook::NoteUse(const AuditEvent& event, const std::string& id,
                        const std::string& component) {
  if (used_.size() >= options_.max_credentials && !used_.contains(id)) {
    used_left_out_ = true;
    return false;
  }
  Used& used = used_[id];
  if (used.component.empty()) used.component = component;
  if (used.pod.empty()) used.pod = event.pod_name;
  Widen(event.received, &used.first, &used.last);
  AddPlace(event, &used.places);
  return true;
}

void TokenBook::NoteBase(const AuditEvent& event) {
  if (holders_.size() >= options_.max_pods && !holders_.contains(event.pod_uid)) return;
  Holder& holder = holders_[event.pod_uid];
  holder.pod_name = event.pod_name;
  holder.leads = holder.leads || event.resource == "leases";
  holder.mints = holder.mints || event.subresource == "token";
  ++holder.requests;
  Widen(event.received, &holder.first, &holder.last);
  AddPlace(event, &holder.places);
}

std::vector<TokenOrigin> TokenBook::Tokens() const {
  std::vector<TokenOrigin> tokens;
  for (const auto& [id, used] : used_) {
    if (used.component.empty() || used.component == kBaseComponent) continue;
    TokenOrigin& token = tokens.emplace_back();
    token.credential_id = id;
    token.component = used.component;
    const auto found = issued_.find(id);
    if (found == issued_.end()) continue;
    token.joined = true;
    token.issued_to = found->second.to;
    token.issued_by = found->second.by;
    token.when = found->second.when;
  }
  std::ranges::sort(tokens, [](const TokenOrigin& a, const TokenOrigin& b) {
    return std::tie(a.component, a.when, a.credential_id) <
           std::tie(b.component, b.when, b.credential_id);
  });
  return tokens;
}

std::set<std::string> TokenBook::IssuedTo() const {
  std::set<std::string> accounts;
  for (const auto& [id, issued] : issued_) {
    if (IsBase(issued.by)) accounts.insert(issued.to);
  }
  return accounts;
}

int64_t TokenBook::unused() const {
  return std::ranges::count_if(issued_, [&](const auto& entry) {
    return IsBase(entry.second.by) && !used_.contains(entry.first);
  });
}

bool TokenBook::IsElsewhere(const std::string& a, const std::string& b) const {
  return AreElsewhere(a, b, options_.addresses);
}

void TokenBook::Check(const Find& find) const {
  for (const auto& [id, used] : used_) {
    if (used.component.empty() || used.component == kBaseComponent) continue;
    JudgeOrigin(id, used, find);
    JudgePlaces(id, used, find);
  }
  JudgeOverlaps(find);
  JudgeHolders(find);
}

void TokenBook::JudgeOrigin(const std::string& id, const Used& used, const Find& find) const {
  const auto found = issued_.find(id);
  if (found == issued_.end()) {
    if (issued_left_out_) return;
    find("token-origin", StrCat("credential id ", id, " of ", used.component,
                                ": no TokenRequest in this log issued it"));
  } else if (!IsBase(found->second.by)) {
    find("token-origin", StrCat("credential id ", id, " of ", used.component,
                                " was not issued by base but by ", found->second.by));
  }
}

void TokenBook::JudgePlaces(const std::string& id, const Used& used, const Find& find) const {
  if (!used.pod.empty()) {
    find("component-pod",
         StrCat("credential id ", id, " of ", used.component, " is bound to the pod ", used.pod,
                ": base never requests tokens that are bound to pods"));
  }
  const auto issued = issued_.find(id);
  for (const Place& place : used.places) {
    if (issued != issued_.end() && IsBase(issued->second.by)) {
      if (!IsElsewhere(issued->second.address, place.address)) continue;
      find("component-address",
           StrCat("credential id ", id, " of ", used.component, " was requested from ",
                  issued->second.address, " and used from ", place.ToString()));
      continue;
    }
    // The addresses of base's requests show where the manager is.
    bool here = false, elsewhere = false;
    for (const auto& [uid, holder] : holders_) {
      for (const Place& base : holder.places) {
        const bool differ = IsElsewhere(base.address, place.address);
        here = here || !differ;
        elsewhere = elsewhere || differ;
      }
    }
    if (here || !elsewhere) continue;
    find("component-address",
         StrCat("credential id ", id, " of ", used.component, " was used from ", place.ToString(),
                ", an address that base did not use"));
  }
}

// A process uses the newest token for every new request. A second process, in another pod, has its
// own tokens.
void TokenBook::JudgeOverlaps(const Find& find) const {
  struct Life {
    std::string id, issued;
    const Used* used;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Life>> lives;
  for (const auto& [id, used] : used_) {
    const auto issued = issued_.find(id);
    if (issued == issued_.end() || !IsBase(issued->second.by)) continue;
    if (used.component.empty() || used.component == kBaseComponent) continue;
    lives[{used.component, issued->second.process}].push_back({id, issued->second.when, &used});
  }
  for (auto& [key, tokens] : lives) {
    std::ranges::sort(tokens, {}, [](const Life& life) { return std::tie(life.issued, life.id); });
    const Life* longest = nullptr;
    for (const Life& token : tokens) {
      if (longest != nullptr &&
          TimeOf(longest->used->last) > TimeOf(token.used->first) + options_.overlap) {
        find("two-tokens",
             StrCat("two tokens of ", key.first, " were used at the same time: credential id ",
                    longest->id, " (requested ", longest->issued, ", last used ",
                    longest->used->last, ") and credential id ", token.id, " (first used ",
                    token.used->first, ")"));
      }
      if (longest == nullptr || token.used->last > longest->used->last) longest = &token;
    }
  }
}

void TokenBook::JudgeHolders(const Find& find) const {
  const bool any_pod =
      std::ranges::any_of(holders_, [](const auto& h) { return !h.first.empty(); });
  const bool any_leads =
      std::ranges::any_of(holders_, [](const auto& h) { return h.second.leads; });
  for (const auto& [uid, holder] : holders_) {
    const std::string whose =
        uid.empty() ? "base's token, which is not bound to a pod,"
                    : StrCat("base's token of the pod ", holder.pod_name, " (UID ", uid, ")");
    const std::string where =
        StrCat(" was used from ",
               holder.places.empty() ? "an unknown address" : holder.places.front().ToString());
    const absl::Duration lived = TimeOf(holder.last) - TimeOf(holder.first);
    if (uid.empty() && any_pod) {
      find("base-pod", StrCat(whose, where, ", but the manager's tokens are bound to its pods"));
    } else if (!uid.empty() && !holder.pod_name.starts_with(options_.base_name + "-")) {
      find("base-pod",
           StrCat(whose, where, "; the manager's pods are named ", options_.base_name, "-…"));
    } else if (any_leads && holder.mints && !holder.leads && lived > kSettled) {
      find("base-pod", StrCat(whose, where,
                              " and requested tokens of components, but never the Lease, which the "
                              "manager also uses"));
    }
    // A pod that restarts on its node may have another address afterwards.
    std::vector<Place> places = holder.places;
    std::ranges::sort(places, {}, &Place::when);
    for (size_t i = 1; i < places.size(); ++i) {
      const auto differs = [&](const Place& p) {
        return p.last > places[i].when && IsElsewhere(p.address, places[i].address);
      };
      const auto earlier = std::find_if(places.begin(), places.begin() + i, differs);
      if (earlier == places.begin() + i) continue;
      find("base-address", StrCat(whose, " was used from ", earlier->ToString(), " and from ",
                                  places[i].ToString()));
    }
  }
}

}  // namespace mandate::rbacgen
