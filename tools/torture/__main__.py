"""Breaks the real binary on purpose, and checks the promises of docs/reference/reliability.md.

    python3 tools/torture [quick|long] [PART...] [--seed N] [--kills N] [--minutes N] [--places N]

Parts: kills, damage, full, model, redis, attack, load, churn. `make test` runs the quick version of all, `make torture` the long one.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time

import attack
import churn
import damage
import full
import kills
import lab
import link
import load
import model
import partition

PARTS = ["kills", "damage", "full", "model", "redis", "attack", "load", "churn"]


def main() -> None:
    """Runs the parts, and prints what each one did and how long it took."""
    parser = argparse.ArgumentParser(prog="tools/torture", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", choices=["quick", "long"], nargs="?", default="quick")
    parser.add_argument("parts", nargs="*", metavar="PART", help="all of them unless named")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same seed draws the same moments")
    parser.add_argument("--kills", type=int, help="processes to kill")
    parser.add_argument("--minutes", type=float, help="for the churn and the load")
    parser.add_argument("--places", type=int, help="to damage in each file")
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    is_long = asked.size == "long"
    lab.TIMED[0] = is_long
    works = {
        "kills": lambda: kills.all_kills(asked.kills or (4000 if is_long else 80), asked.seed),
        "damage": lambda: damage.all_damage(is_long, asked.seed, asked.places),
        "full": full.all_full,
        "model": lambda: model.all_models(is_long, asked.seed),
        "redis": lambda: itertools.chain(link.all_links(is_long, asked.seed), partition.all_partitions(is_long, asked.seed)),
        "attack": lambda: attack.all_attacks(is_long, asked.seed),
        "load": lambda: load.all_load(is_long, asked.minutes or 10.0),
        "churn": lambda: churn.all_churn(is_long, asked.minutes or 60.0, asked.seed),
    }
    print(f"seed {asked.seed}", flush=True)
    for part in asked.parts or PARTS:
        start = time.monotonic()
        for line in works[part]():
            print(f"{part}: {line}", flush=True)
        print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
