"""What a running process has in its memory: the content of a core dump, without a file that would hold its secrets."""

CHUNK = 1 << 24


def found(pid: int, needles: set[bytes]) -> set[bytes]:
    """Returns those of `needles` that are somewhere in the readable memory of the process. Needs the right to trace it."""
    left, seen = set(needles), set[bytes]()
    overlap = max(map(len, needles)) - 1
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if not rights.startswith("r") or line.rstrip().endswith(("[vvar]", "[vvar_vclock]", "[vsyscall]")):
                continue
            at, end = (int(part, 16) for part in span.split("-"))
            tail = b""
            while at < end:
                try:
                    memory.seek(at)
                    chunk = memory.read(min(CHUNK, end - at))
                except OSError:
                    break  # the mapping has gone, or is of a device
                if not chunk:
                    break
                at += len(chunk)
                text = tail + chunk
                seen |= {needle for needle in left if needle in text}
                left -= seen
                tail = text[len(text) - overlap:] if overlap else b""
    return seen
