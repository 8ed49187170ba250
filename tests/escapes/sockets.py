"""Opens sockets of every family, and connects to what listens on the host."""

import os
import socket

from tries import escaped, fails, held

port = int(os.environ["HOST_PORT"])
for family in range(46):
    if family == socket.AF_UNIX:
        continue
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind)
        except OSError:
            continue
        escaped(f"a socket of family {family}, type {kind}")
held("sockets of every family but that of files")
fails("a listener of the host", lambda: socket.create_connection(("127.0.0.1", port), timeout=2))
fails("the network", lambda: socket.create_connection(("192.0.2.1", 80), timeout=2))
hidden = socket.socket(socket.AF_UNIX)
fails("an abstract socket of the host", lambda: hidden.connect("\0" + os.environ["ABSTRACT"]))
fails("a socket file of the host", lambda: hidden.connect(os.environ["SOCKET_FILE"]))
