"""rensa's LSH index. Its signatures can only be made of sets or of its own pickles, so registers are put into pickles."""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt
from lsh_protocol import BANDS, REGISTERS, THRESHOLD, Peer, Registers, main
from rensa import RMinHash, RMinHashLSH

SEED = 42
EMPTY = RMinHash(REGISTERS, SEED)


# What comes before the registers: the same for all of a size and a seed. An empty signature has the largest register everywhere, in five bytes.
HEAD = EMPTY.__getstate__().removesuffix(b"\xff\xff\xff\xff\x0f" * REGISTERS)


def varints(registers: Registers) -> list[bytes]:
    """The registers of each row, seven bits a byte."""
    shifted = registers[:, :, None].astype(np.uint64) >> np.arange(0, 35, 7, dtype=np.uint64)
    is_there = (shifted > 0) | (np.arange(5) == 0)
    has_more = np.concatenate([is_there[:, :, 1:], np.zeros((*registers.shape, 1), dtype=bool)], axis=2)
    encoded = (shifted & 0x7F).astype(np.uint8) | (has_more.astype(np.uint8) << 7)
    ends = np.cumsum(is_there.sum(axis=(1, 2))).tolist()
    flat = encoded[is_there].tobytes()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def signatures(registers: Registers) -> list[RMinHash]:
    made = []
    for start in range(0, len(registers), 10_000):
        for row in varints(registers[start : start + 10_000]):
            one = RMinHash(REGISTERS, SEED)
            one.__setstate__(HEAD + row)
            made.append(one)
    for place in (0, -1):
        assert made[place].digest() == registers[place].tolist(), "the state of rensa's signatures has changed"
    return made


def csr(answers: list[list[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    starts = np.zeros(len(answers) + 1, dtype=np.int64)
    np.cumsum([len(answer) for answer in answers], out=starts[1:])
    return starts, np.fromiter(chain.from_iterable(answers), dtype=np.int64, count=int(starts[-1]))


if __name__ == "__main__":
    main(
        Peer(
            name="rensa",
            package="rensa",
            api="RMinHashLSH.insert, query; insert_many, query_all: ids only; similarities by RMinHash.jaccard, all in a call by NumPy",
            empty=lambda: RMinHashLSH(THRESHOLD, REGISTERS, BANDS),
            signatures=signatures,
            insert=lambda index, number, one: index.insert(number, one),
            query=lambda index, one: index.query(one),
            bulk_signatures=signatures,
            bulk_insert=lambda index, many: index.insert_many(many),
            bulk_query=lambda index, many: index.query_all(many),
            similarities=lambda one, others: [one.jaccard(other) for other in others],
            numbers=csr,
        )
    )
