"""datasketch's index in memory; it has no bulk calls for it."""

from __future__ import annotations

from datasketch import MinHash, MinHashLSH
from lsh_protocol import BANDS, REGISTERS, ROWS, Peer, Registers, main


def signatures(registers: Registers) -> list[MinHash]:
    base = MinHash(num_perm=REGISTERS)
    return [MinHash(num_perm=REGISTERS, hashvalues=row, permutations=base.permutations, scheme=base.scheme) for row in registers]


if __name__ == "__main__":
    main(
        Peer(
            name="datasketch",
            package="datasketch",
            api="MinHashLSH(params=(16, 8)).insert(check_duplication=False), query: ids only; similarities by MinHash.jaccard",
            empty=lambda: MinHashLSH(num_perm=REGISTERS, params=(BANDS, ROWS)),
            signatures=signatures,
            insert=lambda index, number, one: index.insert(number, one, check_duplication=False),
            query=lambda index, one: index.query(one),
            similarities=lambda one, others: [one.jaccard(other) for other in others],
        )
    )
