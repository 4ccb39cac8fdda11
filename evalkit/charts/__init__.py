"""Reports drawn: read into one small model, from which come charts, tables, and files that need nothing else."""
