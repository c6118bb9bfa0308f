"""The prepared int8 model on ONNX Runtime: one thread, one text a run. Never imports torch."""

from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import EPFail, Fail, InvalidArgument, RuntimeException
from tokenizers import Tokenizer

from builder.adapters.embedding.engine import EngineThread, unit, well_formed
from builder.adapters.embedding.prepared import TOKENIZER, WEIGHTS, read_prepared

WINDOW = 256
"""Word pieces, as sentence-transformers cuts for this model."""
MAX_TEXT_CHARS = 32_768
"""The tokeniser holds the GIL and would read a megabyte for seconds before it cuts."""


class OnnxModel:
    """Text → vector in the calling thread.

    Reads the first 256 word pieces of the first 32,768 characters. Mean over all word pieces, [CLS] and [SEP] included, as
    sentence-transformers does; so empty and blank texts have a vector too, one and the same.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` holds `model.onnx` and `tokenizer.json`; they are not checked here."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WINDOW)

    def encode(self, text: str) -> bytes:
        """The unit vector as little-endian float16 bytes, shape (384,)."""
        pieces = self._tokenizer.encode(well_formed(text[:MAX_TEXT_CHARS]))
        ids = np.array([pieces.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)  # (1, pieces, 384) float32
        return unit(hidden[0].mean(axis=0))


class OnnxEmbedder(EngineThread):
    """The prepared model, named `<name>/int8/<first 12 hex digits of the SHA-256 of model.onnx>`."""

    def __init__(self, folder: Path) -> None:
        """Raises `Misconfigured` when the model in `folder` is absent or altered."""
        failures = (EPFail, Fail, InvalidArgument, RuntimeException)
        super().__init__(read_prepared(folder).model, lambda: OnnxModel(folder), failures)
