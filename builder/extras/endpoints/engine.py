"""Vectors of an OpenAI-compatible endpoint; texts that wait together share a request."""

import asyncio
from dataclasses import replace
from functools import partial
from hashlib import blake2b

import httpx2
import numpy as np
import stamina
from typing_extensions import override

from builder.adapters.embedding.engine import Endpoint, Engine
from builder.adapters.embedding.vectors import unit, well_formed
from builder.domain.errors import Misconfigured, Unavailable

MAX_TEXT_CHARS = 8_000
"""Hosted models refuse texts above 8,192 tokens."""
LEAST_CHARS = 250
"""A text refused at this length is refused for another reason."""
BLANK = "."
"""Instead of a text without a letter, which hosted models refuse."""
REQUESTS = 4
"""Concurrent; texts that wait share the next one."""
LAST_PAUSE_SECONDS = 8.0
FINAL_CODES = frozenset({400, 401, 403, 404, 405, 410, 413, 422})
"""A retry gets the same answer."""
CONTENT_CODES = frozenset({400, 413, 422})
"""About the text itself."""
_RETRIED = (httpx2.HTTPError, ValueError, LookupError, TypeError)


class EndpointEmbedder(Engine):
    """Named `<model>/endpoint/<12 hex digits of a hash of URL, model and dimensions>`."""

    def __init__(self, endpoint: Endpoint) -> None:
        key = endpoint.key.strip()
        try:
            url = httpx2.URL(endpoint.url)
        except httpx2.InvalidURL:  # which may repeat a password
            url = httpx2.URL()
        is_whole = url.scheme in {"http", "https"} and url.host and (url.port is None or url.port in range(1, 65_536))
        if not is_whole or url.userinfo or not endpoint.dimensions:
            raise Misconfigured(
                "the engine endpoint needs CONTEXT_BUILDER_EMBEDDING__URL, as https://host/v1 and without credentials, and "
                f"CONTEXT_BUILDER_EMBEDDING__DIMENSIONS, the number of values in a vector of {endpoint.model}; a key is given as "
                "CONTEXT_BUILDER_EMBEDDING__KEY"
            )
        if not (key.isascii() and key.isprintable()):
            raise Misconfigured(
                "CONTEXT_BUILDER_EMBEDDING__KEY has a character that no header takes: give the key in printable ASCII alone"
            )
        self.batch = endpoint.batch
        self._endpoint = replace(endpoint, key=key)
        self._url = url.copy_with(path=f"{url.path.rstrip('/')}/embeddings")
        self._ways: tuple[dict[str, int], ...] = ({"dimensions": endpoint.dimensions}, {})
        self._client = httpx2.AsyncClient(
            timeout=endpoint.timeout,
            headers={"Authorization": f"Bearer {key}"} if key else None,
            follow_redirects=False,
            trust_env=False,
        )
        self._retry = stamina.AsyncRetryingCaller(
            endpoint.attempts, timeout=None, wait_initial=endpoint.first_pause, wait_max=LAST_PAUSE_SECONDS, wait_jitter=0
        ).on(_RETRIED)
        self._requests = asyncio.Semaphore(REQUESTS)
        self._filling: dict[str, tuple[list[str], asyncio.Task[list[bytes | Exception]]]] = {}

    @property
    @override
    def model(self) -> str:
        identity = f"{self._url}\0{self._endpoint.model}\0{self._endpoint.dimensions}"
        return f"{self._endpoint.model}/endpoint/{blake2b(identity.encode(), digest_size=6).hexdigest()}"

    @override
    async def ready(self, seconds: float | None = None) -> None:
        """Return at once."""

    @override
    async def embed(self, text: str, input_type: str = "") -> bytes:
        if self._client.is_closed:
            raise Unavailable("the embedding engine is closed: start the service again")
        if input_type not in self._filling or len(self._filling[input_type][0]) == self.batch:
            batch = list[str]()
            self._filling[input_type] = batch, asyncio.ensure_future(self._send(batch, input_type))
        texts, vectors = self._filling[input_type]
        texts.append(well_formed(text[:MAX_TEXT_CHARS]).strip() or BLANK)
        position = len(texts) - 1
        vector = (await asyncio.shield(vectors))[position]
        if isinstance(vector, bytes):
            return vector
        raise Unavailable(
            f"the embedding endpoint {self._url.copy_with(query=None)} gave no vector: "
            f"{repr(vector).replace(self._endpoint.key or chr(0), '…'):.300}; check "
            "CONTEXT_BUILDER_EMBEDDING__URL, __MODEL, __DIMENSIONS and __KEY"
        ) from vector

    @override
    async def aclose(self) -> None:
        await self._client.aclose()

    async def _send(self, texts: list[str], input_type: str) -> list[bytes | Exception]:
        async with self._requests:
            if self._filling.get(input_type, ((),))[0] is texts:
                del self._filling[input_type]
            return await self._vectors(texts, input_type, asyncio.get_running_loop().time() + self._endpoint.timeout)

    async def _vectors(self, texts: list[str], input_type: str, deadline: float) -> list[bytes | Exception]:
        half = len(texts) // 2
        try:
            async with asyncio.timeout_at(deadline):
                return [*await self._retry(partial(self._request, texts, input_type))]  # no argument, which stamina would log
        except (_Final, *_RETRIED, TimeoutError) as error:
            refused = isinstance(error, _Final) and error.args[0] in CONTENT_CODES
            if not refused or not (half or len(texts[0]) > LEAST_CHARS) or not await self._takes_any(input_type, deadline):
                return [error] * len(texts)
        parts = [texts[:half], texts[half:]] if half else [[texts[0][: len(texts[0]) // 2]]]
        return [vector for part in parts for vector in await self._vectors(part, input_type, deadline)]

    async def _takes_any(self, input_type: str, deadline: float) -> bool:
        return len(self._ways) == 1 or isinstance((await self._vectors([BLANK], input_type, deadline))[0], bytes)

    async def _request(self, texts: list[str], input_type: str) -> list[bytes]:
        body = {"model": self._endpoint.model, "input": texts} | ({"input_type": input_type} if input_type else {})
        for dimensions in self._ways:
            response = await self._client.post(self._url, json=body | dimensions)
            if response.status_code not in CONTENT_CODES:
                break
        if response.status_code in FINAL_CODES:
            raise _Final(response.status_code)
        if response.status_code != httpx2.codes.OK:
            raise ValueError(f"it answered {response.status_code}")
        vectors = self._read(response, len(texts))
        self._ways = (dimensions,)
        return vectors

    def _read(self, response: httpx2.Response, texts: int) -> list[bytes]:
        rows = {row["index"]: row["embedding"] for row in response.json()["data"]}
        values = np.array([rows[index] for index in range(texts)], np.float32)[:, : self._endpoint.dimensions]
        is_finite = np.isfinite(values).all(axis=1)
        if values.shape[1] < self._endpoint.dimensions or not is_finite.any():
            raise ValueError(f"its vectors have {values.shape[1]} finite values, not {self._endpoint.dimensions}")
        if not is_finite.all():
            raise _Final(httpx2.codes.UNPROCESSABLE_CONTENT)
        return [unit(each) for each in values]


class _Final(Exception):  # noqa: N818 - an answer
    """An answer that a retry would not change."""
