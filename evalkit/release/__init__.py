"""Release: what an evaluation must show before people decide on it."""
