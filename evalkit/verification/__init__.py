"""Verification: a report is a claim, its inputs are the evidence, and what they give is compared field by field."""
