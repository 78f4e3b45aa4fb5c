"""FastSketchLSH's index. It numbers documents itself, and takes one as a matrix of one row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from FastSketchLSH import LSH
from lsh_protocol import BANDS, REGISTERS, Peer, Registers, main


def matrix(registers: Registers) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(registers, dtype=np.uint64)


def rows(registers: Registers) -> list[npt.NDArray[np.uint64]]:
    return list(matrix(registers)[:, None, :])


if __name__ == "__main__":
    main(
        Peer(
            name="FastSketchLSH",
            package="FastSketchLSH",
            api="LSH.insert of a row or a matrix, LSH.query of a row, LSH.query(matrix, 'csr'); num_threads=1: ids only; similarities by NumPy",
            empty=lambda: LSH(num_perm=REGISTERS, num_bands=BANDS, num_threads=1),
            signatures=rows,
            insert=lambda index, _, row: index.insert(row),
            query=lambda index, row: index.query(row[0]),
            bulk_signatures=matrix,
            bulk_insert=lambda index, many: index.insert(many),
            bulk_query=lambda index, many: index.query(many, "csr"),
            similarities=lambda row, others: (np.concatenate(others) == row).mean(axis=1).tolist() if others else [],
            numbers=lambda answer: (answer[1].astype(np.int64), answer[0].astype(np.int64)),
        )
    )
