"""How text, values and results are made shorter. The words of a cut are in `templates/phrases/en.yaml`."""
