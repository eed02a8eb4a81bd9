#!/usr/bin/env bash
# Fails with a reason. It is assembled here, so that no echo of this source passes for it.
echo "expected the widget to be $((6 * 7))"
exit 1
