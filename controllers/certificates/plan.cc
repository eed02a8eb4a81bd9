#include "controllers/certificates/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/x509.h"
#include "manager/object/time.h"

namespace mandate::certificates {
namespace {

// Certificates are valid from some time before now, for clocks that are behind ours.
constexpr absl::Duration kSkew = absl::Minutes(5);

// Certificates and keys of the Secret that are read: the last ones, which are the newest. More
// would be a mistake of another writer, and the plan compares each pair.
constexpr size_t kMostRead = 64;
// Authorities that are kept. Those of others, without a key, make room first: otherwise they would
// push ours out, and a new one would be made again and again.
constexpr size_t kMostAuthorities = 8;

struct Authority {
  x509::KeyPair pair;  // the key is empty if the Secret does not have it
  x509::Facts facts;
};

std::string At(const SecretData& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() ? "" : found->second;
}

bool IsValidAt(const x509::Facts& facts, absl::Time now) {
  return facts.not_before <= now && now < facts.not_after;
}

std::vector<std::string> LastBlocks(const std::string& pem) {
  std::vector<std::string> blocks = x509::SplitPem(pem);
  if (blocks.size() > kMostRead) blocks.erase(blocks.begin(), blocks.end() - kMostRead);
  return blocks;
}

void SortByExpiry(std::vector<Authority>& authorities) {
  std::ranges::stable_sort(authorities, {}, [](const Authority& a) { return a.facts.not_after; });
}

// Why the valid authority is not one of ours. Empty: it may be.
std::string WhyForeign(const x509::Facts& facts, const Snapshot& snapshot) {
  if (!facts.has_p256_key) return "its key is not a P-256 key; the keys of our authorities are";
  // The clock of the replica that made it may be ahead of ours.
  if (facts.not_after <= snapshot.now + snapshot.lifetimes.authority + kSkew) return "";
  return StrCat("it is valid until ", FormatTimestamp(facts.not_after),
                "; our authorities are valid for at most ",
                absl::FormatDuration(snapshot.lifetimes.authority));
}

// The valid authorities of the Secret that may be ours, the oldest first, with their keys.
std::vector<Authority> ReadAuthorities(const Snapshot& snapshot,
                                       std::vector<std::string>& rejected) {
  const std::vector<std::string> keys = LastBlocks(At(snapshot.data, kAuthorityKeys));
  std::vector<Authority> authorities;
  for (std::string& pem : LastBlocks(At(snapshot.data, kAuthorities))) {
    const auto facts = x509::ReadFacts(pem);
    if (!facts.ok() || !facts->is_authority || !IsValidAt(*facts, snapshot.now)) continue;
    if (std::string why = WhyForeign(*facts, snapshot); !why.empty()) {
      rejected.push_back(std::move(why));
      continue;
    }
    std::string key;
    for (const std::string& candidate : keys) {
      if (x509::HasKey(pem, Secret(candidate))) key = candidate;
    }
    authorities.push_back({{std::move(pem), Secret(std::move(key))}, *facts});
  }
  SortByExpiry(authorities);
  size_t surplus = authorities.size() - std::min(authorities.size(), kMostAuthorities);
  std::erase_if(authorities, [&](const Authority& authority) {
    return authority.pair.key_pem.empty() && surplus > 0 && surplus-- > 0;
  });
  std::erase_if(authorities, [&](const Authority&) { return surplus > 0 && surplus-- > 0; });
  return authorities;
}

// The authority that can issue for the longest time. Null: the Secret has no key of a valid one.
// Authorities of others may be in the Secret, and expire later.
const Authority* Newest(const std::vector<Authority>& authorities) {
  const Authority* newest = nullptr;
  for (const Authority& authority : authorities) {
    if (!authority.pair.key_pem.empty()) newest = &authority;
  }
  return newest;
}

absl::StatusOr<Authority> NewAuthority(const Snapshot& snapshot) {
  x509::Request request{.use = x509::Use::kAuthority,
                        .common_name = "mandate-webhooks",
                        .not_before = snapshot.now - kSkew,
                        .not_after = snapshot.now + snapshot.lifetimes.authority};
  ASSIGN_OR_RETURN(x509::KeyPair pair, x509::Issue(request, nullptr));
  ASSIGN_OR_RETURN(const x509::Facts facts, x509::ReadFacts(pair.certificate_pem));
  return Authority{std::move(pair), facts};
}

// The serving certificate of the Secret, if clients that trust the authorities accept it.
std::optional<x509::Facts> ReadServing(const Snapshot& snapshot,
                                       const std::vector<Authority>& authorities) {
  const std::string pem = At(snapshot.data, kServing);
  const auto facts = x509::ReadFacts(pem);
  const bool accepted =
      facts.ok() && IsValidAt(*facts, snapshot.now) &&
      x509::HasKey(pem, Secret(At(snapshot.data, kServingKey))) &&
      std::ranges::all_of(snapshot.names,
                          [&](const std::string& name) { return x509::IsFor(pem, name); }) &&
      std::ranges::any_of(authorities, [&](const Authority& authority) {
        return x509::IsIssuedBy(pem, authority.pair.certificate_pem);
      });
  if (!accepted) return std::nullopt;
  return *facts;
}

// The authority that issues the next serving certificate. Null: none that API servers trust
// outlives it.
const Authority* TrustedIssuer(const Snapshot& snapshot,
                               const std::vector<Authority>& authorities) {
  for (const Authority& authority : authorities) {
    if (!authority.pair.key_pem.empty() &&
        authority.facts.not_after >= snapshot.now + snapshot.lifetimes.serving &&
        snapshot.is_published(authority.pair.certificate_pem)) {
      return &authority;
    }
  }
  return nullptr;
}

absl::StatusOr<x509::KeyPair> IssueServing(const Snapshot& snapshot, const Authority& issuer) {
  return x509::Issue(
      {.common_name = snapshot.names.front().substr(snapshot.names.front().find(':') + 1),
       .names = snapshot.names,
       .not_before = snapshot.now - kSkew,
       .not_after = std::min(snapshot.now + snapshot.lifetimes.serving, issuer.facts.not_after)},
      &issuer.pair);
}

void Write(const std::vector<Authority>& authorities, Plan& plan) {
  std::string keys;
  for (const Authority& authority : authorities) {
    StrAppend(&plan.bundle, authority.pair.certificate_pem);
    StrAppend(&keys, authority.pair.key_pem.Reveal());
  }
  plan.data[kAuthorities] = plan.bundle;
  plan.data[kAuthorityKeys] = std::move(keys);
}

}  // namespace

absl::Status CheckLifetimes(const CertificateLifetimes& lifetimes) {
  if (lifetimes.serving >= absl::Seconds(1) && lifetimes.authority >= 4 * lifetimes.serving) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("the lifetime of a serving certificate (", absl::FormatDuration(lifetimes.serving),
             ") must be at least 1s and at most a quarter of its authority's (",
             absl::FormatDuration(lifetimes.authority), ")"));
}

