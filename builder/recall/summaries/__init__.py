"""Summaries: the units that they stand for, and the sentences that they may copy."""
