"""From what the caller names to partitions: files, folders, streams, frames, and their digests."""
