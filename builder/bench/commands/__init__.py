"""The commands `context-builder bench …`: arguments in, one report out."""
