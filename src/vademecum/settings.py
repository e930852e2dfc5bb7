"""The sections of the settings: fields, defaults and permissions.

`config` reads them from their layers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import ConfigError

SOURCES = "sources"
SOURCE_NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
SECRET = re.compile(r"token|password|secret|api_key", re.IGNORECASE)
Option = str | int | float | bool | list[str]


def setting(
    default: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    user_only: bool = False,
    shared: tuple[str, ...] = (),
    secret: bool = False,
    choices: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field with a setting's permissions and limits.

    Values are at least `least`, or one of `choices`. A repository's own file may set at most `most`, may not
    set a `user_only` field, and of providers it may choose only those in `shared`, if there are any. A `secret` is never shown.
    """
    metadata = {
        "least": least, "most": most, "user_only": user_only, "shared": shared, "secret": secret, "choices": choices,
    }  # fmt: skip
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings for cutting files into chunks.

    Attributes:
        max_file_bytes: Larger files are skipped and reported.
        workers: Parsing processes; 0 is one per core.
        deadline_s: Seconds that one file may take to parse before it is cut into windows instead.
    """

    max_file_bytes: int = setting(1_048_576, least=1, most=16_777_216)
    workers: int = setting(0, least=0, most=64)
    deadline_s: float = setting(5.0, least=0.01, most=60)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of searches and answers.

    Attributes:
        budget: Most tokens of an answer.
        k: Results in an answer.
        scope: The default scope of a search: `repo`, `repos`, `all` or `shared`.
        snippet_lines: Lines shown of each result; 0 shows locations only.
        ranker: The ranking of results: `default`, `constants`, `fused`, or a baseline such as `rrf`.
        embedder: `name[:model]` of the provider that turns text into vectors.
        vectors: The index that searches vectors: `exact`, in this machine's arrays, or a vector index such as `qdrant`.
        prose_embedder: A separate embedder for prose (Markdown, text, memory); "" uses `embedder`.
        reranker: The second ranking of the first results: `built-in`, `none`, or a provider's `name[:model]`.
        rerank_depth: The number of first results that a provider reranks.
    """

    budget: int = setting(750, least=1, most=100_000)
    k: int = setting(10, least=1, most=1_000)
    scope: str = setting("repos", user_only=True, choices=("repo", "repos", "all", "shared"))
    snippet_lines: int = setting(10, least=0, most=1_000)
    ranker: str = "default"
    embedder: str = setting("static", shared=("static", "hashing", "ollama"))
    prose_embedder: str = setting("", shared=("", "static", "hashing", "ollama"))
    vectors: str = setting("exact", shared=("exact", "lancedb", "chroma"))
    reranker: str = setting("built-in", shared=("built-in", "none", "llm"))
    rerank_depth: int = setting(20, least=1, user_only=True)


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Settings of embedders other than `static`; only the user may set them.

    Attributes:
        ollama_url: Ollama's address; "" is the default one.
        openai_url: The address of the OpenAI-compatible server, without `/embeddings`.
        openai_key: The server's key.
        voyage_url: Voyage's address, without `/embeddings`.
        voyage_key: Voyage's key.
        timeout_s: Most seconds of one request.
        attempts: Most attempts of a request that may yet succeed.
        batch_texts: Most texts in one batch.
        batch_tokens: Most tokens in one batch, its texts padded to the longest; 0 is the embedder's default.
        text_tokens: Tokens read of one text.
        download: Whether a model named as on a hub may be downloaded, once.
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
    """Settings of contexts.

    Attributes:
        budget: Most tokens of a context.
        map_budget: Most tokens of a map.
        primary: The share for code that matches the task; shares count in proportion to their sum.
        related: The share for that code's callers, callees and tests.
        graph: The share for the lines that describe these relations.
        counter: The token counter: `pattern`, an estimate, or `tokenizer:FILE`.
    """

    budget: int = setting(8_000, least=1, most=1_000_000)
    map_budget: int = setting(2_000, least=1, most=1_000_000)
    primary: float = setting(60.0, least=0)
    related: float = setting(30.0, least=0)
    graph: float = setting(10.0, least=0)
    counter: str = setting("pattern", shared=("pattern",))


