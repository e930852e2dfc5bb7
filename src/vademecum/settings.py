"""The sections of the settings: what can be set, its default, and who may set it. `config` reads them from their layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def setting(
    default: Any,
    *,
    least: float | None = None,
    user_only: bool = False,
    shared: tuple[str, ...] = (),
    secret: bool = False,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field with what is known of it beside its type.

    It takes values from `least` on, or one of `choices`. A repository's own file may not set it where it is `user_only`, and may choose no
    other providers than those `shared`, where there are any. A `secret` is never shown.
    """
    metadata = {"least": least, "user_only": user_only, "shared": shared, "secret": secret, "choices": choices}
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How files become chunks.

    Attributes:
        max_file_bytes: Larger files are skipped and reported.
        workers: Parsing processes; 0 is one per core.
        deadline_s: Seconds that one file may take to parse before it is cut into windows instead.
    """

    max_file_bytes: int = setting(1_048_576, least=1)
    workers: int = setting(0, least=0)
    deadline_s: float = setting(5.0, least=0.01)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How questions are answered.

    Attributes:
        budget: Tokens that an answer may take at most.
        k: FileChunks of evidence in an answer.
        scope: How far a question looks that does not say: `repo`, `repos`, `all` or `shared`.
        snippet_lines: Lines shown of each; 0 shows locations only.
        ranker: How signals become an order: `default`, `constants`, `fused`, or a baseline as `rrf`.
        embedder: `name[:model]` of the provider that turns text into vectors.
        vectors: Where vectors are searched: `exact`, in this machine's arrays, or an index as `qdrant`.
        prose_embedder: That of the one which does so for prose: Markdown, text, memory; "" leaves it to `embedder`.
        reranker: What puts the first results into a better order: `built-in`, `none`, or a provider's `name[:model]`.
        rerank_depth: How many of the first results a provider reranks.
    """

    budget: int = setting(750, least=1)
    k: int = setting(10, least=1)
    scope: str = setting("repos", user_only=True, choices=("repo", "repos", "all", "shared"))
    snippet_lines: int = setting(10, least=0)
    ranker: str = "default"
    embedder: str = setting("static", shared=("static", "hashing", "ollama"))
    prose_embedder: str = setting("", shared=("", "static", "hashing", "ollama"))
    vectors: str = setting("exact", shared=("exact", "lancedb", "chroma"))
    reranker: str = setting("built-in", shared=("built-in", "none", "llm"))
    rerank_depth: int = setting(20, least=1, user_only=True)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """How embedders of other models work: the user's own business, and no repository's.

    Attributes:
        ollama_url: Where Ollama is; "" is its usual place.
        openai_url: Where the OpenAI-compatible server is, without `/embeddings`.
        openai_key: Its key.
        voyage_url: Where Voyage is, without `/embeddings`.
        voyage_key: Its key.
        timeout_s: Seconds that one request may take.
        attempts: How often a request is sent that failed and may succeed yet.
        batch_texts: Most texts in one batch.
        batch_tokens: Most tokens in one batch, its texts padded to the longest; 0 is what suits the embedder.
        text_tokens: How many tokens of one text are read.
        download: Whether a model that is named as on a hub may be fetched, once.
    """

    ollama_url: str = setting("", user_only=True)
    openai_url: str = setting("", user_only=True)
    openai_key: str = setting("", user_only=True, secret=True)
    voyage_url: str = setting("", user_only=True)
    voyage_key: str = setting("", user_only=True, secret=True)
    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    attempts: int = setting(5, least=1, user_only=True)
    batch_texts: int = setting(64, least=1, user_only=True)
    batch_tokens: int = setting(0, least=0, user_only=True)
    text_tokens: int = setting(1_024, least=16, user_only=True)
    download: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How a context is put together.

    Attributes:
        budget: Tokens it may take at most.
        map_budget: Tokens that a map may take.
        primary: Its share for what matches the task; shares count in proportion to their sum.
        related: The share for what these pieces call, are called by, are tested by.
        graph: The share for the lines that say how they hang together.
        counter: What counts tokens: `pattern`, an estimate, or `tokenizer:FILE`.
    """

    budget: int = setting(8_000, least=1)
    map_budget: int = setting(2_000, least=1)
    primary: float = setting(60.0, least=0)
    related: float = setting(30.0, least=0)
    graph: float = setting(10.0, least=0)
    counter: str = setting("pattern", shared=("pattern",))


@dataclass(frozen=True, slots=True)
class EnrichSettings:
    """Sentences by a language model: the user's own business, and no repository's.

    Attributes:
        provider: Who writes them, `ollama:MODEL` or `openai:MODEL`; "" leaves it at the offline summaries.
        per_minute: At most how many are asked for in a minute; 0 for as many as the server answers.
        parallel: How many are asked for at once.
    """

    provider: str = setting("", user_only=True)
    per_minute: int = setting(0, least=0, user_only=True)
    parallel: int = setting(1, least=1, user_only=True)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The server of language models that `llm:MODEL` talks to: the user's own business, and no repository's.

    Attributes:
        api: What it speaks: `ollama`, or `openai` for any OpenAI-compatible server.
        base_url: Where it is, without `/api/chat` or `/chat/completions`; "" is the API's usual place.
        api_key: Its key, where it wants one.
        timeout_s: Seconds it may take to answer.
    """

    api: str = setting("ollama", user_only=True)
    base_url: str = setting("", user_only=True)
    api_key: str = setting("", user_only=True, secret=True)
    timeout_s: float = setting(30.0, least=0.1, user_only=True)


