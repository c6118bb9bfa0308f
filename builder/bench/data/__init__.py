"""The conversations of the benchmarks."""
