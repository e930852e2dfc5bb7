from typing_extensions import Buffer

REVISION: int

def bm25f(
    segments: tuple[tuple[Buffer, Buffer, Buffer, Buffer, int], ...],  # keys, offsets, docs, tf, first chunk
    norms: Buffer,
    copies: Buffer | None,
    keys: Buffer,
    rows: int,
    k1: float,
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
