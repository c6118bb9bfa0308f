"""One file a migration; they only add, so that workers of the release before go on."""
