"""Every published number that the chapters cover, measured again: `rows.replicate`; `report` writes it down, `labs` says how."""
