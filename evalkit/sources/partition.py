"""From sources to partitions, in order and as often as asked for, and the digests of what was read.

A partition is the unit everywhere: it bounds memory, moves the progress bar, and is what a worker gets. However a
source is cut, the same records come out; how, the module of its format knows (``formats``). No module of the dataframe
library is imported here, so that digests are under way while it loads.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any, Protocol, Self

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.sources.formats import FRAME, Format, by_magic, home
from evalkit.sources.source import STANDARD_INPUT, BrokenSourceError, Evidence, Identity, Source, needs_file, open_same
from evalkit.sources.stream import STEP, BrokenDataError, Stream, Tap, decompressed

PARTITION_BYTES = 15 * 1024 * 1024
"""Bytes of a partition: twice as many are no faster and hold twice the memory; 32 MiB and more is memory that the
allocator fetches anew each time."""

PARTITION_ROWS = 1024 * 1024
"""Rows of a partition where there are no lines: twice as many are no faster and hold more memory."""


class Partition(Protocol):
    """Records of one source that stand together."""

    @property
    def source(self) -> int:
        """Which source they are from, by its place in the list."""

    @property
    def number(self) -> int:
        """The partition's place in its source."""

    @property
    def stored(self) -> int:
        """How many stored bytes the partition stands for."""

    @property
    def format(self) -> Format:
        """The format, whose module reads it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole file, whose digest is wanted."""

    path: str
    identity: Identity

    @property
    def stored(self) -> int:
        """Its size."""
        return self.identity.size


Digests = Callable[[Sequence[Whole], threading.Event], Iterable[str]]
"""Digests files in the order given, elsewhere than in a thread of this process, until the event is set."""


def digest(file: Whole, stop: threading.Event | None = None) -> str:
    """Return the SHA-256 of a file, of its beginning where it is stopped.

    Raises:
        Refusal: The file is gone, or is not the one that was named.
    """
    sha256 = hashlib.sha256()
    buffer = bytearray(STEP)
    with open_same(file.path, file.identity) as stream:
        while not (stop and stop.is_set()) and (count := stream.readinto(buffer)):  # type: ignore[attr-defined]
            sha256.update(memoryview(buffer)[:count])
    return sha256.hexdigest()


