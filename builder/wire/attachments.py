"""Images and files in JSON of any vendor: what is one, what its bytes are, and the line that names it.

Only what brings encoded bytes, or nothing but a reference to bytes elsewhere, is one; base64 is decoded only to be recognised.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from builder.domain.json_values import JsonObject

Fields = Mapping[str, Any]
"""An object of a vendor, or of a tool."""
KINDS = {
    "image": "image", "image_url": "image", "input_image": "image", "image_file": "image", "computer_screenshot": "image",
    "file": "file", "input_file": "file", "document": "document", "resource": "file", "media": "file",
    "container_upload": "file", "audio": "audio", "input_audio": "audio", "output_audio": "audio", "audio_url": "audio",
    "video": "video", "video_url": "video", "input_video": "video", "image-data": "image", "image-url": "image",
    "image-file-id": "image", "file-data": "file", "file-url": "file", "file-id": "file",
}  # fmt: skip
"""Type of a part → what it is."""
NESTED = (
    "source", "image_url", "image_file", "file", "input_audio", "inline_data", "inlineData", "file_data", "fileData", "resource",
    "document", "image", "audio", "video", "video_url", "audio_url", "s3Location",
)  # fmt: skip
_DATA = ("data", "base64", "b64", "b64_json", "bytes", "blob", "file_data", "image_data")
_URLS = ("url", "uri", "fileUri", "file_uri", "href")
_IDS = ("file_id", "fileId", "image_id", "asset_pointer")
_REFERENCES = (*_IDS, "id", *_URLS)
_MEDIA = (
    "media_type", "mime_type", "mimeType", "mimetype", "mediaType", "content_type", "contentType", "image_mimetype",
    "document_mimetype", "video_mimetype", "format",
)  # fmt: skip
_NAMES = ("name", "filename", "file_name", "fileName", "displayName", "display_name", "title", "uri")
_SIZES = ("size", "size_bytes", "sizeBytes", "bytes", "byte_length")
_CAPTIONS = ("caption", "alt", "alt_text", "description")
_WORDLESS = frozenset(
    (*NESTED, *_DATA, *_REFERENCES, *_MEDIA, *_NAMES, *_SIZES, *_CAPTIONS, "type", "detail", "citations", "cache_control",
     "_meta", "providerOptions", "providerMetadata", "expires_at", "source_type", "width", "height")
)  # fmt: skip
"""Fields that the line of an image or file stands for, or that say nothing."""

PICTURE_STARTS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
"""First base64 of a picture → its type. What a sender writes beside it may be wrong, and then a provider refuses the request."""
MAX_NAME_CHARS = 120
"""A longer name is cut."""
MIN_ENCODED_CHARS = 256
"""A stretch without a space of so many is shortened in a result."""
MIN_BARE_CHARS, MIN_PADDED_CHARS = 24, 8
"""Shortest base64 that neither a type nor a media type announces."""
MIN_DIFFERENT_CHARS, MIN_DENSE_SHARE = 16, 0.3
"""Different letters, and share of capitals and digits, of encoded bytes. Words, paths and sequences have fewer."""
_HEAD_CHARS = 4_096

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_DATA_URL = re.compile(r"data:(?P<media>[\w.+/-]*)(?:;[\w=.+-]+)*?;base64,(?P<data>[A-Za-z0-9+/=_-]+)")
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}(?:\r?\n[A-Za-z0-9+/_-]{60,})*(?:\r?\n[A-Za-z0-9+/_-]*={1,2}|={0,2})"
)
_BINARY = re.compile(r"(?:image|audio|video|font)\b|application/(?!json|xml|x-ndjson|.*\+(?:json|xml))")
_BINARY_FORMATS = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "bmp",
        "tiff",
        "heic",
        "wav",
        "mp3",
        "flac",
        "ogg",
        "opus",
        "aac",
        "m4a",
        "pcm",
        "pcm16",
        "mp4",
        "mov",
        "mkv",
        "webm",
        "avi",
        "pdf",
        "zip",
        "gz",
        "docx",
        "xlsx",
    ]
)
_TEXTUAL = re.compile(r"text/|application/(?:json|xml|.*\+(?:json|xml))")


class Attachment(NamedTuple):
    """An image or file."""

    line: str
    """Kind, name, type, size and caption in brackets, as far as they are known."""
    kind: str
    url: str
    media: str
    data: str
    """Base64; "" = it only has an address."""
    is_whole: bool
    """Nothing else is in its object."""


class _Source(NamedTuple):
    fields: JsonObject
    """Those of the part and of the objects nested in it."""
    url: str
    media: str
    data: str


def attachment_of(part: Fields) -> Attachment | None:
    """The image or file that an object is, or brings beside its words; None = it is none."""
    source, kind = _source(part), _kind_of(part)
    is_whole = not other_fields(part)
    has_text = any(isinstance(value := source.fields.get(name), str) and value for name in _DATA)
    is_reference = is_whole and kind in KINDS and any(isinstance(source.fields.get(name), str) for name in _REFERENCES)
    if not source.data and (has_text or not is_reference):
        return None
    return Attachment(
        attachment_line(part), KINDS.get(kind, kind_of_media(source.media)), source.url, source.media, source.data, is_whole
    )


def attachment_line(part: Fields) -> str:
    """Kind, name, type, size and caption of what a sender lists as an attachment, as far as known."""
    source = _source(part)
    size = decoded_bytes(source.data) if source.data else _first(source.fields, _SIZES, int)
    address = "" if source.url.startswith("data:") else source.url
    name = _first(source.fields, _NAMES, str) or address or _first(source.fields, _IDS, str) or ""
    captions = [source.fields[key] for key in ("title", *_CAPTIONS) if isinstance(source.fields.get(key), str)]
    caption = ", ".join(dict.fromkeys(_in_brackets(text) for text in captions if text.strip() and text != name))
    details = (one_line_name(source.media), "" if size is None else f"{size:,} bytes")
    kind = _kind_of(part) or (kind_of_media(source.media) if any((name, caption, *details)) else "attachment")
    title = f"{KINDS.get(kind, one_line_name(kind))} {one_line_name(name)}".strip()
    return f"[{', '.join(filter(None, (title, *details)))}{': ' if caption else ''}{caption}]"


def without_bytes(part: Fields, line: str) -> JsonObject:
    """The object with the line in place of its encoded bytes; its other fields stay."""
    shorter = dict(part)
    for key, value in part.items():
        if isinstance(value, dict) and key in NESTED:
            shorter[key] = without_bytes(value, line)
        elif isinstance(value, str) and key in {*_DATA, *_URLS, *NESTED} and _bytes_of(part, key, value, _media(part)):
            shorter[key] = line
    return shorter


def without_data_urls(text: str) -> str:
    """The text with a line in place of each image or file that a data URL brings."""
    if ";base64," not in text:
        return text
    return _DATA_URL.sub(lambda url: attachment_line({"type": kind_of_media(url["media"]), "url": url[0]}), text)


def without_runs(text: str) -> str:
    """The text with a mark in place of long encoded runs."""
    return _ENCODED.sub(_shortened, text) if len(text) >= MIN_ENCODED_CHARS else text


def kind_of_media(media: str) -> str:
    """`image`, `audio`, `video` or `file`."""
    head = media.partition("/")[0]
    return head if head in {"image", "audio", "video"} else "file"


def decoded_bytes(data: str) -> int:
    """Number of bytes that base64 stands for."""
    return sum(letter not in "=\r\n" for letter in data) * 3 // 4


def one_line_name(text: str) -> str:
    """A name inside our brackets, of at most MAX_NAME_CHARS."""
    line = _in_brackets(text)
    return line if len(line) <= MAX_NAME_CHARS else line[:MAX_NAME_CHARS].rstrip() + "…"


def _in_brackets(text: str) -> str:
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _kind_of(part: Fields) -> str:
    kind = part.get("type")
    if isinstance(kind, str):
        return kind
    nested = [key for key in ("image", "document", "audio", "video") if isinstance(part.get(key), dict) and len(part) == 1]
    media = _source(part).media
    is_by_media = media and any(isinstance(part.get(key), dict) for key in ("inline_data", "inlineData", "fileData", "file_data"))
    return nested[0] if nested else kind_of_media(media) if is_by_media else ""


def other_fields(part: Fields) -> JsonObject:
    """Fields that the line of an image or file does not stand for, those of its inner objects as well."""
    others: JsonObject = {}
    for key, value in part.items():
        if isinstance(value, dict) and key in NESTED:
            others |= other_fields(value)
        elif key not in _WORDLESS and value not in (None, "", [], {}):
            others[key] = value
    return others


def _media(fields: Fields) -> str:
    return _first(fields, _MEDIA, str) or ""


def _source(part: Fields) -> _Source:
    fields = dict(part)
    for key in NESTED:
        inner = part.get(key)
        while isinstance(inner, dict):
            fields |= {name: value for name, value in inner.items() if name != "type"}
            inner = inner.get("source", inner.get("s3Location"))
        if isinstance(inner, str):
            fields.setdefault("url", inner)
    media = _media(fields)
    for key in (*_DATA, *NESTED, "url"):
        value = fields.get(key)
        if isinstance(value, str) and (encoded := _bytes_of(part, key, value, media)):
            own_url = fields["url"] if isinstance(fields.get("url"), str) and fields["url"] != value else ""
            return _Source(fields, own_url, encoded[0] or media, encoded[1])
    return _Source(fields, _first(fields, _URLS, str) or "", media, "")


def _bytes_of(part: Fields, key: str, value: str, media: str) -> tuple[str, str] | None:
    """Media type and base64 of a field; None = it is a text, or an address."""
    encoded = _DATA_URL.fullmatch(value)
    if encoded is not None:
        return encoded["media"], encoded["data"]
    kind = part.get("type") if isinstance(part.get("type"), str) else ""
    return (media, value) if key != "url" and _is_encoded(value, media, str(kind)) else None


def _is_encoded(text: str, media: str, kind: str) -> bool:
    compact = "".join(text.split()) if "\n" in text else text
    if not _BASE64.fullmatch(compact):
        return False
    is_medium = KINDS.get(kind) in {"image", "audio", "video"} or kind == "redacted_thinking"
    if is_medium or _BINARY.match(media) or media in _BINARY_FORMATS:
        return True
    padded = compact.endswith("=") and len(compact) >= MIN_PADDED_CHARS
    if not padded and (len(compact) < MIN_BARE_CHARS or not _is_mixed(compact)):
        return False
    is_announced = bool(KINDS.get(kind)) or bool(_TEXTUAL.match(media))
    return is_announced or not _is_text(compact)


def _is_mixed(text: str) -> bool:
    return any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))


def _is_text(data: str) -> bool:
    head = data[: _HEAD_CHARS // 4 * 4].rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = base64.b64decode(head + "=" * (-len(head) % 4))
    except binascii.Error:
        return True
    text = decoded.decode("utf-8", "replace")
    return sum(sign == "\ufffd" or (sign < " " and sign not in "\t\r\n") for sign in text) * 50 < len(text)


def _shortened(stretch: re.Match[str]) -> str:
    text = stretch[0]
    is_dense = sum(letter.isupper() or letter.isdigit() for letter in text) >= MIN_DENSE_SHARE * len(text)
    if len(text) < MIN_ENCODED_CHARS or len(set(text)) < MIN_DIFFERENT_CHARS or not is_dense:
        return text
    return f"[encoded data, {decoded_bytes(text):,} bytes]"


def _first(fields: Fields, names: tuple[str, ...], kind: type) -> Any:
    values = (fields.get(name) for name in names)
    return next((value for value in values if isinstance(value, kind) and value and not isinstance(value, bool)), None)
