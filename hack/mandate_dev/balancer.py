"""A TCP balancer on loopback, as a Service with endpoints that change."""
import select
import socket
import threading


class Balancer:
    """Forwards each connection to one of `backends` (ports) in turn. A backend that refuses is skipped. Thread-safe."""

    def __init__(self) -> None:
        self.backends: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._turn = 0
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """Ends the connections that are open."""
        with self._lock:
            for pair in self._pairs:
                self._shut(pair)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _connect(self) -> socket.socket | None:
        for _ in range(len(self.backends)):
            backends = self.backends
            self._turn += 1
            try:
                return socket.create_connection(("127.0.0.1", backends[self._turn % len(backends)]), timeout=10)
            except OSError:
                continue
        return None

    @staticmethod
    def _shut(pair: tuple[socket.socket, socket.socket]) -> None:
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _serve(self, client: socket.socket) -> None:
        server = self._connect()
        if server is None:
            client.close()
            return
        server.settimeout(None)
        pair = (client, server)
        with self._lock:
            self._pairs.add(pair)
        try:
            while self._forward(client, server):
                pass
        except OSError:
            pass
        with self._lock:
            self._pairs.discard(pair)
        client.close()
        server.close()

    @staticmethod
    def _forward(client: socket.socket, server: socket.socket) -> bool:
        readable, _, _ = select.select([client, server], [], [])
        for end in readable:
            data = end.recv(65536)
            if not data:
                return False
            (server if end is client else client).sendall(data)
        return True
