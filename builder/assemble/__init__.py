"""The third verb: recall → page under the budget."""
