"""Benzer finds similar sets and documents, removes near-duplicates, and says how sure it is.

Names of datasketch work after changing the import:

>>> from benzer import MinHash, MinHashLSH
>>> data = ["minhash", "is", "a", "probabilistic", "data", "structure"]
>>> m = MinHash(num_perm=128)
>>> for word in data:
...     m.update(word.encode("utf8"))
>>> lsh = MinHashLSH(threshold=0.5, num_perm=128)
>>> lsh.insert("m", m)
>>> lsh.query(m)
['m']

Beyond that: :func:`sketch_texts` and other bulk calls, :class:`Sketcher` and :mod:`benzer.estimate` for every sketch with error bars,
:func:`plan`, :func:`dedup` and :func:`dedup_files`, :class:`Index`, and :mod:`benzer.sklearn`.
"""

from __future__ import annotations

from benzer import errors, estimate
from benzer._benzer import version as __version__
from benzer.b_bit_minhash import bBitMinHash
from benzer.deduplication import dedup, dedup_files
from benzer.errors import BenzerError
from benzer.estimate import Estimate
from benzer.hashfunc import sha1_hash32, sha1_hash64
from benzer.index import Index, Match, Matches, collections, drop_collection
from benzer.lean_minhash import LeanMinHash
from benzer.lsh import MinHashLSH
from benzer.lshensemble import MinHashLSHEnsemble
from benzer.lshforest import MinHashLSHForest
from benzer.minhash import MinHash
from benzer.pictures import PictureComparison, compare_pictures
from benzer.planning import Choice, Plan, plan
from benzer.results import DedupResult
from benzer.sketch import Sketch, Sketcher, sketch_csr, sketch_sets, sketch_texts
from benzer.weighted_minhash import WeightedMinHash, WeightedMinHashGenerator

WeightedMinHashLSH = MinHashLSH
WeightedMinHashLSHForest = MinHashLSHForest

__all__ = [
    "BenzerError",
    "Choice",
    "DedupResult",
    "Estimate",
    "Index",
    "LeanMinHash",
    "Match",
    "Matches",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "PictureComparison",
    "Plan",
    "Sketch",
    "Sketcher",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
    "__version__",
    "bBitMinHash",
    "collections",
    "compare_pictures",
    "dedup",
    "dedup_files",
    "drop_collection",
    "errors",
    "estimate",
    "plan",
    "sha1_hash32",
    "sha1_hash64",
    "sketch_csr",
    "sketch_sets",
    "sketch_texts",
]
