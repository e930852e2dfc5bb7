"""Every family of records, and whose they are."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

TABLES = """
CREATE TABLE anchors (space bigint NOT NULL, fact text COLLATE "C" NOT NULL, symbol text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL, at double precision NOT NULL, CONSTRAINT
    anchors_pkey PRIMARY KEY (space, fact, symbol));
CREATE INDEX anchors_by_symbol ON anchors (space, symbol);
CREATE TABLE arrays (space bigint NOT NULL, blob bigint NOT NULL, embedder text COLLATE "C" NOT NULL, data bytea
    NOT NULL, CONSTRAINT arrays_pkey PRIMARY KEY (space, blob, embedder));
CREATE TABLE blobs (space bigint NOT NULL, id bigint NOT NULL, hash text COLLATE "C" NOT NULL, language text
    COLLATE "C" NOT NULL, content bytea NOT NULL, imports text COLLATE "C" NOT NULL, has_errors bigint NOT NULL,
    CONSTRAINT blobs_pkey PRIMARY KEY (space, id), CONSTRAINT blobs_space_hash_language_key UNIQUE (space, hash,
    language));
CREATE TABLE chunks (space bigint NOT NULL, blob bigint NOT NULL, ordinal bigint NOT NULL, start_line bigint NOT
    NULL, end_line bigint NOT NULL, start_byte bigint NOT NULL, end_byte bigint NOT NULL, kind text COLLATE "C"
    NOT NULL, name text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, signature text COLLATE "C" NOT
    NULL, summary text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL, calls text COLLATE "C" NOT NULL,
    metadata text COLLATE "C" NOT NULL, CONSTRAINT chunks_pkey PRIMARY KEY (space, blob, ordinal));
CREATE TABLE claims (space bigint NOT NULL, event text COLLATE "C" NOT NULL, position bigint NOT NULL, key text
    COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, text text COLLATE
    "C" NOT NULL, subject text COLLATE "C" NOT NULL, attribute text COLLATE "C" NOT NULL, value text COLLATE "C"
    NOT NULL, reason text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, confidence double precision NOT
    NULL, corrects bigint NOT NULL, at double precision NOT NULL, speaker text COLLATE "C" NOT NULL, recorded_at
    double precision NOT NULL, CONSTRAINT claims_pkey PRIMARY KEY (space, event, position));
CREATE INDEX claims_by_digest ON claims (space, digest);
CREATE INDEX claims_by_key ON claims (space, key);
CREATE TABLE counters (space bigint NOT NULL, family text COLLATE "C" NOT NULL, last bigint NOT NULL, CONSTRAINT
    counters_pkey PRIMARY KEY (space, family));
CREATE TABLE digests (space bigint NOT NULL, session text COLLATE "C" NOT NULL, covers bigint NOT NULL, first_at
    double precision NOT NULL, last_at double precision NOT NULL, text text COLLATE "C" NOT NULL, made_at double
    precision NOT NULL, CONSTRAINT digests_pkey PRIMARY KEY (space, session));
CREATE TABLE edges (space bigint NOT NULL, snapshot bigint NOT NULL, source bigint NOT NULL, kind bigint NOT
    NULL, target bigint NOT NULL, tier bigint NOT NULL, line bigint NOT NULL, CONSTRAINT edges_pkey PRIMARY KEY
    (space, snapshot, source, kind, target));
CREATE INDEX edges_by_target ON edges (space, snapshot, target, kind, source, tier);
CREATE TABLE event_tags (space bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
    event bigint NOT NULL, CONSTRAINT event_tags_pkey PRIMARY KEY (space, name, value, event));
CREATE INDEX event_tags_by_event ON event_tags (space, event);
CREATE TABLE events (space bigint NOT NULL, number bigint NOT NULL, id text COLLATE "C" NOT NULL, at double
    precision NOT NULL, role text COLLATE "C" NOT NULL, session text COLLATE "C" NOT NULL, repo text COLLATE "C"
    NOT NULL, speaker text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, metadata text COLLATE "C" NOT
    NULL, recorded_at double precision NOT NULL, CONSTRAINT events_pkey PRIMARY KEY (space, number), CONSTRAINT
    events_space_id_key UNIQUE (space, id));
