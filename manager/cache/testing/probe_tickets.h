// The answers of a server to requests that have places in a ProbeBudget.
#pragma once

#include <memory>
#include <vector>

#include "manager/cache/probe_budget.h"

namespace mandate {

using ProbeTickets = std::vector<std::unique_ptr<ProbeBudget::Ticket>>;

// A ticket that has ended already stays null.
inline void Answer(std::unique_ptr<ProbeBudget::Ticket>& ticket) {
  if (ticket != nullptr) ticket->NoteAnswer();
  ticket.reset();
}
inline void AnswerAll(ProbeTickets& tickets) {
  for (auto& ticket : tickets) Answer(ticket);
  tickets.clear();
}

}  // namespace mandate
