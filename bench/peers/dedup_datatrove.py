"""datatrove's four stages, one task and one worker each. It removes on a shared bucket, joins buckets transitively, and checks no estimate.

Which document of a cluster it keeps is an accident of its union-find; here the first in file order counts as the one, as for everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dedup_protocol import BANDS, ROWS, SEED, Removal, later_members, main, row_ids

API = (
    "LocalPipelineExecutor: MinhashDedupSignature (spaCy's English tokenizer, lower case, no punctuation, 64-bit xxhash), MinhashDedupBuckets, "
    "MinhashDedupCluster, MinhashDedupFilter and JsonlWriter without compression; no estimate is checked"
)


def dedup(corpus: Path, out: Path) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.text import TextNormConfig

    words = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)
    config = MinhashConfig(n_grams=5, num_buckets=BANDS, hashes_per_bucket=ROWS, seed=SEED, norm_config=words)
    reader = JsonlReader(str(corpus.parent), glob_pattern=corpus.name)
    signatures, buckets, removed, kept = (str(out / name) for name in ("signatures", "buckets", "removed", "kept"))
    stages = [
        ([reader, MinhashDedupSignature(signatures, config=config)], 1),
        ([MinhashDedupBuckets(signatures, buckets, config=config, lines_to_buffer=-1)], BANDS),
        ([MinhashDedupCluster(buckets, removed, config=config, save_cluster_id=True, lines_to_buffer=-1)], 1),
        ([reader, MinhashDedupFilter(removed, lines_to_buffer=-1), JsonlWriter(kept, compression=None)], 1),
    ]
    for number, (pipeline, tasks) in enumerate(stages, start=1):
        logs = str(out / f"logs-{number}")
        LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=1, logging_dir=logs, skip_completed=False).run()


def collect(corpus: Path, out: Path) -> Iterator[Removal]:
    """The clusters of its `.clusters` file (row and cluster, 32 bits each), without their first members."""
    import numpy as np

    clusters = np.fromfile(out / "removed/000000.clusters", dtype="<u4").reshape(-1, 2)
    return later_members(clusters.tolist(), row_ids(corpus))


if __name__ == "__main__":
    main("datatrove", API, dedup, collect)
