"""Benchmarks as commands: what they print is what the README quotes."""
