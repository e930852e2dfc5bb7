from collections.abc import Callable

from typing_extensions import Buffer

REVISION: int
HAS_HALVES: int  # whether `question` reads matrices in half precision here
HAS_PRODUCTS: int  # whether `products` runs on this processor

def add_matches(
    docs: Buffer,
    tf: Buffer,
    base: int,
    alive: Buffer | None,
    norm: tuple[Buffer, float, float],  # of each row its length, and what that is to be times and plus
    weight: float,
    said: Buffer,
    session: Buffer | None,
    sums: Buffer | None,
) -> None: ...
def bags(table: Buffer, dim: int, texts: Buffer, pieces: Buffer, weights: Buffer, number: int) -> bytearray: ...
def after(
    arrays: tuple[Buffer, ...],  # as `CALLED` and what follows it in tools.c name them
    anyhow: tuple[tuple[Buffer | float, ...], ...],  # `tools.followers.Following` of each chain's last call
    context: float,
    backing: float,
    epsilon: float,
    step: float,
    worth: float,
) -> tuple[bytearray, bytearray, bytearray, bytearray]: ...
def attend(
    kernels: tuple[Buffer, ...],
    weight: Buffer,
    temperatures: Buffer,
    capability: Buffer | None,
    trace_start: Buffer,
    member_tool: Buffer,
    tools: int,
) -> tuple[bytearray, bytearray, bytearray]: ...
def after_of(rows: Buffer, before: Buffer, after: Buffer) -> bytearray: ...
def bm25f(
    segments: tuple[tuple[Buffer, Buffer, Buffer, Buffer, int], ...],  # keys, offsets, docs, tf, first chunk
    norms: Buffer,
    copies: Buffer | None,
    keys: Buffer,
    asked: int,
    rows: int,
    k1: float,
) -> tuple[bytearray, bytearray, bytearray, bytearray, bytearray]: ...
def candidates(
    lexical: Buffer,
    dense: Buffer,
    definition: Buffer | None,
    rows: Buffer,
    files: Buffer,
    path: Buffer,
    prior: Buffer,
    allowed: Buffer | None,
    counts: tuple[float, float, float, float],  # what words, meaning, definition and path count
    most: int,
) -> tuple[bytearray, bytearray]: ...
def count_runs(
    table: object,
    classes: Buffer,  # of each byte, 0 where it is in no run; a run is made of bytes of one class
    texts: tuple[str | bytes, ...],
    expand: Callable[[bytes], list[int]],  # the codes of a run, which are numbered as they come up
) -> tuple[bytearray, int, int]: ...
def find(
    keys: Buffer, offsets: Buffer, docs: Buffer, tf: Buffer, wanted: Buffer
) -> tuple[bytearray, bytearray, bytearray]: ...
def grown(
    scores: Buffer,  # written over
    live: Buffer,
    once: Buffer,
    called: Buffer,
    going_on: Buffer,
    least: float,
    nearly: float,
    most: int,
) -> tuple[bytearray, bytearray, bytearray]: ...
def products(rows: Buffer, question: Buffer, scales: Buffer | None, scale: float) -> bytearray: ...
def products_of(rows: Buffer, places: Buffer, question: Buffer, scales: Buffer, scale: float) -> bytearray: ...
def quantised(vector: Buffer) -> tuple[bytearray, bytearray]: ...
def question(table: Buffer, weight: Buffer, w_in: Buffer, bias: Buffer, w_out: Buffer, pieces: Buffer) -> bytearray: ...
def rows_of(codes: Buffer, session: Buffer, order: Buffer, starts: Buffer) -> bytearray: ...
def run_table(key: Buffer) -> object: ...
def share_of_paths(
    keys: Buffer,
    offsets: Buffer,
    docs: Buffer,
    tf: Buffer,
    wanted: Buffer,
    weight: Buffer,
    paths: int,
    stem: int,  # the field of a file's own name
    directory: float,  # what the name of a directory counts beside it
) -> tuple[bytearray, bytearray]: ...
def scores(columns: Buffer, still: Buffer, weights: Buffer, called: Buffer, earlier: Buffer) -> bytearray: ...
def score_sessions(held: Buffer, terms: int, norms: Buffer) -> bytearray: ...
def spans(
    rows: Buffer,
    files: Buffer,
    lines: Buffer,
    gain: Buffer | None,
    worth: Buffer,
    k: int,
    across: bool,
    longest: int,
    gap: int,
    price: float,
) -> bytearray: ...
def stopping(
    arrays: tuple[Buffer | None, ...],  # as `ENDS` and what follows it in chains.c name them
    anyhow: tuple[tuple[Buffer | float, ...], ...],
    taken: float,  # how many tools are to be called, to expect
    backing: float,
    epsilon: float,
) -> bytearray: ...
def summed(
    offsets: Buffer,
    place: Buffer,
    value: Buffer,
    slots: Buffer,
    factors: Buffer | None,
    norms: Buffer | None,
    scale: float,
    size: int,
) -> bytearray: ...
def weigh(
    arrays: tuple[Buffer | None, ...],  # as `ARRAYS` of weigh.c names them
    segments: tuple[tuple[Buffer, Buffer, int], ...],  # docs, tf, first chunk
    scale: float,
    novelty: float,
    k1: float,
    b: float,
    name_counts: int,
    is_bare: bool,
) -> tuple[bytearray, bytearray]: ...
