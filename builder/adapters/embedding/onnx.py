"""The prepared int8 model on ONNX Runtime: one thread, no torch."""

from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import EPFail, Fail, InvalidArgument, RuntimeException
from tokenizers import Tokenizer

from builder.adapters.embedding.engine import EngineThread
from builder.adapters.embedding.prepared import TOKENIZER, WEIGHTS, read_prepared
from builder.adapters.embedding.vectors import unit, well_formed

WINDOW = 256
"""Word pieces, as sentence-transformers cuts."""
MAX_TEXT_CHARS = 32_768
"""The tokeniser holds the GIL, seconds for a megabyte."""


class OnnxModel:
    """Text → vector in the calling thread: the mean over the first word pieces of 32,768 characters, [CLS] and [SEP] included."""

    def __init__(self, folder: Path, window: int = WINDOW) -> None:
        """folder: not checked here. window: word pieces."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(window)
        self._inputs = [each.name for each in self._session.get_inputs()]

    def encode(self, text: str) -> bytes:
        """The unit vector as little-endian float16 bytes, shape (dimension,)."""
        pieces = self._tokenizer.encode(well_formed(text[:MAX_TEXT_CHARS]))
        ids = np.array([pieces.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (output,) = self._session.run(None, {name: inputs[name] for name in self._inputs})  # (1[, pieces], dimension) float32
        return unit(output[0].mean(axis=0) if output.ndim > 2 else output[0])  # noqa: PLR2004


class OnnxEmbedder(EngineThread):
    """Prepared model `<name>/int8/<12 hex digits of the SHA-256 of model.onnx>`."""

    def __init__(self, folder: Path) -> None:
        """Raises `Misconfigured` unless the model is there and unaltered."""
        failures = (EPFail, Fail, InvalidArgument, RuntimeException)
        prepared = read_prepared(folder)
        super().__init__(prepared.model, lambda: OnnxModel(folder, prepared.window), failures)
