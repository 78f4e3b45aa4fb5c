"""rensa's LSH index. Its signatures can only be made of sets or of its own pickles, so registers are put into pickles."""

from __future__ import annotations

from lsh_protocol import BANDS, REGISTERS, THRESHOLD, Peer, Registers, main
from rensa import RMinHash, RMinHashLSH

SEED = 42
EMPTY = RMinHash(REGISTERS, SEED)


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


# What comes before the registers: the same for all of a size and a seed. An empty signature has the largest register everywhere.
STATE = EMPTY.__getstate__()
HEAD = STATE.removesuffix(varint(2**32 - 1) * REGISTERS)


def signature(registers: list[int]) -> RMinHash:
    one = RMinHash(REGISTERS, SEED)
    one.__setstate__(HEAD + b"".join(map(varint, registers)))
    return one


def signatures(registers: Registers) -> list[RMinHash]:
    made = [signature(row) for row in registers.tolist()]
    assert made[0].digest() == registers[0].tolist(), "the state of rensa's signatures has changed"
    return made


if __name__ == "__main__":
    main(
        Peer(
            name="rensa",
            package="rensa",
            api="RMinHashLSH.insert, query; insert_many, query_all: ids only",
            empty=lambda: RMinHashLSH(THRESHOLD, REGISTERS, BANDS),
            signatures=signatures,
            insert=lambda index, number, one: index.insert(number, one),
            query=lambda index, one: index.query(one),
            bulk_signatures=signatures,
            bulk_insert=lambda index, many: index.insert_many(many),
            bulk_query=lambda index, many: index.query_all(many),
        )
    )
