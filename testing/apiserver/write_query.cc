#include "testing/apiserver/write_query.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

// The error of the first unprintable character, or "".
std::string NotPrintable(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != 0x7f) continue;
    return StrCat("invalid character U+", absl::Hex(c, absl::kZeroPad4), " (at position ", i, ")");
  }
  return "";
}

}  // namespace

std::string ContentTypeOf(const Request& request) {
  const std::string_view header = request.Header("content-type").value_or("");
  return absl::AsciiStrToLower(
      absl::StripAsciiWhitespace(AsAbsl(header.substr(0, header.find(';')))));
}

std::optional<Cause> CheckDryRun(const std::vector<std::string>& given) {
  if (std::all_of(given.begin(), given.end(), [](const auto& one) { return one == "All"; })) {
    return std::nullopt;
  }
  Json::Value list(Json::arrayValue);
  for (const std::string& one : given) list.append(one);
  return UnsupportedValue("dryRun", WriteJson(list), {"All"});
}

absl::StatusOr<WriteQuery> WriteQuery::Parse(const Request& request, std::string_view options) {
  WriteQuery query;
  query.apply =
      request.method == "PATCH" && ContentTypeOf(request) == "application/apply-patch+yaml";
  query.manager = request.Query("fieldManager").value_or("");
  query.validation = request.Query("fieldValidation").value_or("");
  const std::vector<std::string> dry_run = request.QueryAll("dryRun");
  // Only patches support the parameter.
  const auto force = request.method == "PATCH" ? request.Query("force") : std::nullopt;
  query.dry_run = !dry_run.empty();
  query.force = force && !force->empty() && *force != "false" && *force != "0";
  query.manager_name = query.manager;
  if (query.manager.empty()) {
    const std::string_view agent = request.Header("user-agent").value_or("");
    query.manager_name = std::string(agent.substr(0, agent.find('/')));
    if (query.manager_name.empty()) query.manager_name = "unknown";
  }
  std::vector<Cause> causes;
  if (query.apply && query.manager.empty()) {
    causes.push_back(RequiredField("fieldManager", "is required for apply patch"));
  }
  if (!query.apply && force) {
    causes.push_back(ForbiddenField("force", "may not be specified for non-apply patch"));
  }
  if (query.manager.size() > 128) {
    causes.push_back(
        {"FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"});
  }
  if (const std::string problem = NotPrintable(query.manager); !problem.empty()) {
    causes.push_back(InvalidField("fieldManager", rbac::Quote(query.manager), problem));
  }
  if (auto cause = CheckDryRun(dry_run)) causes.push_back(*std::move(cause));
  if (!query.validation.empty() && query.validation != "Ignore" && query.validation != "Warn" &&
      query.validation != "Strict") {
    causes.push_back(UnsupportedValue("fieldValidation", rbac::Quote(query.validation),
                                      {"", "Ignore", "Strict", "Warn"}));
  }
  if (!causes.empty()) return InvalidError("meta.k8s.io", options, "", causes);
  return query;
}

}  // namespace mandate::apiserver
