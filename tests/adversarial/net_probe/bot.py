import socket

from probe import attempt, play


def connect(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as attempted:
        attempted.settimeout(1)
        attempted.connect((host, 22))


for host in ("127.0.0.1", "172.17.0.1", "192.0.2.1"):
    attempt(f"TCP to {host}", connect, socket.AF_INET, host)
attempt("TCP to ::1", connect, socket.AF_INET6, "::1")
attempt("a name", socket.create_connection, ("example.org", 80), timeout=1)
attempt("UDP", socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
attempt("raw packets", socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
attempt("netlink", socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)
play()
