#include "rbacgen/audit/identity_names.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

bool Take(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Removes the first word and the blanks around it.
std::string_view TakeWord(std::string_view* text) {
  while (Take(text, " ")) {
  }
  const std::string_view word = text->substr(0, text->find(' '));
  text->remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<std::string> ComponentOfUsername(std::string_view username, std::string_view ns,
                                               std::string_view base_name) {
  if (!Take(&username, kServiceAccount) || !Take(&username, ns) || !Take(&username, ":")) {
    return std::nullopt;
  }
  return ComponentOfAccount(username, base_name);
}

std::optional<std::string> ComponentOfAccount(std::string_view account,
                                              std::string_view base_name) {
  if (!Take(&account, base_name)) return std::nullopt;
  if (account.empty()) return std::string(kBaseComponent);
  if (!Take(&account, "-") || account.empty()) return std::nullopt;
  return std::string(account);
}

std::optional<std::string> ComponentOfUserAgent(std::string_view user_agent,
                                                std::string_view prefix) {
  if (!Take(&user_agent, prefix)) return std::nullopt;
  TakeWord(&user_agent);  // the version
  std::string_view word = TakeWord(&user_agent);
  if (word.starts_with('(')) word = TakeWord(&user_agent);
  if (word.empty() || word == "leader-election") return std::string(kBaseComponent);
  return std::string(word);
}

std::string ShortUsername(std::string_view username) {
  if (username.empty()) return "(no user)";
  if (!Take(&username, kServiceAccount)) return std::string(username);
  std::string short_name(username);
  if (const size_t colon = short_name.find(':'); colon != short_name.npos) short_name[colon] = '/';
  return short_name;
}

std::string ShortUserAgent(std::string_view user_agent) {
  const size_t open = user_agent.find(" (");
  const size_t close = user_agent.find(')', open);
  if (open == user_agent.npos || close == user_agent.npos) return std::string(user_agent);
  return std::string(user_agent.substr(0, open)) + std::string(user_agent.substr(close + 1));
}

std::string ShortCredentialId(std::string_view id) {
  Take(&id, "JTI=");
  return std::string(id.substr(0, 8));
}

}  // namespace mandate::rbacgen
