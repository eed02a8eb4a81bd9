// The configurations of a chart whose caBundle the component webhook-certificates writes.
#pragma once

#include <string>

#include "rbacgen/emit/webhook/webhook.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Compares the resourceNames in the markers of webhook-certificates with the configurations of the
// chart's webhooks. An error for each name that no webhook makes, and for each configuration that
// the component may not write: the API server would not trust its webhooks. Nothing is checked
// without such a component or without webhooks. Webhooks of another service, or called by a URL,
// need no permission.
void CheckCertificateNames(const Webhooks& webhooks, const Sources& sources,
                           const std::string& base_name, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
