// greeting-operator: keeps a ConfigMap for each Greeting.
#include <memory>
#include <utility>
#include <vector>

#include "cmd/program/program.h"
#include "controllers/certificates/make.h"
#include "greeting/base_mandate.h"
#include "greeting/reconciler.h"
#include "webhook/certificates.h"
#include "webhook/webhook.h"

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "greeting-operator",
       .description = "Keeps a ConfigMap for each Greeting.",
       .version = "0.1.0",
       .base_mandate = &mandate::kBase,
       .components = [](auto certificates) -> std::vector<mandate::ComponentSpec> {
         return {
             {&mandate::kGreeting, mandate::MakeOnlyController<example::MakeController>},
             {&mandate::kGreetingWebhook, {}, example::MakeWebhooks},
             mandate::certificates::MakeComponent<mandate::kWebhookCertificates>(
                 std::move(certificates)),
         };
       }},
      argc, argv);
}
