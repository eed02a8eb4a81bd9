#include "testing/conformance/row_parser.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::conformance {
namespace {

// Thrown and caught only within this file.
struct Bad {
  YAML::Mark mark;
  std::string what;
};

[[noreturn]] void Fail(const YAML::Node& node, std::string what) {
  throw Bad{node.Mark(), std::move(what)};
}

const std::map<std::string, const char*>& ContentTypes() {
  static const auto& all = *new std::map<std::string, const char*>{
      {"json", "application/json"},
      {"yaml", "application/yaml"},
      {"cbor", "application/cbor"},
      {"protobuf", "application/vnd.kubernetes.protobuf"},
      {"merge", "application/merge-patch+json"},
      {"jsonpatch", "application/json-patch+json"},
      {"strategic", "application/strategic-merge-patch+json"},
      {"apply", "application/apply-patch+yaml"}};
  return all;
}

std::string ContentType(const std::string& name) {
  const auto known = ContentTypes().find(name);
  return known == ContentTypes().end() ? name : known->second;
}

// The patch types, by their name in a step.
const std::map<std::string, const char*>& Patches() {
  static const auto& all = *new std::map<std::string, const char*>{{"MERGE", "merge"},
                                                                   {"JSONPATCH", "jsonpatch"},
                                                                   {"STRATEGIC", "strategic"},
                                                                   {"APPLY", "apply"}};
  return all;
}

// Reads a code, reason and message, such as "404 NotFound pods \"a\" not found".
void ReadStatus(const YAML::Node& node, Expectation& expect) {
  const std::vector<std::string> parts = absl::StrSplit(node.Scalar(), absl::MaxSplits(' ', 2));
  int code;
  if (!absl::SimpleAtoi(parts[0], &code)) Fail(node, "`is` starts with a status code");
  expect.code = code;
  if (parts.size() > 1) expect.reason = parts[1];
  if (parts.size() > 2) expect.message = parts[2];
  if (parts.size() == 2) expect.message = "<any>";
}

std::string Text(const YAML::Node& node) {
  if (!node.IsScalar()) Fail(node, "a text is expected here");
  return node.Scalar();
}

// Reads a member that may follow a request or a watch in its step.
void ReadMember(const std::string& key, const YAML::Node& value, Step& step) {
  Expectation& expect = step.expect;
  if (key == "is") {
    ReadStatus(value, expect);
  } else if (key == "details") {
    expect.details = ToJson(value);
  } else if (key == "body") {
    expect.body = ToJson(value);
  } else if (key == "raw") {
    expect.raw = ToJson(value);
  } else if (key == "names") {
    expect.names = ToJson(value);
  } else if (key == "audit") {
    expect.audit = ToJson(value);
  } else if (key == "headers") {
    for (const auto& h : value) {
      expect.headers.emplace_back(absl::AsciiStrToLower(Text(h.first)), ToJson(h.second));
    }
  } else if (key == "as") {
    step.as = Text(value);
  } else if (key == "token") {
    step.token = Text(value);
  } else if (key == "accept") {
    step.headers.emplace_back("Accept", ContentType(Text(value)));
  } else if (key == "content") {
    step.headers.emplace_back("Content-Type", ContentType(Text(value)));
  } else if (key == "send") {
    for (const auto& h : value) step.headers.emplace_back(Text(h.first), Text(h.second));
  } else if (key == "eventually") {
    step.eventually = value.as<bool>();
  } else if (key == "each") {
    for (const YAML::Node& element : value) step.each.push_back(Text(element));
  } else {
    Fail(value, StrCat("unknown member `", key, "`"));
  }
}

void ReadRequest(const std::string& method, const std::string& target, const YAML::Node& body,
                 Step& step) {
  const auto patch = Patches().find(method);
  step.method = patch == Patches().end() ? method : "PATCH";
  step.target = target;
  step.has_body = !body.IsNull();
  step.body = ToJson(body);
  if (patch != Patches().end()) {
    step.headers.emplace_back("Content-Type", ContentType(patch->second));
  }
}

Step ReadStep(const YAML::Node& node) {
  static const auto& kActions = *new std::map<std::string, Action>{
      {"watch", Action::kWatch},     {"events", Action::kEvents},       {"close", Action::kClose},
      {"allow", Action::kAllow},     {"allow-all", Action::kAllowAll},  {"set", Action::kSet},
      {"compact", Action::kCompact}, {"restart-etcd", Action::kRestart}};
  if (!node.IsMap()) Fail(node, "a step is a mapping");
  Step step;
  step.line = node.Mark().line + 1;
  bool first = true;
  for (const auto& member : node) {
    const std::string key = Text(member.first);
    if (!first) {
      ReadMember(key, member.second, step);
      continue;
    }
    first = false;
    const std::vector<std::string> words = absl::StrSplit(key, absl::MaxSplits(' ', 1));
    const auto action = kActions.find(words[0]);
    step.subject = words.size() > 1 ? words[1] : "";
    if (action == kActions.end()) {
      const bool upper = words[0] == absl::AsciiStrToUpper(words[0]);
      if (!upper || step.subject.empty()) Fail(node, StrCat("`", key, "` is not a step"));
      ReadRequest(words[0], step.subject, member.second, step);
      continue;
    }
    step.action = action->second;
    if (step.action == Action::kWatch) {
      ReadRequest("GET", Text(member.second), YAML::Node(), step);
    } else {
      step.value = ToJson(member.second);
    }
    const bool nameless = step.action == Action::kSet || step.action == Action::kCompact ||
                          step.action == Action::kRestart;
    if (nameless != step.subject.empty()) {
      Fail(node, StrCat("`", key, nameless ? "` takes no name" : "` needs a name"));
    }
  }
  return step;
}

bool Expects(const Step& step) {
  const Expectation& e = step.expect;
  return e.code || e.body || e.raw || e.names || !e.headers.empty() || e.audit ||
         step.action == Action::kEvents;
}

Row ReadRow(const YAML::Node& node, const std::string& file, const Variables& let) {
  Row row;
  row.topic = std::filesystem::path(file).stem().string();
  row.file = file;
  row.line = node.Mark().line + 1;
  row.let = let;
  for (const auto& member : node) {
    const std::string key = Text(member.first);
    if (key == "name") {
      row.name = Text(member.second);
    } else if (key == "needs") {
      for (const YAML::Node& need : member.second) row.needs.insert(Text(need));
    } else if (key == "not-double") {
      row.not_double = Text(member.second);
    } else if (key == "alone") {
      row.alone = member.second.as<bool>();
    } else if (key == "steps") {
      for (const YAML::Node& step : member.second) row.steps.push_back(ReadStep(step));
    } else {
      Fail(node, StrCat("unknown member `", key, "` of a row"));
    }
  }
  if (row.name.empty()) Fail(node, "a row has a name");
  if (!std::any_of(row.steps.begin(), row.steps.end(), Expects)) {
    Fail(node, "the row expects nothing");
  }
  for (const Step& step : row.steps) {
    if (step.expect.audit) row.needs.insert("audit");
    if (step.action == Action::kCompact) row.needs.insert("compaction");
    if (step.action == Action::kRestart) row.needs.insert("restart");
  }
  return row;
}

std::vector<Row> ReadFile(const YAML::Node& root, const std::string& file) {
  Variables let;
  std::vector<Row> rows;
  for (const auto& member : root) {
    const std::string key = Text(member.first);
    if (key == "let") {
      for (const auto& v : member.second) let[Text(v.first)] = Text(v.second);
    } else if (key == "rows") {
      for (const YAML::Node& row : member.second) rows.push_back(ReadRow(row, file, let));
    } else if (key != "shared") {  // a place for anchors
      Fail(member.first, StrCat("unknown member `", key, "`"));
    }
  }
  if (rows.empty()) Fail(root, "no rows");
  return rows;
}

absl::Status BadFile(const std::string& file, const YAML::Mark& mark, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(file, ":", mark.line + 1, ": ", what));
}

}  // namespace

absl::StatusOr<std::vector<Row>> ParseRows(std::string_view text, const std::string& file) {
  try {
    return ReadFile(YAML::Load(std::string(text)), file);
  } catch (const Bad& bad) {
    return BadFile(file, bad.mark, bad.what);
  } catch (const YAML::Exception& e) {
    return BadFile(file, e.mark, e.msg);
  }
}

absl::StatusOr<std::vector<Row>> LoadRows(const std::string& folder) {
  std::error_code error;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") files.insert(entry.path().string());
  }
  if (files.empty()) return absl::NotFoundError(StrCat("no rows in ", folder));
  std::vector<Row> rows;
  std::set<std::pair<std::string, std::string>> names;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSIGN_OR_RETURN(std::vector<Row> more, ParseRows(text, file));
    for (Row& row : more) {
      if (!names.emplace(row.topic, row.name).second) {
        return absl::InvalidArgumentError(
            StrCat(row.file, ":", row.line, ": a second row named \"", row.name, "\""));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace mandate::conformance