absl::StatusOr<Plan> PlanCertificates(const Snapshot& snapshot) {
  const absl::Time now = snapshot.now;
  const auto renewal = [](const x509::Facts& facts, absl::Duration life) {
    return facts.not_after - life / 3;
  };
  Plan plan;
  std::vector<Authority> authorities = ReadAuthorities(snapshot, plan.rejected);
  if (const Authority* newest = Newest(authorities);
      newest == nullptr || now >= renewal(newest->facts, snapshot.lifetimes.authority)) {
    ASSIGN_OR_RETURN(Authority made, NewAuthority(snapshot));
    authorities.push_back(std::move(made));
    SortByExpiry(authorities);
  }
  const Authority& newest = *Newest(authorities);
  Write(authorities, plan);
  plan.next = renewal(newest.facts, snapshot.lifetimes.authority);
  for (const Authority& authority : authorities) {
    plan.next = std::min(plan.next, authority.facts.not_after);
  }

  std::optional<x509::Facts> serving = ReadServing(snapshot, authorities);
  plan.data[kServing] = At(snapshot.data, kServing);
  plan.data[kServingKey] = At(snapshot.data, kServingKey);
  // An authority that is not trusted yet issues a certificate only if there would be no valid one
  // otherwise.
  const absl::Duration last = snapshot.lifetimes.serving / 10;
  if (!serving || now >= renewal(*serving, snapshot.lifetimes.serving) ||
      serving->not_after > now + snapshot.lifetimes.serving + kSkew) {
    const Authority* issuer = TrustedIssuer(snapshot, authorities);
    if (issuer == nullptr && (!serving || now >= serving->not_after - last)) {
      issuer = &newest;
    }
    if (issuer != nullptr) {
      ASSIGN_OR_RETURN(x509::KeyPair made, IssueServing(snapshot, *issuer));
      ASSIGN_OR_RETURN(serving, x509::ReadFacts(made.certificate_pem));
      plan.data[kServing] = std::move(made.certificate_pem);
      plan.data[kServingKey] = std::string(made.key_pem.Reveal());
    }
  }
  const absl::Time renew = renewal(*serving, snapshot.lifetimes.serving);
  plan.next = std::min(plan.next, now < renew ? renew : serving->not_after - last);
  plan.authority_expiry = newest.facts.not_after;
  plan.serving_expiry = serving->not_after;
  return plan;
}

}  // namespace mandate::certificates
