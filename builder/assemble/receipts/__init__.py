"""The receipt of a page: a second account of an assembly, made only when somebody asks."""
