"""Several participants behind one call: what workflows, swarms and graphs share."""
