#include "manager/kubeconfig/exec_token_fetcher.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

// The maximum length that is kept of a plugin's standard error.
constexpr size_t kMaxSaid = 2000;

std::string Name(const ExecPlugin& plugin) {
  return StrCat("the credential plugin ", plugin.command, " (", plugin.origin, ")");
}

FetchResult Failed(const ExecPlugin& plugin, std::string_view what) {
  return {.outcome = FetchOutcome::kPluginFailed,
          .error = absl::FailedPreconditionError(StrCat(Name(plugin), " ", what))};
}

FetchResult NotRun(const ExecPlugin& plugin, const absl::Status& why) {
  if (absl::IsNotFound(why)) {
    const bool looked_for = plugin.command.find('/') == std::string::npos;
    return Failed(plugin,
                  StrCat("is not installed; install it", looked_for ? ", in a folder of $PATH" : "",
                         plugin.install_hint.empty() ? "" : ". ", plugin.install_hint));
  }
  if (absl::IsDeadlineExceeded(why)) {
    return Failed(plugin,
                  "did not end in time and was killed; if it waits for a login, run it by hand "
                  "once, or raise --credential-plugin-timeout");
  }
  return Failed(plugin, StrCat("was stopped: ", AsStd(why.message())));
}

}  // namespace

ExecTokenFetcher::ExecTokenFetcher(Options options)
    : options_([&options] {
        if (!options.run) {
          options.run = [clock = &options.loop->clock()](const CallContext& context,
                                                         const ChildOptions& child) {
            return RunChild(context, *clock, child);
          };
        }
        return std::make_shared<const Options>(std::move(options));
      }()) {}

void ExecTokenFetcher::Fetch(const CallContext& context, Done done) {
  options_->workers->Post([options = std::weak_ptr(options_), loop = options_->loop, context,
                           done = std::move(done)]() mutable {
    FetchResult result;
    if (const auto alive = options.lock()) result = Run(*alive, context);
    // `done` must be destroyed on the loop, even if the fetcher no longer exists.
    loop->Post([options, result = std::move(result), done = std::move(done)]() mutable {
      if (!options.expired()) std::move(done)(std::move(result));
    });
  });
}

FetchResult ExecTokenFetcher::Run(const Options& options, const CallContext& context) {
  const ExecPlugin& plugin = options.plugin;
  ChildOptions child{.command = plugin.command, .args = plugin.args, .env = plugin.env};
  child.env.emplace_back("KUBERNETES_EXEC_INFO", plugin.info);
  const Clock& clock = options.loop->clock();
  const absl::Time started = clock.TimeNow();
  absl::StatusOr<ChildResult> ran = options.run(context, child);
  if (!ran.ok()) return NotRun(plugin, ran.status());
  const Secret output(std::move(ran->output));

  absl::StatusOr<ExecCredential> credential =
      ParseExecCredential(output.Reveal(), plugin.api_version);
  std::vector<std::string_view> secrets;
  for (const auto& [name, value] : plugin.env) secrets.push_back(value);
  if (credential.ok() && credential->token) secrets.push_back(credential->token->Reveal());
  if (credential.ok() && credential->key_pem) secrets.push_back(credential->key_pem->Reveal());
  const std::string said = WithoutCredentials(std::move(ran->errors), secrets, kMaxSaid);

  const auto with_words = [&said](std::string text) {
    return said.empty() ? text : StrCat(text, "; it wrote: ", said);
  };
  if (ran->code != 0) {
    return Failed(plugin, with_words(StrCat("ended with exit code ", ran->code,
                                            "; run it by hand to see why")));
  }
  if (!credential.ok()) {
    return Failed(plugin, with_words(StrCat("printed an invalid credential: it ",
                                            AsStd(credential.status().message()))));
  }
  if (!said.empty()) {
    options.log.Info("The credential plugin wrote to standard error",
                     {{"command", plugin.command}, {"text", said}});
  }
  Token token{.value = nullptr, .subject = Name(plugin), .acquired = started};
  if (credential->expires != absl::InfiniteFuture()) {
    const absl::Duration life = credential->expires - clock.WallTimeNow();
    if (life <= absl::ZeroDuration()) {
      return Failed(plugin, StrCat("printed a credential that expired at ",
                                   absl::FormatTime(absl::RFC3339_sec, credential->expires,
                                                    absl::UTCTimeZone()),
                                   "; check this machine's clock"));
    }
    token.expires = clock.TimeNow() + life;
  }
  if (credential->token) {
    token.value = std::make_shared<const Secret>(*std::move(credential->token));
  } else {
    token.value = std::make_shared<const Secret>(*std::move(credential->key_pem));
    ClientCertificate certificate{.certificate_pem = std::move(credential->certificate_pem),
                                  .key_pem = token.value};
    if (options.accept) {
      if (const absl::Status no = options.accept(certificate); !no.ok()) {
        return Failed(plugin,
                      StrCat("printed a certificate that cannot be used: ", AsStd(no.message())));
      }
    }
    Endpoint certified = *options.endpoint;
    certified.client_certificate = std::move(certificate);
    token.certificate_endpoint = std::make_shared<const Endpoint>(std::move(certified));
  }
  return {.outcome = FetchOutcome::kIssued,
          .token = std::make_shared<const Token>(std::move(token))};
}

}  // namespace mandate
