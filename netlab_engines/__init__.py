"""Engines that run a plan: the pocket kernel, the library kernel, and this machine's own kernel (as root); what runs in them."""
