#include "rbacgen/audit/suggestion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

// The maximum number of namespaces for one operation. An operation in more of them is assumed to
// have namespaces that are not known beforehand.
constexpr size_t kMaxNamespaces = 8;

// An edit of one file: the number of lines to remove, and the lines to insert instead.
struct Edit {
  int count = 0;  // the number of old lines; 0: insert after the line
  std::vector<std::string> lines;
};
using Edits = std::map<int, Edit>;

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t feed = text.find('\n');
    lines.emplace_back(text.substr(0, feed));
    text.remove_prefix(feed == text.npos ? text.size() : feed + 1);
  }
  return lines;
}

// The number of lines of the marker that begins at line `first` (from 1): an open string continues
// on the next line.
int SpanOf(const std::vector<std::string>& lines, int first) {
  std::string whole;
  int count = 0;
  for (size_t i = first - 1; i < lines.size(); ++i) {
    whole += lines[i].substr(std::min(lines[i].find("//"), lines[i].size()));
    ++count;
    if (!HasOpenString(whole)) break;
  }
  return count;
}

std::string Joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& v : values) StrAppend(&text, text.empty() ? "" : ";", v);
  return text;
}

std::string Unified(const std::string& file, const std::vector<std::string>& lines,
                    const Edits& edits) {
  std::string text = StrCat("--- ", file, "\n+++ ", file, "\n");
  int shift = 0;
  const auto range = [](int line, int count) {
    return count == 1 ? std::to_string(line) : StrCat(line, ",", count);
  };
  for (const auto& [line, edit] : edits) {
    const int added = static_cast<int>(edit.lines.size());
    const int start = line + shift + (edit.count == 0 ? 1 : 0) - (added == 0 ? 1 : 0);
    StrAppend(&text, "@@ -", range(line, edit.count), " +", range(start, added), " @@\n");
    for (int i = 0; i < edit.count; ++i) StrAppend(&text, "-", lines[line - 1 + i], "\n");
    for (const std::string& l : edit.lines) StrAppend(&text, "+", l, "\n");
    shift += added - edit.count;
  }
  return text;
}

// The namespaces for which a marker should allow it; "" is all namespaces.
std::set<std::string> NamespacesFor(const Unexplained& used) {
  const bool everywhere = used.namespaces.size() > kMaxNamespaces || used.namespaces.contains("");
  // The names come from a log and go into source code, so invalid namespace names are omitted.
  std::set<std::string> namespaces;
  if (everywhere) return {""};
  for (const std::string& ns : used.namespaces) {
    if (CheckDnsLabel(ns).ok()) namespaces.insert(ns);
  }
  return namespaces;
}

// Whether a name from a log may be written into source code. A client can put anything into a path
// or a method, for example a line feed or another argument of the marker.
bool IsWord(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-/") == name.npos;
}

class Suggester {
 public:
  Suggester(const FourWayReport& report, const Sources& sources) : sources_(sources) {
    std::map<std::string, std::set<rbac::Rule>> needed;
    for (const FourWayIdentity& identity : report.identities) {
      for (const FourWayRow& row : identity.rows) {
        // A log without requests of the identity does not show which rules it needs.
        const bool unused =
            identity.requests > 0 && row.verdict == Verdict::kUnused && !row.implicit;
        for (const std::string& place : row.declared) {
          (unused ? unused_ : needed)[place].insert(row.rule);
        }
      }
    }
    // A marker for several namespaces has several rows.
    for (auto& [place, rules] : unused_) {
      const auto& of_place = needed[place];
      std::erase_if(rules, [&](const rbac::Rule& rule) { return of_place.contains(rule); });
    }
  }

  // The edit of one marker: nullopt if nothing changes; without lines if the marker is removed.
  std::optional<Edit> Shrink(const Declaration& d, const std::vector<std::string>& lines) const {
    const auto unused = unused_.find(d.place.ToString());
    if (unused == unused_.end() || !d.rule.non_resource_urls.empty()) return std::nullopt;
    const auto used = [&](const std::string& verb, const std::string& resource) {
      return std::ranges::any_of(d.rule.api_groups, [&](const std::string& group) {
        rbac::Rule atom = {{verb}, {group == "core" ? "" : group}, {resource}, {}, {}};
        if (d.rule.resource_names.empty()) return !unused->second.contains(atom);
        return std::ranges::any_of(d.rule.resource_names, [&](const std::string& name) {
          atom.resource_names = {name};
          return !unused->second.contains(atom);
        });
      });
    };
    std::vector<std::string> resources, verbs;
    for (const std::string& resource : d.rule.resources) {
      if (std::ranges::any_of(d.rule.verbs, [&](const auto& v) { return used(v, resource); })) {
        resources.push_back(resource);
      }
    }
    for (const std::string& verb : d.rule.verbs) {
      if (std::ranges::any_of(resources, [&](const auto& r) { return used(verb, r); })) {
        verbs.push_back(verb);
      }
    }
    if (resources == d.rule.resources && verbs == d.rule.verbs) return std::nullopt;
    Edit edit = {SpanOf(lines, d.place.line), {}};
    if (verbs.empty()) return edit;
    for (int i = 0; i < edit.count; ++i) {
      std::string line = lines[d.place.line - 1 + i];
      line = ReplaceArgument(line, "verbs", verbs);
      edit.lines.push_back(ReplaceArgument(line, "resources", resources));
    }
    return edit;
  }

