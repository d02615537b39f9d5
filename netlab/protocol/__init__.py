"""The one protocol of a lab, for every driver and every engine.

A run is a lab that a script drives (`script`), a live network one that a person drives, and an engine opens sessions: it is
a transport. `requests` has what can be asked and what is answered, `session` what an engine opens, `messages` how requests
cross where the lab is in another process.
"""