CREATE INDEX events_by_session ON events (space, session, at);
CREATE INDEX events_by_time ON events (space, at);
CREATE TABLE facts (space bigint NOT NULL, id text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, digest
    text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, subject text
    COLLATE "C" NOT NULL, attribute text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, reason text
    COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, confidence double precision NOT NULL, mentions bigint
    NOT NULL, first_at double precision NOT NULL, last_at double precision NOT NULL, valid_from double precision
    NOT NULL, valid_to double precision, superseded_by text COLLATE "C" NOT NULL, disputed bigint NOT NULL,
    confirmed bigint NOT NULL, recorded_at double precision NOT NULL, event text COLLATE "C" NOT NULL,
    CONSTRAINT facts_pkey PRIMARY KEY (space, id));
CREATE INDEX facts_by_digest ON facts (space, digest);
CREATE INDEX facts_by_key ON facts (space, key);
CREATE INDEX facts_by_kind ON facts (space, kind);
CREATE TABLE files (space bigint NOT NULL, snapshot bigint NOT NULL, path text COLLATE "C" NOT NULL, blob bigint
    NOT NULL, size bigint NOT NULL, mtime_ns bigint NOT NULL, inode bigint NOT NULL, CONSTRAINT files_pkey
    PRIMARY KEY (space, snapshot, path));
CREATE INDEX files_by_blob ON files (space, blob);
CREATE TABLE graphs (space bigint NOT NULL, snapshot bigint NOT NULL, tree_hash text COLLATE "C" NOT NULL,
    CONSTRAINT graphs_pkey PRIMARY KEY (space, snapshot));
CREATE TABLE marks (space bigint NOT NULL, digest text COLLATE "C" NOT NULL, mark text COLLATE "C" NOT NULL, at
    double precision NOT NULL, CONSTRAINT marks_pkey PRIMARY KEY (space, digest));
CREATE TABLE mentions (space bigint NOT NULL, blob bigint NOT NULL, found text COLLATE "C" NOT NULL, CONSTRAINT
    mentions_pkey PRIMARY KEY (space, blob));
CREATE TABLE meta (space bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
    CONSTRAINT meta_pkey PRIMARY KEY (space, name));
CREATE TABLE nodes (space bigint NOT NULL, snapshot bigint NOT NULL, id bigint NOT NULL, path text COLLATE "C"
    NOT NULL, name text COLLATE "C" NOT NULL, qualified text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT
    NULL, start_line bigint NOT NULL, end_line bigint NOT NULL, chunk bigint NOT NULL, parent bigint NOT NULL,
    CONSTRAINT nodes_pkey PRIMARY KEY (space, snapshot, id));
CREATE INDEX nodes_by_name ON nodes (space, snapshot, name);
CREATE INDEX nodes_by_path ON nodes (space, snapshot, path);
CREATE TABLE resolved (space bigint NOT NULL, snapshot bigint NOT NULL, path text COLLATE "C" NOT NULL, blob
    bigint NOT NULL, consulted text COLLATE "C" NOT NULL, unresolved text COLLATE "C" NOT NULL, CONSTRAINT
    resolved_pkey PRIMARY KEY (space, snapshot, path));
CREATE TABLE segments (space bigint NOT NULL, id bigint NOT NULL, file text COLLATE "C" NOT NULL, blobs bigint
    NOT NULL, CONSTRAINT segments_pkey PRIMARY KEY (space, id));
