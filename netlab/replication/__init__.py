"""Every published figure that the chapters cover, measured again: `rows.replicate`, and `report` to write it down."""
