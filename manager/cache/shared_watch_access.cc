// What a SharedWatch knows of its members' access.
#include <algorithm>

#include "manager/cache/shared_watch.h"

namespace mandate {

void SharedWatch::RecheckAccess(std::string_view component, absl::Time until) {
  // The keeper's members are checked there.
  if (keeper_ != nullptr) return;
  for (const auto& member : members_) {
    if (!component.empty() && member->client().component() != component) continue;
    const AccessProof::State state = member->proof().state();
    if (state == AccessProof::State::kProven && member->proof().proven_at() >= until) continue;
    if (member.get() == sponsor_) {
      hinted_at_ = sponsor_->client().loop().clock().TimeNow();
      reflector_->RetryNow();
    }
    // A sponsor without a proof asks by its watch alone, until OnAccess().
    if (member.get() != sponsor_ || state == AccessProof::State::kProven ||
        state == AccessProof::State::kExpired || member->proof().IsChecking()) {
      member->proof().CheckSoon();
    }
  }
}

void SharedWatch::OnNamespace() {
  RecheckAccess("");
  // A denial is then explained in another way.
  for (const auto& member : members_) Update(*member);
}

void SharedWatch::OnCredentialLost(std::string_view component, const absl::Status& why) {
  if (keeper_ != nullptr) return;
  for (const auto& member : members_) {
    if (member->client().component() == component) member->proof().NoteLost(why);
  }
  // Its watch has ended or will end. It opens again only if there is a token.
  if (sponsor_ == nullptr || sponsor_->client().component() != component) return;
  if (WatchMember* successor = Successor()) StepDownFor(*successor);
}

// An accepted watch proves the access only: its events may still be invalid.
void SharedWatch::OnAccess() {
  config_.on_answer();
  AccessProof& proof = sponsor_->proof();
  const absl::Time asked = reflector_->last_attempt();
  if (hinted_at_ <= asked) return proof.NoteProven(asked);
  // The server may have authorized the watch before the change that a hint reports: a review
  // decides. Until then nothing becomes readable that was not.
  if (proof.state() == AccessProof::State::kDenied) proof.Reset();
  proof.CheckSoon();
  Update(*sponsor_);
}

void SharedWatch::OnProofChanged(WatchMember& member) {
  Rebalance();
  if (&member == sponsor_ && member.proof().state() == AccessProof::State::kDenied &&
      reflector_->status().state != DemandState::kForbidden) {
    // From now on the watch tries again, and not the proof.
    member.proof().NoteDenied(member.proof().reason());
    reflector_->Forbid(member.proof().reason());
  }
  Update(member);
  AdaptFollowers();
  PurgeIfDenied();
}

void SharedWatch::PurgeIfDenied() {
  if (reflector_ == nullptr || reflector_->status().state != DemandState::kForbidden) return;
  const bool denied = std::ranges::all_of(members_, [](const auto& member) {
    return member->proof().state() == AccessProof::State::kDenied;
  });
  if (!denied) return;
  if (!reflector_->filled()) return stream_->ForgetListed();
  purges_.Increment();
  Purge();
}

}  // namespace mandate
