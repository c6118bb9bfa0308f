"""Pure stages: values in, values out, NumPy and nothing else. Same input, same output."""