@dataclass(slots=True)
class Spool:
    """A temporary file without a name, for what cannot be run through twice.

    Attributes:
        file: The file.
        whole: Whether everything is in it.
        ends: Where in it each piece of a frame ends.
        schema: What the module of the format noted of a frame's columns.
    """

    file: IO[bytes]
    whole: bool = False
    ends: list[int] = field(default_factory=list)
    schema: Any = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a format's module gets to cut.

    Attributes:
        index: The source's place in the list.
        source: The source.
        size: About how many bytes a partition of lines should have.
        rows: About how many rows any other partition should have.
        stream: The text, where it can only be read in order.
        spool: The spool of a data frame.
    """

    index: int
    source: Source
    size: int
    rows: int
    stream: Stream | None = None
    spool: Spool | None = None

    @property
    def identity(self) -> Identity:
        """The identity of what must be a regular file."""
        if self.source.identity is None:
            raise TypeError(self.source)
        return self.source.identity


class Inputs:
    """The sources of one run: their partitions, as often as asked for, and their digests.

    Plain files are digested in a thread of its own from the start, or where ``digests`` does it. Everything else is
    digested as it passes through, and what cannot be read a second time is kept in a temporary file without a name. A
    source that turns out to be broken as a whole ends there, and is noted in ``broken``. Of a data frame nothing is
    stored: it has no digest.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        partition_bytes: int = PARTITION_BYTES,
        partition_rows: int = PARTITION_ROWS,
        *,
        digests: Digests | None = None,
    ) -> None:
        self.sources = tuple(sources)
        self._size = partition_bytes
        self._rows = partition_rows
        self._digest = digests or _one_by_one
        self._digests: dict[int, tuple[int, str]] = {}
        self._spools: dict[int, Spool] = {}
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self.broken: dict[int, Violation] = {}
        self._thread = threading.Thread(target=self._digest_files, name="evalkit-digest", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._stack.close()

    @property
    def labels(self) -> list[str]:
        """The name of each source as it is reported."""
        return [source.label for source in self.sources]

    @property
    def units(self) -> list[str]:
        """What the records of each source are counted in: ``line`` or ``row``."""
        return [source.format.unit for source in self.sources]

    @property
    def stored(self) -> int | None:
        """All stored bytes, or None where that is not known before the end."""
        files = [source for source in self.sources if source.format != FRAME]
        sizes = [source.identity.size for source in files if source.identity]
        return sum(sizes) if len(sizes) == len(files) else None

    def partitions(self) -> Iterator[Partition]:
        """Cut all sources, in order. A later call cuts the same again."""
        for index, source in enumerate(self.sources):
            try:
                yield from self._cut(index, source)
            except BrokenSourceError as error:
                self.broken[index] = error.violation

    def digests(self) -> list[tuple[int, str] | None]:
        """Return the stored bytes and the SHA-256 of each source, once all partitions were taken; None for a frame.

        Raises:
            Refusal: A file was changed while it was read.
        """
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        for source in self.sources:
            if source.identity is not None:
                open_same(source.name, source.identity).close()
        return [self._digests.get(index) for index in range(len(self.sources))]

    def converted_from(self, index: int) -> tuple[Evidence, ...] | None:
        """Return the evidence of what a source was converted from; None where it was not converted."""
        find = getattr(home(self.sources[index].format), "converted_from", None)
        found: tuple[Evidence, ...] | None = None if find is None else find(self.sources[index])
        return found

    def warnings(self, contract: Contract) -> list[str]:
        """Return what the caller should know of the columns of sources, though every record in them is valid."""
        found: list[str] = []
        for index, source in enumerate(self.sources):
            find = getattr(home(source.format), "warnings", None)
            told = [] if find is None else find(self._given(index, spool=self._spools.get(index)), contract)
            found += [f"{source.label}: {text}" for text in told]
        return found

    def _given(self, index: int, **more: Any) -> Given:
        return Given(index, self.sources[index], self._size, self._rows, **more)

    def _cut(self, index: int, source: Source) -> Iterator[Partition]:
        cut = home(source.format).cut
        if source.in_order:
            yield from self._cut_in_order(index, source, cut)
        elif source.format == FRAME:
            spool = self._spools.get(index) or self._spooled(index)
            yield from cut(self._given(index, spool=spool))
        else:
            yield from cut(self._given(index))

    def _cut_in_order(self, index: int, source: Source, cut: Any) -> Iterator[Partition]:
        spool = self._spools.get(index)
        with ExitStack() as stack:
            if spool is None and source.identity is None:
                spool = self._spooled(index)
            again = spool is not None and spool.whole
            tap = Tap(self._open(source, spool, stack), spool.file if spool and not again else None)
            if source.identity is None and (found := by_magic(tap.head())) is not None:
                raise BrokenSourceError(needs_file(source.name, found))
            text = stack.enter_context(decompressed(tap))
            try:
                yield from cut(self._given(index, stream=Stream(tap, text)))
            except BrokenDataError as error:
                message = f"the compressed data is broken or cut off: {error}"
                raise BrokenSourceError(Violation("compressed-data", message, source.label)) from None
        self._digests[index] = (tap.count, tap.sha256.hexdigest())
        if spool is not None:
            spool.whole = True

    def _open(self, source: Source, spool: Spool | None, stack: ExitStack) -> IO[bytes]:
        if spool is not None and spool.whole:
            spool.file.seek(0)
            return spool.file
        if source.identity is not None:
            return stack.enter_context(open_same(source.name, source.identity))
        name, own = (0, False) if source.name == STANDARD_INPUT else (source.name, True)
        return stack.enter_context(open(name, "rb", buffering=0, closefd=own))

    def _spooled(self, index: int) -> Spool:
        self._spools[index] = Spool(self._stack.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
        return self._spools[index]

    def _digest_files(self) -> None:
        try:
            files = {
                index: Whole(source.name, source.identity)
                for index, source in enumerate(self.sources)
                if source.identity is not None and not source.in_order
            }
            for index, found in zip(files, self._digest(list(files.values()), self._stop), strict=False):
                self._digests[index] = (files[index].stored, found)
        except BaseException as error:  # noqa: BLE001 - handed on to the caller of digests()
            self._failure = error


def _one_by_one(files: Sequence[Whole], stop: threading.Event) -> Iterator[str]:
    return (digest(file, stop) for file in files)
