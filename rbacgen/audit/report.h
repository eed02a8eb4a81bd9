// Writes a trace as text and as JSON.
#pragma once

#include <string>

#include "manager/object/json.h"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {

// Two aligned tables, the findings, and a line of totals.
std::string TraceText(const TraceReport& report, bool colour);

// The second table: the origins of the components' tokens.
std::string TokensText(const TraceReport& report, bool colour);

// One JSON object with sorted keys. Nothing is shortened.
Json::Value TraceJsonValue(const TraceReport& report);
std::string TraceJson(const TraceReport& report);

}  // namespace mandate::rbacgen