  // New markers for the rights that a component used, and the lines after which they go.
  std::map<std::string, Edits> Additions(const Ledger& ledger) const {
    std::map<std::string, Edits> additions;
    for (const auto& [component, identity] : ledger.identities()) {
      const Place* last = nullptr;
      for (const Declaration& d : sources_.declarations) {
        if (d.component == component) last = &d.place;
      }
      if (last == nullptr) continue;
      // The verbs by group, resource and namespace.
      std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> verbs;
      for (const auto& [key, u] : identity.undeclared) {
        if (!u.example.is_resource_request) continue;
        const std::string resource = u.example.subresource.empty()
                                         ? u.example.resource
                                         : StrCat(u.example.resource, "/", u.example.subresource);
        if (!IsWord(u.example.api_group) || !IsWord(resource) || !IsWord(u.example.verb)) continue;
        for (const std::string& ns : NamespacesFor(u)) {
          verbs[{u.example.api_group, resource, ns}].insert(u.example.verb);
        }
      }
      // A marker without a namespace applies in every namespace.
      for (auto& [target, its] : verbs) {
        const auto& [group, resource, ns] = target;
        const auto everywhere = verbs.find({group, resource, ""});
        if (ns.empty() || everywhere == verbs.end()) continue;
        for (const std::string& verb : everywhere->second) its.erase(verb);
      }
      std::erase_if(verbs, [](const auto& entry) { return entry.second.empty(); });
      if (verbs.empty()) continue;
      Edit& edit = additions[last->file][last->line];
      for (const auto& [target, its] : verbs) {
        const auto& [group, resource, ns] = target;
        edit.lines.push_back(StrCat("// +kubebuilder:rbac:groups=", group.empty() ? "core" : group,
                                    ",resources=", resource,
                                    ",verbs=", Joined({its.begin(), its.end()}),
                                    ns.empty() ? "" : StrCat(",namespace=", ns)));
      }
    }
    return additions;
  }

  const Sources& sources_;
  std::map<std::string, std::set<rbac::Rule>> unused_;  // by the marker's place
};

}  // namespace

std::string ReplaceArgument(const std::string& marker, const std::string& argument,
                            const std::vector<std::string>& values) {
  size_t at = std::string::npos;
  for (const char before : {',', ':'}) {
    const std::string lead = std::string(1, before) + argument + "=";
    if (const size_t found = marker.rfind(lead); found != marker.npos) {
      at = found + lead.size();
      break;
    }
  }
  if (at == std::string::npos) return marker;
  size_t end = at;
  for (int depth = 0; end < marker.size(); ++end) {
    if (marker[end] == '{') ++depth;
    if (marker[end] == '}') --depth;
    if (marker[end] == ',' && depth <= 0) break;
  }
  return marker.substr(0, at) + Joined(values) + marker.substr(end);
}

std::string SuggestMarkers(
    const FourWayReport& report, const Ledger& ledger, const Sources& sources,
    const std::function<absl::StatusOr<std::string>(const std::string& file)>& read) {
  const Suggester suggester(report, sources);
  std::map<std::string, Edits> additions = suggester.Additions(ledger);
  std::set<std::string> files;
  for (const Declaration& d : sources.declarations) files.insert(d.place.file);
  std::string text;
  for (const std::string& file : files) {
    const auto content = read(file);
    if (!content.ok()) continue;
    const std::vector<std::string> lines = Lines(*content);
    Edits edits;
    std::set<int> seen;  // a marker for several namespaces has several declarations
    for (const Declaration& d : sources.declarations) {
      if (d.place.file != file || !seen.insert(d.place.line).second) continue;
      if (auto edit = suggester.Shrink(d, lines)) edits[d.place.line] = *std::move(edit);
    }
    for (auto& [line, edit] : additions[file]) {
      const int after = line + SpanOf(lines, line) - 1;
      if (const auto known = edits.find(line); known != edits.end()) {
        known->second.lines.insert(known->second.lines.end(), edit.lines.begin(), edit.lines.end());
      } else {
        edits[after] = edit;
      }
    }
    if (!edits.empty()) text += Unified(file, lines, edits);
  }
  return text;
}

}  // namespace mandate::rbacgen