@dataclass(frozen=True, slots=True)
class EnrichSettings:
    """Settings of language-model sentences; only the user may set them.

    Attributes:
        provider: The model, `ollama:MODEL` or `openai:MODEL`; "" keeps the offline summaries.
        per_minute: Most requests in a minute; 0 for no limit.
        parallel: Requests at the same time.
    """

    provider: str = setting("", user_only=True)
    per_minute: int = setting(0, least=0, user_only=True)
    parallel: int = setting(1, least=1, user_only=True)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Settings of `llm:MODEL`'s server; only the user may set them.

    Attributes:
        api: The server's API: `ollama`, or `openai` for any OpenAI-compatible server.
        base_url: The server's address, without `/api/chat` or `/chat/completions`; "" is the API's default.
        api_key: The server's key, if it needs one.
        timeout_s: Most seconds for an answer.
    """

    api: str = setting("ollama", user_only=True)
    base_url: str = setting("", user_only=True)
    api_key: str = setting("", user_only=True, secret=True)
    timeout_s: float = setting(30.0, least=0.1, user_only=True)


@dataclass(frozen=True, slots=True)
class QdrantSettings:
    """Settings of the Qdrant server; only the user may set them.

    `search.vectors = "qdrant"` uses this server.

    Attributes:
        url: The server's address.
        api_key: The server's key, if it needs one.
        collection: The prefix of the collections' names.
        shards: Shards of a new collection; 0 is the server's default, here and below.
        replicas: Copies of each shard.
        write_consistency: Copies that must accept a write before it counts.
        timeout_s: Most seconds for an answer.
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
    """Settings of memory.

    Attributes:
        language: The language of headings and hints: `en` or `fr`.
        context_tokens: Most tokens of a session's context.
        max_events: Events kept in a scope's database; older ones are archived next to it.
        extractor: The optional reader of events beside the built-in one: `rules` for none, or a provider's `name[:model]`.
    """

    language: str = setting("en")
    context_tokens: int = setting(800, least=50, most=100_000)
    max_events: int = setting(500_000, least=1000, user_only=True)
    extractor: str = setting("rules", user_only=True)


@dataclass(frozen=True, slots=True)
class McpSettings:
    """The tools that `vade mcp` offers to agents.

    Attributes:
        tools: Further tools to list, by name and separated by commas, such as `open,status`.
        structured_content: Whether answers carry the same content in structured form too; some clients then drop the text.
    """

    tools: str = setting("", user_only=True)
    structured_content: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Settings of tool servers, behind the gateway and at registration.

    The gateway is `vade mcp --gateway`.

    Attributes:
        timeout_s: Most seconds for a server's answer.
        answer_bytes: Most bytes of one answer; a longer one is an error.
        page: Characters of an answer that the gateway shows at once; a longer one is kept in a file, and paged.
    """

    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    answer_bytes: int = setting(1_000_000, least=1_000, user_only=True)
    page: int = setting(40_000, least=1_000, user_only=True)


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """Settings of searches for tools, at every door.

    Attributes:
        reliability: The factor for how a tool fared: `smoothed`, or `step`, PML's own.
        min_score: The least `semantic` of a shown tool, 0 to 1; names asked for are always shown.
    """

    reliability: str = setting("smoothed", choices=("smoothed", "step"))
    min_score: float = setting(0.0, least=0.0)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of `vade serve`; only the user may set them.

    Attributes:
        host: The address to listen at; any but a loopback one requires keys.
        port: The port to listen at; 0 lets the system choose.
        keys: The keys and their repositories, as `vade serve --new-key` prints them; "" lets anybody on this
            machine ask.
        hosts: Host names accepted in requests beside the loopback ones, separated by commas.
        threads: Threads that answer; each has its own data in memory.
        waiting: Requests that may wait for a thread; more are told to come back.
        timeout_s: Most seconds of a request.
        refresh_s: Seconds before a repository is checked for changes again.
        max_body_bytes: Most bytes of a request's body.
        log_queries: Whether logs show the text of questions.
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
    """Settings of the data's place; only the user may set them.

    Attributes:
        home: The data directory; "" is the platform's default.
        provider: The record store: `sqlite`, files below `home`, or `postgres`, a database that many machines share.
        url: The database's address; it may hold a password.
        more_urls: Addresses of further databases, separated by spaces, that `--scope shared` searches too.
        timeout_s: Most seconds to wait for another writer there; one statement may take twice as long.
        owner: The owner of memory and tools in a shared database; "" is this `home` alone.
        shared_memory: Whether all owners share one memory of a repository in that database.
    """

    home: str = setting("", user_only=True)
    provider: str = setting("sqlite", user_only=True)
    url: str = setting("", user_only=True, secret=True)
    more_urls: str = setting("", user_only=True, secret=True)
    timeout_s: float = setting(60.0, least=0.1, user_only=True)
    owner: str = setting("", user_only=True)
    shared_memory: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """Settings of consent to send text elsewhere.

    Attributes:
        allow_remote: Whether providers that send text elsewhere may be used.
    """

    allow_remote: bool = setting(default=False, user_only=True)


@dataclass(frozen=True, slots=True)
class SavingsSettings:
    """Settings of the savings ledger; only the user may set them.

    Attributes:
        enabled: Whether the tokens of answers to agents are counted.
    """

    enabled: bool = setting(default=True, user_only=True)


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The settings of one source, in a table of its own.

        [sources.work]
        provider = "jira"
        url = "https://example.atlassian.net"

    A source is a backlog or a collection of documents. It names a server and a key, so only the user may set it, never a repository.
    The options besides `provider` and `repos` go to the provider, which checks them.

    Attributes:
        provider: the provider's name, as `jira` or `confluence`.
        repos: names or paths of the source's repositories, `*` for any part of them; () for all.
        options: the provider's options.
        origins: the layer each value came from.
    """

    provider: str
    repos: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # may hold a token
    origins: Mapping[str, str] = field(default_factory=dict)


