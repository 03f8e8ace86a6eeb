from frames import serve

serve(connected=lambda peer: peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
