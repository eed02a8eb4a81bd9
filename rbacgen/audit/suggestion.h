// Suggests changes to markers from a four-way report, as a diff to read and to apply by hand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/audit/four_way.h"
#include "rbacgen/audit/ledger.h"
#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {

// Removes verbs and resources that were never used, and adds those that were used but not declared.
// A right that was used in only a few namespaces is added for these namespaces. A denied request
// adds nothing. The result is a unified diff without context (`patch -p0`); empty if there is
// nothing to change. `read` returns the text of a source file.
std::string SuggestMarkers(
    const FourWayReport& report, const Ledger& ledger, const Sources& sources,
    const std::function<absl::StatusOr<std::string>(const std::string& file)>& read);

// `marker` with a new value for `argument`; unchanged if it has no such argument.
std::string ReplaceArgument(const std::string& marker, const std::string& argument,
                            const std::vector<std::string>& values);

}  // namespace mandate::rbacgen
