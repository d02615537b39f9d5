"""The protocol of a lab, which is the same for all callers and all engines.

A run is a lab that a program controls, and a live network is a lab that a user controls. An engine opens sessions, so it is a
transport. `requests` has the requests and answers, `session` the interface of a session, and `messages` the encoding of
requests for a lab in another process.
"""
