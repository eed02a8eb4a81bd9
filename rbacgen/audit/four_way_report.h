// Writes a four-way report as text and as JSON.
#pragma once

#include <string>

#include "rbacgen/audit/four_way.h"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {

// A table for each identity, a table of the origins of its tokens, the findings, and a line of
// totals.
std::string FourWayText(const FourWayReport& report, const TraceReport& trace, bool colour);

// One JSON object with sorted keys. Nothing is shortened. It includes the members of the trace.
std::string FourWayJson(const FourWayReport& report, const TraceReport& trace);

}  // namespace mandate::rbacgen
