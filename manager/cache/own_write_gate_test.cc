// The tests of reads through the gate are in read_your_writes_test.
#include "manager/cache/own_write_gate.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

// A store at version 100 with foo/x@90, whose UID is "u".
TEST(OwnWriteGateTest, HasSeen) {
  const struct {
    const char* name;
    const char* key;
    const char* version;
    const char* gone;
    bool seen;
  } kRows[] = {
      {"the object is that new", "x", "90", "", true},
      {"the object is newer", "x", "89", "", true},
      {"it has not changed since, as of the whole", "x", "95", "", true},
      {"as of the whole, exactly", "x", "100", "", true},
      {"not yet", "x", "101", "", false},
      {"numbers are compared", "x", "1000", "", false},
      {"and not texts", "x", "9", "", true},
      {"made, and not there as of the whole: deleted by others", "y", "95", "", true},
      {"made, and not there yet", "y", "101", "", false},
      {"deleted, and still there", "x", "", "u", false},
      {"deleted, and another there", "x", "", "t", true},
      {"deleted, and not there", "y", "", "u", true},
      {"written and deleted, and still there", "x", "95", "u", false},
      {"made and deleted, and not there yet", "y", "101", "v", false},
      {"made and deleted, and gone", "y", "95", "v", true},
      {"deleted and made again, which is not there yet", "x", "101", "u", false},
      {"deleted and made again", "x", "90", "t", true},
  };
  ObjectStore store;
  store.Replace(ContentOf({Widget("foo/x", 90, "u")}), "100");
  for (const auto& row : kRows) {
    const OwnWrite write = {{"foo", row.key}, row.version, row.gone, 1};
    EXPECT_EQ(HasSeen(store, write), row.seen) << row.name;
  }
  // An event comes before the version of the whole store advances.
  store.Put(Widget("foo/x", 105, "u"));
  EXPECT_TRUE(HasSeen(store, {{"foo", "x"}, "105", "", 1}));
  EXPECT_FALSE(HasSeen(store, {{"foo", "y"}, "105", "", 1}));
  // Before the first list no object is known.
  EXPECT_FALSE(HasSeen(ObjectStore(), {{"foo", "x"}, "1", "", 1}));
}

}  // namespace
}  // namespace mandate
