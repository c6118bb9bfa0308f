"""The broker in memory, for tests of agents (`builder.testing`)."""
