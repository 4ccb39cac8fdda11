"""What one record must be: strict JSON, the rules of each field, the exact reader."""