def take_source(
    tables: dict[str, dict[str, tuple[Option, str]]], key: str, value: Any, origin: str, *, trusted: bool
) -> None:
    """Add one layer's source settings to `tables`.

    `tables` maps name → option → value and origin.

    Args:
        tables: the settings of earlier layers.
        key: `sources.NAME` with a table as value, or `sources.name__option`, as in the environment.
        value: the table, or the option's value.
        origin: the layer.
        trusted: False for a repository's file.

    Raises:
        ConfigError: the layer is a repository's file, or the setting is malformed.
    """
    name, _, option = key.partition(".")[2].partition("__")
    if not trusted:
        raise ConfigError(
            f"{SOURCES}.{name} in {origin}: a repository's own file cannot turn on or move a source; set it in your user file"
        )
    if option:
        known = {each.replace("-", "_"): each for each in tables}
        tables.setdefault(known.get(name, name), {})[option] = (value, origin)
        return
    if not SOURCE_NAME.fullmatch(name):
        raise ConfigError(
            f"{SOURCES}.{name} in {origin}: a source's name is small letters and digits, with - or _ between"
        )
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{SOURCES}.{name} in {origin} must be a table: write [{SOURCES}.{name}] and provider = ... below"
        )
    for option, each in value.items():
        if not isinstance(each, Option.__args__[:4]) and not _is_texts(each):
            raise ConfigError(
                f"{SOURCES}.{name}.{option} in {origin} has the wrong type: it must be text, a number or a list of texts"
            )
        tables.setdefault(name, {})[option] = (each, origin)


def settled_sources(tables: Mapping[str, Mapping[str, tuple[Option, str]]]) -> dict[str, SourceSettings]:
    """Return the sources of all layers, by name.

    Raises:
        ConfigError: a source lacks its provider, or `repos` is no list.
    """
    found: dict[str, SourceSettings] = {}
    for name, table in tables.items():
        options = {option: value for option, (value, _) in table.items()}
        provider, repos = options.pop("provider", ""), options.pop("repos", [])
        if not isinstance(provider, str) or not provider:
            raise ConfigError(
                f'{SOURCES}.{name} has no provider: set one under [{SOURCES}.{name}], as in provider = "jira"'
            )
        if isinstance(repos, str):
            repos = [each.strip() for each in repos.split(",") if each.strip()]
        if not _is_texts(repos):
            raise ConfigError(f"{SOURCES}.{name}.repos must be a list of names or paths of repositories")
        assert isinstance(repos, list)
        origins = {option: origin for option, (_, origin) in table.items()}
        found[name] = SourceSettings(provider, tuple(repos), options, origins)
    return found


def shown_sources(sources: Mapping[str, SourceSettings], hidden: str) -> list[tuple[str, Any, str]]:
    """Return options as `(sources.NAME.option, value, origin)`, secrets as `hidden`."""
    rows: list[tuple[str, Any, str]] = []
    for name, source in sources.items():
        values = {"provider": source.provider, "repos": list(source.repos), **source.options}
        for option, origin in source.origins.items():
            secret = SECRET.search(option) and values[option]
            rows.append((f"{SOURCES}.{name}.{option}", hidden if secret else values[option], origin))
    return rows


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
