"""Connections are bounded in number and in time; tests/serve/test_server.py tries it from outside."""

from gapline.serve.connections import BoundedProtocol, Connections


class Transport:
    aborted = 0

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


def test_each_server_has_its_own_room():
    one, other = Connections(), Connections()
    assert one.protocol().room is one
    assert other.protocol().room is other
