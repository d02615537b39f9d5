"""The sockets that send and receive: TCP streams, datagrams and what the kernel says about them."""
