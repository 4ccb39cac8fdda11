"""How sure a number is: contributors as clusters, their weights in a resample, variances, intervals and tests."""
