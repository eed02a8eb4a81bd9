#include "manager/transport/stream_limiter.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

using State = StreamLimiter::State;

// What happens to the connection, one letter each:
// +  a transfer starts            s  it gets onto the connection
// .  one that was sent ends       -  one that was not sent ends
// h  a head over HTTP/2           1  a head over HTTP/1.1
// r  one is refused and ends      d  drain          x  die
struct Row {
  const char* name;
  size_t cap;
  std::string events;
  State state;
  size_t active;
  size_t capacity;
};

void Apply(StreamLimiter& limiter, char event) {
  switch (event) {
    case '+':
      return limiter.Start();
    case 's':
      return limiter.Sent();
    case '.':
      return limiter.End(true);
    case '-':
      return limiter.End(false);
    case 'h':
      return limiter.HeadCame(true);
    case '1':
      return limiter.HeadCame(false);
    case 'r':
      limiter.Refused();
      return limiter.End(false);
    case 'd':
      return limiter.Drain();
    case 'x':
      return limiter.Die();
    default:
      FAIL() << event;
  }
}

TEST(StreamLimiter, Table) {
  const std::vector<Row> rows = {
      {"a new connection takes one", 100, "", State::kConnecting, 0, 1},
      {"and no second before the first head", 100, "+", State::kConnecting, 1, 0},
      {"being connected is not enough", 100, "+s", State::kConnecting, 1, 0},
      {"the first head opens it", 100, "+sh", State::kOpen, 1, 99},
      {"a transfer that ends makes room", 3, "+sh+s+s.", State::kOpen, 2, 1},
      {"full is full", 3, "+sh+s+s", State::kOpen, 3, 0},
      {"the first transfer may be given up", 100, "+-", State::kConnecting, 0, 1},
      {"HTTP/1.1 takes one at a time", 100, "+s1", State::kOpen, 1, 0},
      {"and then another", 100, "+s1.", State::kOpen, 0, 1},
      {"refused at the most that ever ran: perhaps the server's limit", 100, "+sh+s+r",
       State::kOpen, 2, 0},
      {"of which one is kept for the probe", 100, "+sh+s+s+s+r.", State::kOpen, 3, 0},
      {"and which is tried again below it", 100, "+sh+s+s+s+r..", State::kOpen, 2, 1},
      {"a limit of one leaves none for it", 100, "+sh+r.", State::kOpen, 0, 1},
      {"many refused at once leave the limit", 100, "+sh+s++++rrrr", State::kOpen, 2, 0},
      {"refused below what ran before: GOAWAY", 100, "+sh+s+s+r..+r", State::kDraining, 1, 0},
      {"refused with nothing running: GOAWAY", 100, "+sh.+r", State::kDraining, 0, 0},
      {"draining lets the others end", 100, "+sh+s.d", State::kDraining, 1, 0},
      {"a head does not reopen it", 100, "+sdh", State::kDraining, 1, 0},
      {"dead takes none", 100, "+sh.x", State::kDead, 0, 0},
      {"dead stays dead", 100, "+sh.xdh", State::kDead, 0, 0},
  };
  for (const Row& row : rows) {
    StreamLimiter limiter(row.cap);
    for (const char event : row.events) Apply(limiter, event);
    EXPECT_EQ(limiter.state(), row.state) << row.name;
    EXPECT_EQ(limiter.active(), row.active) << row.name;
    EXPECT_EQ(limiter.free_capacity(), row.capacity) << row.name;
  }
}

}  // namespace
}  // namespace mandate
