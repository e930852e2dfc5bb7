"""Several processes write to one memory and are killed: nothing acknowledged is lost, nothing is there twice or by halves."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from vademecum.memory.extract import read
from vademecum.memory.ledger import GLOBAL, scope_of
from vademecum.memory.memory import Memory
from vademecum.plugins import load

CHILD = """
import itertools, sys, time
from pathlib import Path
from vademecum.memory.extract import read
from vademecum.memory.memory import Memory
from vademecum.memory.ledger import GLOBAL, scope_of
from vademecum.plugins import load
home, name = Path(sys.argv[1]), sys.argv[2]
store = load("store", "sqlite", path=home / "memory.db", durable=True, busy_seconds=120.0)
memory = Memory([scope_of(0, GLOBAL, "", home, store)], lambda: load("embedder", "hashing"), read, time.time)
for n in itertools.count():
    done = memory.record(f"the retry limit of service {name}{n % 5} is {n}", session=name, role="user")
    print(done.ids[0], flush=True)
"""
WRITERS = 4
ROUNDS = 3


def started(home, name):
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD, str(home), name]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(tmp_path):
    """Each writer is killed after some acknowledgements, in the middle of whatever it does, and begun again."""
    chance = random.Random(3)
    acknowledged = []
    for _ in range(ROUNDS):
        writers = [started(tmp_path, str(n)) for n in range(WRITERS)]
        for writer in chance.sample(writers, WRITERS):
            for _ in range(chance.randrange(3, 25)):
                acknowledged += [writer.stdout.readline().strip()]
            writer.kill()
            acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
            writer.wait()
            writer.stdout.close()
    store = load("store", "sqlite", path=tmp_path / "memory.db", durable=True)
    memory = Memory([scope_of(0, GLOBAL, "", tmp_path, store)], lambda: load("embedder", "hashing"), read, lambda: 0.0)
    assert store.check().unwrap() == "ok"
    ids = [event.id for event in memory.events()]
    assert len(ids) == len(set(ids))
    assert set(acknowledged) - set(ids) == set()
    assert {row[0] for row in store.scan("claims", columns=("event",)).unwrap()} == set(ids)
    assert {item.event.id for item in memory.recall("retry limit", k=50).evidence} <= set(ids)
    standing = [fact for fact in memory.facts(past=True) if fact.valid_to is None]
    assert len({fact.key for fact in standing}) == len(standing)
    store.close()
