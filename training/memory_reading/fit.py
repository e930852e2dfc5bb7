"""Fit the classifier of sentences that reading uses: `memory/extract/sentences-1.safetensors`.

    python training/memory_reading/fit.py [--into FILE] [--rounds 3]

The sentences were written for this (`english.txt`, `french.txt`: a kind as heading, then one form a line, whose slots are filled from
`slots.txt`). Each form is filled a few times, and typed as people do: lower case, no apostrophe, no full stop, an opening word, a bullet.
Lines of `talk.txt` and `chats.txt` begin with their kind and have no slots; a heading names their language and their topic.
A softmax regression on the features of `memory/extract/sentences.py` is fitted by Adagrad; the weights are stored as int8, one scale a kind.
The printed figures are of forms left out of the fit, one in eight; a factor on the scores is chosen on them, which makes probabilities of them.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from vademecum.memory.extract.prose import prose_of
from vademecum.memory.extract.sentences import BUCKETS, KINDS, classes_of, damping, features

HERE = Path(__file__).parent
FILLED, TYPED, LEFT_OUT, RATE, RIDGE, DROPPED, UNMEANT = 10, 4, 8, 0.03, 0.02, 0.5, 0.2
COMMON = 5  # forms that a word stands in
SEEDS = 1, 2, 3  # each form is filled anew with each
LEANING = 1.2  # less for "none", chosen on the halves of `benchmarks/coding_talk*.tsv` that were looked at
HEATS = 0.8, 1.0, 1.2, 1.4, 1.6, 2.0
CLASSES = classes_of((HERE / "classes.txt").read_text("utf-8"))
_SLOT = re.compile(r"\{(\w+?)(2?)\}")
_OPENERS = {
    "english": ["ok ", "so ", "btw ", "and ", "also ", "yeah ", "hm ", "well ", "please ", "hey ", "right, ", "ok so ", "oh and ", "just ", "fyi ", "actually ", "pls "],
    "french": ["bon ", "donc ", "ok ", "et ", "alors ", "au fait ", "du coup ", "sinon ", "bon alors ", "stp ", "ah et ", "hm ", "en fait "],
}  # fmt: skip
_CLOSERS = {"english": [" please", " pls", " thanks", ", ok?", " btw"], "french": [" stp", " merci", " svp", ", ok ?"]}
_FRENCH = re.compile(r"(?i)\b(?:les?|la|l|une?|des?|du|d|je|on|pas|ne|n|que|qu|est)\b")


_ASIDES = {
    "english": [", it was too slow", ", people complained", ", that's all we need", ", otherwise CI breaks", ", it got too expensive", ", I can't read it otherwise", " because it's simpler",
                ", everybody knows it already", " (see the wiki)", ", the old one was a pain", ", it keeps breaking", " since nobody maintains it", " - it's much faster", ", too many bugs", ", that's why",
                ", we learned that the hard way", ", much easier", ", I checked", ", too much work", ", no exceptions", ", it confuses me", ", customers asked for it", " so we don't forget", ", they need it"],
    "french": [", c'était trop lent", ", sinon la CI casse", ", ça suffit", ", trop cher", " parce que c'est plus simple", ", tout le monde connaît", ", l'autre plante", " car c'est plus rapide",
               ", j'ai vérifié", ", sans exception", ", trop de bugs", ", les gens râlent", " pour éviter les surprises", ", c'est plus clair"],
}  # fmt: skip
_BEFORE = {
    "english": ["talked to the team, ", "I looked into it, ", "after some thought: ", "for the record, ", "one thing: ", "quick note: ", "about that, ", "as I said, "],
    "french": ["j'ai regardé, ", "après réflexion : ", "petite note : ", "comme je disais, ", "une chose : "],
}  # fmt: skip

_JOKING = {
    "english": [" lol", " /s", " 🙃", " haha", " 😂", ", kidding", ", just kidding", "... not", ", obviously 🙄", " 😅", "... wait no", ", no scratch that", " (joke)", " hahaha", "... actually no, forget it", " - no, ignore that", ", said nobody ever", ", just teasing", ", pulling your leg", ", just messing around"],
    "french": [" lol", " mdr", " 🙃", " haha", " 😂", ", je rigole", ", je plaisante", "... euh non", ", évidemment 🙄", " ptdr", "... non oublie", ", ah non en fait", ", je te taquine", ", je te charrie", ", comme personne ne dit jamais"],
}  # fmt: skip
_OTHERS = {
    "english": ["the docs say ", "my colleague says ", "their README says ", "someone claimed that ", "I never said ", "it's not true that ", "suppose ", "I wonder if ", "not sure if ", "we haven't decided if ",
                "the old wiki says ", "check if ", "imagine ", "some blog says ", "what if ", "write that ", "at my last company ", "the ticket says "],
    "french": ["la doc dit que ", "mon collègue dit que ", "le README dit que ", "je n'ai jamais dit que ", "c'est faux que ", "imagine que ", "je me demande si ", "pas sûr que ", "vérifie si ", "le wiki dit que ",
               "et si ", "écris que ", "dans mon ancienne boîte ", "le ticket dit que "],
}  # fmt: skip


def slots() -> dict[str, list[str]]:
    """Return the fillings of each slot."""
    lines = (HERE / "slots.txt").read_text("utf-8").splitlines()
    return {name: text.strip().split("|") for name, _, text in (line.partition(":") for line in lines)}


def forms(language: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each form."""
    kind = ""
    for line in (HERE / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            kind = line[2:]
        elif line:
            yield kind, line


def lines() -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the text and the language of each line of talk."""
    for name in ("talk", "chats"):
        language = ""
        for line in (HERE / f"{name}.txt").read_text("utf-8").splitlines():
            if line.startswith("# "):
                language = "french" if line.startswith("# fr ") else "english"
            else:
                kind, _, text = line.partition(": ")
                yield kind, text, language


def filled(form: str, language: str, table: dict[str, list[str]], chance: random.Random) -> str:
    """Return a form with its slots filled at random."""

    def fill(slot: re.Match[str]) -> str:
        own = f"fr.{slot[1]}"
        return chance.choice(table[own if language == "french" and own in table else slot[1]])

    while _SLOT.search(form):
        form = _SLOT.sub(fill, form)
    return form


def typed(text: str, kind: str, language: str, chance: random.Random) -> str:
    """Return a sentence as somebody may type it."""
    if chance.random() < 0.2 and text[-1].isalnum() and kind != "back":
        text += chance.choice(_ASIDES[language])
    if chance.random() < 0.06 and kind != "back":
        text = chance.choice(_BEFORE[language]) + text
    if chance.random() < 0.25 and not text.startswith(("-", "*")):
        text = chance.choice(_OPENERS[language]) + text
    if chance.random() < 0.08 and text[-1].isalnum():
        text += chance.choice(_CLOSERS[language])
    if chance.random() < 0.5:
        text = text[0].upper() + text[1:]
    if chance.random() < 0.3:
        text = text.lower()
    if chance.random() < 0.15:
        text = text.replace("'", "")
    if text[-1].isalnum() and chance.random() < 0.4:
        text += chance.choice([".", ".", "!"])
    if kind == "instruction" and chance.random() < 0.15 and not text.startswith(("-", "*")):
        text = "- " + text
    return text


def unmeant(text: str, language: str, chance: random.Random) -> list[str]:
    """Return a joke, a question and a report made of what somebody may mean."""
    text = text.strip("-* ")
    return [text + chance.choice(_JOKING[language]), text + "?", chance.choice(_OTHERS[language]) + text]


def sentences(seed: int) -> list[tuple[str, str, bool]]:
    """Return kind, text, and whether the form is left out, for each filled form."""
    chance, table = random.Random(seed), slots()
    out = [
        (kind, typed(form, kind, "french" if _FRENCH.search(form) else "english", chance), False)
        for kind, form in forms("examples")
        for _ in range(9)
    ]
    out += [(kind, form, False) for kind, form in forms("examples") for _ in range(3)]
    out += [
        ("none", each.strip(" ,:-"), False)
        for part in (_ASIDES, _BEFORE)
        for texts in part.values()
        for each in texts
        for _ in range(3)
    ]
    for number, (kind, text, language) in enumerate(lines()):
        seen = {typed(text, kind, language, chance) for _ in range(TYPED)}
        out += [(kind, each, number % LEFT_OUT == 0) for each in (text, text, *sorted(seen))]
    for language in ("english", "french"):
        for number, (kind, form) in enumerate(forms(language)):
            times = FILLED if "{" in form else 30 if kind == "back" else 4
            seen = {typed(filled(form, language, table, chance), kind, language, chance) for _ in range(times)}
            out += [(kind, text, number % LEFT_OUT == 0) for text in sorted(seen)]
            if kind not in ("none", "back"):
                text = filled(form, language, table, chance)
                out += [
                    ("none", each, number % LEFT_OUT == 0)
                    for each in unmeant(text, language, chance)
                    if chance.random() < UNMEANT
                ]
    return [(kind, prose_of(text).strip(" \n") or "x", left) for kind, text, left in out]


def words() -> frozenset[str]:
    """Return the words that stand in so many forms, outside of slots."""
    written = [form for name in ("english", "french", "examples") for _, form in forms(name)]
    counts = Counter(
        word
        for form in (*written, *(text for _, text, _ in lines()))
        for word in set(re.findall(r"[^\W\d_]+", _SLOT.sub(" ", form).lower()))
    )
    return frozenset(word for word, count in counts.items() if count >= COMMON)


def fit(rows: list[tuple[str, str, bool]], rounds: int, common: frozenset[str]) -> np.ndarray:
    """Return weights of shape (BUCKETS, kinds), averaged over the later half of the rounds.

    Half of a sentence's features are left out at random each time, so that no single word decides.
    """
    shape = BUCKETS, len(KINDS)
    weights, squares, total = np.zeros(shape, np.float32), np.full(shape, 1e-3, np.float32), np.zeros(shape, np.float32)
    held = [(np.array(features(text, common, CLASSES)), KINDS.index(kind)) for kind, text, _ in rows]
    chance = np.random.default_rng(5)
    for number in range(rounds):
        for place in chance.permutation(len(held)):
            places, kind = held[place]
            places = places[chance.random(len(places)) > DROPPED]
            damped = damping(len(places) / (1 - DROPPED))
            gradient = probabilities(weights[places].sum(0) * damped)
            gradient[kind] -= 1
            step = gradient * damped + RIDGE * weights[places]
            squares[places] += step**2
            weights[places] -= RATE * step / np.sqrt(squares[places])
        total += weights if number >= rounds // 2 else 0
    return total / (rounds - rounds // 2) * (1 - DROPPED)


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Return the softmax of scores."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def main() -> None:
    """Fit, print how well left-out forms are told, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows = [row for seed in SEEDS for row in sentences(seed)]
    common = words()
    weights = fit([row for row in rows if not row[2]], arguments.rounds, common)
    out = [(np.array(features(text, common, CLASSES)), kind) for kind, text, left in rows if left]
    heat = min(HEATS, key=lambda heat: surprise(weights * heat, out))
    told = [KINDS[int(weights[places].sum(0).argmax())] for places, _ in out]
    print(
        f"{len(rows)} sentences, {len(out)} of them left out; scores times {heat}, surprise {surprise(weights * heat, out):.3f}"
    )
    for kind in KINDS:
        own = [t for t, (_, k) in zip(told, out, strict=True) if k == kind]
        right = own.count(kind)
        print(
            f"{kind:12} {len(own):5} found {right / len(own):.3f}, told rightly {right / max(told.count(kind), 1):.3f}"
        )
    if arguments.into:
        weights = fit(rows, arguments.rounds, common) * heat
        scale = np.abs(weights).max(0) / 127
        save_file(
            {
                "weights": np.round(weights / scale).astype(np.int8),
                "scale": scale.astype(np.float32),
                "common": np.frombuffer("\n".join(sorted(common)).encode(), np.uint8),
                "classes": np.frombuffer((HERE / "classes.txt").read_bytes(), np.uint8),
                "leaning": np.array([LEANING], np.float32),
            },
            arguments.into,
        )


def surprise(weights: np.ndarray, rows: list[tuple[np.ndarray, str]]) -> float:
    """Return the mean negative log-probability of the right kind."""
    odds = [probabilities(weights[places].sum(0) * damping(len(places)))[KINDS.index(kind)] for places, kind in rows]
    return float(-np.log(np.maximum(odds, 1e-9)).mean())


if __name__ == "__main__":
    main()
