"""What is written: reports, tables, files put in place whole; and reports read back."""
