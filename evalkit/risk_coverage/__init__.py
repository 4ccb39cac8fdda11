"""Risk and coverage of selective prediction: the exact curve, its areas, intervals, and cuts with a guarantee."""
