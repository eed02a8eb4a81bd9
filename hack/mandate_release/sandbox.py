"""The inside of a pod's network namespace: its addresses, its relays, and bubblewrap with the container in it.

usage: unshare --user --map-root-user --net -- python3 -m mandate_release.sandbox CONFIG

CONFIG is JSON: `addresses` of the loopback device besides 127.0.0.1; `relays`, pairs of relay.py's addresses; `command` of bubblewrap, which
gets --info-fd; `pid_file`, where the container's process id goes. The exit code is bubblewrap's.
"""
import asyncio
import fcntl
import json
import os
import socket
import struct
import sys
from typing import Any

from mandate_release import relay

_SET_FLAGS, _SET_ADDRESS = 0x8914, 0x8916  # SIOCSIFFLAGS, SIOCSIFADDR
_UP_AND_RUNNING = 0x41


def _add_addresses(addresses: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))
        for number, address in enumerate(addresses):
            name = f"lo:{number}".encode()
            fcntl.ioctl(control, _SET_ADDRESS, struct.pack("16sH2x4s8x", name, socket.AF_INET, socket.inet_aton(address)))


async def _run(config: dict[str, Any]) -> int:
    _add_addresses(config["addresses"])
    servers = [await relay.serve(listen, connect) for listen, connect in config["relays"]]
    reader, writer = os.pipe()
    program, *arguments = config["command"]
    process = await asyncio.create_subprocess_exec(program, "--info-fd", str(writer), *arguments, pass_fds=[writer])
    os.close(writer)
    with open(reader, encoding="ascii") as info:
        text = await asyncio.to_thread(info.read)
    if text:  # empty if bubblewrap failed, which it has reported
        new = config["pid_file"] + ".new"
        with open(new, "w", encoding="ascii") as f:
            f.write(str(json.loads(text)["child-pid"]))
        os.rename(new, config["pid_file"])
    code = await process.wait()
    for server in servers:
        server.close()
    return code


if __name__ == "__main__":
    # The test started this process, and bubblewrap ends with it in turn.
    relay.die_with_parent()
    sys.exit(asyncio.run(_run(json.loads(sys.argv[1]))))
