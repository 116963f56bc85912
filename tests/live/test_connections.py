"""Connections are bounded in number and in time; tests/live/test_server.py tries it from outside."""

import socket
import struct

from gapline.live.guard import BoundedProtocol, Connections


class Transport:
    aborted = 0

    def __init__(self):
        self.options = []

    def get_extra_info(self, name):
        assert name == "socket"
        return self

    def setsockopt(self, *option):
        self.options.append(option)

    def abort(self):
        self.aborted += 1


def test_a_connection_is_dropped_by_the_address_of_its_other_end():
    connections = Connections()
    protocol = BoundedProtocol.__new__(connections.protocol())
    protocol.transport = Transport()
    connections.open["127.0.0.1", 5] = protocol
    connections.drop(("127.0.0.1", 6))
    connections.drop(None)
    assert protocol.transport.aborted == 0
    connections.drop(["127.0.0.1", 5])
    assert protocol.transport.aborted == 1
    # At once: what the kernel has for somebody who does not read is not waited for.
    linger = struct.pack("ii", 1, 0)
    assert protocol.transport.options == [(socket.SOL_SOCKET, socket.SO_LINGER, linger)]


def test_each_server_has_its_own_room():
    one, other = Connections(), Connections()
    assert one.protocol().room is one
    assert other.protocol().room is other
