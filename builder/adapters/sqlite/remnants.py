"""Remnants: when SQLite moves rows to another page, it leaves their bytes where they were, in free space that no row uses.

`secure_delete` overwrites a row where it is deleted, not where it was before. The format of a page is SQLite's published one.
"""

from collections.abc import Iterator
from struct import Struct

import apsw

PAGES_AT_ONCE = 512
"""Read at once."""
HEADER_BYTES = 100
"""The file's header, before the first page's own."""
AUTO_VACUUM = slice(52, 56)
"""In the header; where it is set, a page of pointers could look like one of rows."""
MAX_PAGES = 2**25
"""From here on a page that continues a long value could look like one of rows."""
LARGEST_PAGE = 65_536
"""Written as 1 in the header of the file, and as 0 where the cells of an empty page begin."""
_PAGE = Struct(">BHHH")
"""Kind, first free block, number of cells, start of the cells (0 = 65,536)."""
_BLOCK = Struct(">HH")
"""The next free block, bytes of this one."""
_LEAVES, _BRANCHES = frozenset({10, 13}), frozenset({2, 5})


def overwrite(path: str) -> None:
    """Overwrite the remnants in a store's file. Raises apsw's errors.

    The caller holds the write lock, and the write-ahead log is empty: nobody else writes the file. SQLite opens it, because
    closing a file of one's own lets go of the process's locks on it.
    """
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
    try:
        header, end = file.xRead(HEADER_BYTES, 0), file.xFileSize()
        size = _page_size(header)
        if end >= size * MAX_PAGES or any(header[AUTO_VACUUM]):
            raise apsw.FullError(f"what was erased in {path} cannot be overwritten (its size, or auto_vacuum); VACUUM it")
        is_changed = False
        for start in range(0, end, size * PAGES_AT_ONCE):
            part = file.xRead(min(size * PAGES_AT_ONCE, end - start), start)
            for offset in range(0, len(part), size):
                page = part[offset : offset + size]
                for first, last in _free(page, HEADER_BYTES if start + offset == 0 else 0):
                    if page.count(0, first, last) < last - first:
                        file.xWrite(bytes(last - first), start + offset + first)
                        is_changed = True
        if is_changed:
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
    finally:
        file.xClose()


def _page_size(header: bytes) -> int:
    return LARGEST_PAGE if header[16:18] == b"\x00\x01" else int.from_bytes(header[16:18], "big")


def _free(page: bytes, header: int) -> Iterator[tuple[int, int]]:
    """Ranges of a page that no row uses. header: where its header begins. Raises `apsw.CorruptError` for one that is damaged."""
    kind, block, cells, content = _PAGE.unpack_from(page, header)
    if kind not in _LEAVES | _BRANCHES:
        return
    first, content = header + (12 if kind in _BRANCHES else 8) + 2 * cells, content or LARGEST_PAGE
    if not first <= content <= len(page):
        raise apsw.CorruptError("a page of the file has more cells than room")
    yield first, content
    last = content
    while block:
        if not last <= block <= len(page) - _BLOCK.size:
            raise apsw.CorruptError("a free block lies outside its page")
        following, length = _BLOCK.unpack_from(page, block)
        last = block + length
        if length < _BLOCK.size or last > len(page):
            raise apsw.CorruptError("a free block is longer than its page")
        yield block + _BLOCK.size, last
        block = following
