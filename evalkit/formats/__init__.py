"""How each format is told, cut and read. ``sources.formats`` has an entry for each."""
