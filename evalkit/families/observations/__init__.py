"""Labelled observations: texts, commands, reviews and rankings beside what they should have been, measured."""
