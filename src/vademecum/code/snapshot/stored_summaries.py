"""A language model's sentences, used in place of offline summaries.

Sentences are stored by chunk hash. So an edit requests sentences only for changed chunks, and going back to an earlier
commit requests none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vademecum.code.chunking.analyse import Analysis, analyse
from vademecum.code.snapshot.repository import Repository
from vademecum.index.tokenize import term_table
from vademecum.protocols import Condition


def known_sentences(repo: Repository, hashes: Iterable[str]) -> dict[str, str]:
    """Return the stored sentences by chunk hash, {} without an enricher."""
    if not repo.enricher:
        return {}
    where: list[Condition] = [("enricher", "=", repo.enricher), ("hash", "in", list(hashes))]
    return dict(repo.catalogue.store.scan("summaries", where, ("hash", "summary")).unwrap())


def keep_sentences(repo: Repository, made: Mapping[str, str]) -> None:
    """Store sentences by chunk hash. Raises `StoreError`."""
    repo.catalogue.store.upsert("summaries", [(repo.enricher, digest, said) for digest, said in made.items()]).unwrap()


def analysed_again(
    repo: Repository, content: bytes, language: str, sentences: Mapping[str, str], *, references: bool = True
) -> Analysis:
    """Analyse a content again, with `sentences` (by chunk hash) as summaries."""
    embedder = repo.embedder() if repo.plan.embedder else None
    job, terms = (content, language), term_table()
    return analyse([job], embedder, repo.plan.deadline_s, terms, references=references, sentences=sentences)[0]
