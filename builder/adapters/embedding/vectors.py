"""The text that a model gets, and the vector that it gives."""

import numpy as np
import numpy.typing as npt

from builder.domain.errors import Unavailable


def unit(values: npt.NDArray[np.float32]) -> bytes:
    """Float32 values (dimension,) → unit vector as little-endian float16 bytes; zeros → the first axis.

    Raises `Unavailable` unless finite.
    """
    length = float(np.linalg.norm(values))
    if not np.isfinite(length):
        raise Unavailable(f"the model gave a vector of length {length}: prepare it again, or use another model")
    if length == 0:
        values, length = np.eye(1, len(values), dtype=np.float32)[0], 1.0
    return (values / length).astype("<f2").tobytes()


def well_formed(text: str) -> str:
    """Lone surrogates become U+FFFD: no tokeniser takes them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