CREATE TABLE snapshots (space bigint NOT NULL, id bigint NOT NULL, kind text COLLATE "C" NOT NULL, place text
    COLLATE "C" NOT NULL, label text COLLATE "C" NOT NULL, branch text COLLATE "C" NOT NULL, commit_id text
    COLLATE "C" NOT NULL, tree_hash text COLLATE "C" NOT NULL, indexed_at double precision NOT NULL, skipped
    text COLLATE "C" NOT NULL, table_file text COLLATE "C" NOT NULL, rules text COLLATE "C" NOT NULL, CONSTRAINT
    snapshots_pkey PRIMARY KEY (space, id), CONSTRAINT snapshots_space_kind_place_key UNIQUE (space, kind,
    place));
CREATE TABLE sources (space bigint NOT NULL, path text COLLATE "C" NOT NULL, importer text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL, read_at double precision NOT NULL, CONSTRAINT sources_pkey PRIMARY KEY
    (space, path, importer));
CREATE TABLE spaces (id bigint GENERATED BY DEFAULT AS IDENTITY, name text COLLATE "C" NOT NULL, made_at double
    precision NOT NULL, CONSTRAINT spaces_pkey PRIMARY KEY (id), CONSTRAINT spaces_name_key UNIQUE (name));
CREATE TABLE summaries (space bigint NOT NULL, enricher text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT
    NULL, summary text COLLATE "C" NOT NULL, CONSTRAINT summaries_pkey PRIMARY KEY (space, enricher, hash));
CREATE TABLE symbols (space bigint NOT NULL, blob bigint NOT NULL, ordinal bigint NOT NULL, position bigint NOT
    NULL, name text COLLATE "C" NOT NULL, qualified text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    start_line bigint NOT NULL, end_line bigint NOT NULL, signature text COLLATE "C" NOT NULL, CONSTRAINT
    symbols_pkey PRIMARY KEY (space, blob, ordinal, position));
CREATE INDEX symbols_by_name ON symbols (space, lower(name));
CREATE TABLE tombstones (space bigint NOT NULL, number bigint NOT NULL, id text COLLATE "C" NOT NULL, event
    bigint NOT NULL, reason text COLLATE "C" NOT NULL, at double precision NOT NULL, CONSTRAINT tombstones_pkey
    PRIMARY KEY (space, number), CONSTRAINT tombstones_space_id_key UNIQUE (space, id));
CREATE TABLE tools (space bigint NOT NULL, id text COLLATE "C" NOT NULL, server text COLLATE "C" NOT NULL, name
    text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL, input_schema text COLLATE "C" NOT NULL,
    output_schema text COLLATE "C" NOT NULL, pinned bigint NOT NULL, registered_at double precision NOT NULL,
    gone_at double precision NOT NULL, CONSTRAINT tools_pkey PRIMARY KEY (space, id));
CREATE TABLE traces (space bigint NOT NULL, id text COLLATE "C" NOT NULL, position bigint NOT NULL, intent text
    COLLATE "C" NOT NULL, calls text COLLATE "C" NOT NULL, links text COLLATE "C" NOT NULL, session text COLLATE
    "C" NOT NULL, at double precision NOT NULL, ok bigint NOT NULL, CONSTRAINT traces_pkey PRIMARY KEY (space,
    id));
CREATE INDEX traces_by_position ON traces (space, position);
CREATE TABLE usage (space bigint NOT NULL, item text COLLATE "C" NOT NULL, uses bigint NOT NULL, CONSTRAINT
    usage_pkey PRIMARY KEY (space, item));
CREATE TABLE vectors (space bigint NOT NULL, embedder text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL,
    vector bytea NOT NULL, CONSTRAINT vectors_pkey PRIMARY KEY (space, embedder, hash));
"""
NAMES = """
anchors, arrays, blobs, chunks, claims, counters, digests, edges, event_tags, events, facts, files, graphs,
marks, mentions, meta, nodes, resolved, segments, snapshots, sources, spaces, summaries, symbols, tombstones,
tools, traces, usage, vectors
"""


def upgrade() -> None:
    """Make the tables."""
    for statement in filter(str.strip, TABLES.split(";")):
        op.execute(statement)


def downgrade() -> None:
    """Drop them, with all they hold."""
    op.execute(f"DROP TABLE {NAMES}")
