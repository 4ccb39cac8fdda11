"""One package a family of evaluations: its plan, its metrics, its gates and its entry function."""
