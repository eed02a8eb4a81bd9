#include "rbacgen/emit/chart/event_fence.h"

#include <string>

#include "manager/core/strings.h"
#include "rbacgen/emit/chart/admission_policy.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

void AddEventFence(ObjectMaker& maker) {
  const ChartSwitches& switches = maker.switches();
  const std::string is_own =
      StrCat(".?reportingController.orValue(\"\") == \"", maker.component(), "\"");
  const std::string message =
      StrCat("component ", maker.component(), " may only write its own events");
  // The server treats events of the core group and of this group as one resource, so the policy
  // also applies to requests to the core group.
  AddAdmissionPolicy(
      maker,
      {.id = "events",
       .matches = "is-the-component",
       .condition = {},
       .groups = EventsRule().api_groups,
       .operations = {"CREATE", "UPDATE"},
       .resources = EventsRule().resources,
       .variables = {},
       .validations = {Validation(StrCat("object", is_own), message),
                       Validation(StrCat("request.operation == \"CREATE\" || oldObject", is_own),
                                  message)}},
      switches.Fences() && !switches.SingleMode());
}

}  // namespace mandate::rbacgen
