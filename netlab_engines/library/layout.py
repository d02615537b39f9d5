"""The layout of a structure that crosses between Python and the library kernel's program."""

import struct
from collections import namedtuple
from collections.abc import Iterator
from typing import Any


class Layout:
    """The layout of a C structure of the wire format, which converts it between named values and bytes.

    Parameters
    ----------
    name : str
        The structure's name in protocol.h.
    code : str
        The types of its fields, as `struct` names them, little-endian and without holes; fields that are always zero are padding.
    fields : tuple of str
        The names of all other fields. An array of numbers has a name for each: `key_0`, `key_1`.
    """

    def __init__(self, name: str, code: str, fields: tuple[str, ...]) -> None:
        """Define the layout of the C structure `name` of protocol.h: `code` has the types of its fields as Python's
        `struct` writes them, little-endian and without holes; `fields` has the fields' names in the same order, without
        those that are always zero.
        """
        self.name, self.fields = name, fields
        self.struct = struct.Struct(f"<{code}")
        self.size = self.struct.size
        self._row: Any = namedtuple(name, fields)  # type: ignore[misc]

    def pack(self, **values: Any) -> bytes:
        """Return the bytes of a structure whose fields have these values, given by the fields' names. Raises TypeError
        for a field that is missing or unknown.
        """
        return self.struct.pack(*self._row(**values))

    def unpack(self, data: bytes | bytearray | memoryview) -> Any:
        """Return the structure at the start of `data` as a named tuple with its fields; bytes after it are ignored.
        Raises struct.error if there are too few.
        """
        return self._row._make(self.struct.unpack_from(data))

    def iter_unpack(self, data: bytes | bytearray | memoryview) -> Iterator[Any]:
        """Return an iterator over the structures of which `data` consists, one after the other, as named tuples. Raises
        struct.error if the last one is incomplete.
        """
        return map(self._row._make, self.struct.iter_unpack(data))