@dataclass(frozen=True, slots=True)
class QdrantSettings:
    """The Qdrant server that `search.vectors = "qdrant"` writes to and asks: the user's own business, and no repository's.

    Attributes:
        url: Where it is.
        api_key: Its key, where it wants one.
        collection: What the names of its collections begin with.
        shards: Shards of a collection when it is made; 0 is the server's default, here and below.
        replicas: Copies of each shard.
        write_consistency: Copies that have to take a write before it counts.
        timeout_s: Seconds it may take to answer.
    """

    url: str = setting("http://127.0.0.1:6333", user_only=True)
    api_key: str = setting("", user_only=True, secret=True)
    collection: str = setting("vademecum", user_only=True)
    shards: int = setting(0, least=0, user_only=True)
    replicas: int = setting(0, least=0, user_only=True)
    write_consistency: int = setting(0, least=0, user_only=True)
    timeout_s: float = setting(10.0, least=0.1, user_only=True)


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """How memory is kept and shown.

    Attributes:
        language: Of headings and hints: `en` or `fr`.
        context_tokens: Most tokens of a session's context.
        max_events: Events kept in a scope's database; older ones are archived beside it.
        extractor: What reads events beside the rules, when asked to: `rules` for nothing, or a provider's `name[:model]`.
    """

    language: str = setting("en")
    context_tokens: int = setting(800, least=50)
    max_events: int = setting(500_000, least=1000, user_only=True)
    extractor: str = setting("rules", user_only=True)


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The tools that `vade mcp` offers to agents.

    Attributes:
        tools: Further tools to list, by name and separated by commas, such as `open,status`.
        structured_content: Whether answers carry the same as structured content; some clients then drop the text.
    """

    tools: str = setting("", user_only=True)
    structured_content: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """How servers of tools are asked, behind `vade mcp --gateway` and when they are registered.

    Attributes:
        timeout_s: Seconds a server may take to answer.
        answer_bytes: Most bytes of one answer; a longer one is an error.
    """

    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    answer_bytes: int = setting(1_000_000, least=1_000, user_only=True)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How `vade serve` listens and what it allows: the user's own business, and no repository's.

    Attributes:
        host: The address it listens at; any but a loopback one takes keys.
        port: The port it listens at; 0 lets the system choose.
        keys: Who may ask and about which repositories, as `vade serve --new-key` prints them; "" for whoever is on this
            machine.
        hosts: Names that requests may be addressed to beside the loopback ones, separated by commas.
        threads: Threads that answer; each holds what it read.
        waiting: Requests that may wait for one of them; more are told to come back.
        timeout_s: Seconds a request may take.
        refresh_s: Seconds within which a repository is not looked at for changes again.
        max_body_bytes: Most bytes of a request's body.
        log_queries: Whether logs show what was asked.
    """

    host: str = setting("127.0.0.1", user_only=True)
    port: int = setting(8765, least=0, user_only=True)
    keys: str = setting("", user_only=True, secret=True)
    hosts: str = setting("", user_only=True)
    threads: int = setting(2, least=1, user_only=True)
    waiting: int = setting(256, least=1, user_only=True)
    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    refresh_s: float = setting(1.0, least=0, user_only=True)
    max_body_bytes: int = setting(8_000_000, least=1_000, user_only=True)
    log_queries: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """Where data is kept: the user's own business, and no repository's.

    Attributes:
        home: The directory of all data; "" is the platform's usual place.
        provider: What keeps records: `sqlite`, files below `home`, or `postgres`, a database that many machines share.
        url: Where that database is; it may hold a password.
        timeout_s: Seconds to wait for another writer there; one statement may take twice as long.
        owner: Whose memory and tools these are in a shared database; "" is this `home`'s alone.
        shared_memory: Whether all owners share one memory of a repository there.
    """

    home: str = setting("", user_only=True)
    provider: str = setting("sqlite", user_only=True)
    url: str = setting("", user_only=True, secret=True)
    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    owner: str = setting("", user_only=True)
    shared_memory: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """What may leave the machine.

    Attributes:
        allow_remote: Whether providers that send text elsewhere may be used.
    """

    allow_remote: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class SavingsSettings:
    """The ledger of what answers saved: the user's own business, and no repository's.

    Attributes:
        enabled: Whether the tokens of answers to agents are counted.
    """

    enabled: bool = setting(default=True, user_only=True)
