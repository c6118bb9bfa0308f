"""The world outside, as Protocols whose docstrings are the contract."""
