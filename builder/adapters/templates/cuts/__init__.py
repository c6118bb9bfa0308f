"""How text, values and results are made shorter."""
