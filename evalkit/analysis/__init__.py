"""What an analyst asks besides: a dump as a lazy frame, the metrics of any groups, SQL over results and records."""
