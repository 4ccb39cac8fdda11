"""A whole dump: partitions read by workers, contributors held out, tallies added up."""
