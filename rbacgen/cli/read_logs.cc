#include "rbacgen/cli/read_logs.h"

#include <iostream>

#include "manager/core/strings.h"
#include "rbacgen/audit/log_bytes.h"
#include "rbacgen/audit/log_framer.h"
#include "rbacgen/cli/command.h"

namespace mandate::rbacgen {

void AddLogFlags(CLI::App* command, LogFlags* flags) {
  command
      ->add_option("LOG", flags->paths,
                   "Audit logs, the oldest first: JSON lines or EventLists, optionally gzipped; - "
                   "is standard input")
      ->required();
  command
      ->add_option("--max-event,--max-line", flags->max_event,
                   "Skip and report events of more bytes than this")
      ->check(CLI::Range(size_t{1024}, size_t{1} << 30))
      ->capture_default_str();
}

void AddTraceFlags(CLI::App* command, TraceOptions* options) {
  command->add_option("--user-agent-prefix", options->user_agent_prefix,
                      "The prefix of the manager's user agents (default: the base name and /)");
  command
      ->add_option_function<std::vector<std::string>>(
          "--address",
          [options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto range = AddressRange::Parse(text);
              if (!range) throw CLI::ValidationError(text + " is not an IP address or CIDR");
              options->addresses.push_back(*range);
            }
          },
          "IP addresses or CIDRs that count as one address, such as those of a gateway in front of "
          "the API server")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--token-audiences", options->token_audiences,
                   "As the manager's flag --token-audiences: the audiences of its TokenRequests")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--create-service-accounts", options->create_service_accounts,
                    "As the manager's flag --create-service-accounts: base creates the components' "
                    "ServiceAccounts");
  command->add_option_function<std::string>(
      "--token-overlap",
      [options](const std::string& text) {
        if (!absl::ParseDuration(text, &options->token_overlap)) {
          throw CLI::ValidationError(text + " is not a duration, such as 60s");
        }
      },
      "How long a token may still be used after the next one is in use (default: 60s)");
  command
      ->add_option("--max-credentials", options->max_credentials,
                   "Keep at most this many credential ids, to limit the memory")
      ->check(CLI::Range(size_t{1}, size_t{10'000'000}))
      ->capture_default_str();
}

int ReadLogs(const LogFlags& flags, Trace* trace) {
  LogFramer framer(
      flags.max_event,
      {.event = [&](std::string_view text) { return trace->Add(text); },
       .damaged = [&](const std::string& log, int64_t line,
                      std::string_view why) { trace->AddUnreadable(log, line, why); }});
  for (const std::string& path : flags.paths) {
    framer.BeginLog(path == "-" ? "standard input" : path);
    const absl::Status status =
        ReadLogBytes(path, [&](std::string_view bytes) { framer.Add(bytes); });
    if (status.ok()) continue;
    PrintMessage(AsStd(status.message()));
    return kExitUnknown;
  }
  if (framer.Finish()) {
    PrintMessage(StrCat(flags.paths.back(),
                        ": the last line is incomplete and was skipped: the file is truncated, or "
                        "is still being written"));
  }
  return 0;
}

}  // namespace mandate::rbacgen
