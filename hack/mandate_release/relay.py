"""Relays connections between addresses, each a TCP address or a Unix socket. Unix sockets cross network namespaces.

usage: python3 -m mandate_release.relay LISTEN CONNECT      an address: tcp:HOST:PORT or unix:PATH
"""
import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """The kernel kills this process when its parent ends, however it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _open(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    kind, _, rest = address.partition(":")
    if kind == "unix":
        return await asyncio.open_unix_connection(rest)
    host, _, port = rest.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError):
        sink.close()


async def serve(listen: str, connect: str) -> asyncio.Server:
    """Listens until the server is closed. A connection that the other side does not take is closed."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            other_reader, other_writer = await _open(connect)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))

    kind, _, rest = listen.partition(":")
    if kind == "unix":
        server = await asyncio.start_unix_server(handle, rest)
        os.chmod(rest, 0o666)  # the other side may be another user
        return server
    host, _, port = rest.rpartition(":")
    return await asyncio.start_server(handle, host, int(port))


async def _main(arguments: list[str]) -> Any:
    server = await serve(*arguments)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    die_with_parent()
    asyncio.run(_main(sys.argv[1:]))
