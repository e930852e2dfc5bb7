CREATE TABLE anchors (space_id bigint NOT NULL, fact text COLLATE "C" NOT NULL, symbol text COLLATE "C" NOT
    NULL, path text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL, at double precision NOT NULL,
    CONSTRAINT anchors_pkey PRIMARY KEY (space_id, fact, symbol));
CREATE INDEX anchors_by_symbol ON anchors (space_id, symbol);
CREATE TABLE arrays (space_id bigint NOT NULL, blob bigint NOT NULL, embedder text COLLATE "C" NOT NULL, data
    bytea NOT NULL, CONSTRAINT arrays_pkey PRIMARY KEY (space_id, blob, embedder));
CREATE TABLE blobs (space_id bigint NOT NULL, id bigint NOT NULL, hash text COLLATE "C" NOT NULL, language text
    COLLATE "C" NOT NULL, content bytea NOT NULL, imports text COLLATE "C" NOT NULL, has_errors bigint NOT NULL,
    CONSTRAINT blobs_pkey PRIMARY KEY (space_id, id), CONSTRAINT blobs_space_id_hash_language_key UNIQUE
    (space_id, hash, language));
CREATE TABLE chunks (space_id bigint NOT NULL, blob bigint NOT NULL, ordinal bigint NOT NULL, start_line bigint
    NOT NULL, end_line bigint NOT NULL, start_byte bigint NOT NULL, end_byte bigint NOT NULL, kind text COLLATE
    "C" NOT NULL, name text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, signature text COLLATE "C"
    NOT NULL, summary text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL, calls text COLLATE "C" NOT
    NULL, metadata text COLLATE "C" NOT NULL, CONSTRAINT chunks_pkey PRIMARY KEY (space_id, blob, ordinal));
CREATE TABLE claims (space_id bigint NOT NULL, event text COLLATE "C" NOT NULL, position bigint NOT NULL, key
    text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, text text
    COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL, attribute text COLLATE "C" NOT NULL, value text
    COLLATE "C" NOT NULL, reason text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, confidence double
    precision NOT NULL, corrects bigint NOT NULL, at double precision NOT NULL, speaker text COLLATE "C" NOT
    NULL, recorded_at double precision NOT NULL, CONSTRAINT claims_pkey PRIMARY KEY (space_id, event,
    position));
CREATE INDEX claims_by_digest ON claims (space_id, digest);
CREATE INDEX claims_by_key ON claims (space_id, key);
CREATE TABLE counters (space_id bigint NOT NULL, family text COLLATE "C" NOT NULL, last bigint NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (space_id, family));
CREATE TABLE digests (space_id bigint NOT NULL, session text COLLATE "C" NOT NULL, covers bigint NOT NULL,
    first_at double precision NOT NULL, last_at double precision NOT NULL, text text COLLATE "C" NOT NULL,
    made_at double precision NOT NULL, CONSTRAINT digests_pkey PRIMARY KEY (space_id, session));
CREATE TABLE edges (space_id bigint NOT NULL, snapshot bigint NOT NULL, source bigint NOT NULL, kind bigint NOT
    NULL, target bigint NOT NULL, tier bigint NOT NULL, line bigint NOT NULL, CONSTRAINT edges_pkey PRIMARY KEY
    (space_id, snapshot, source, kind, target));
CREATE INDEX edges_by_target ON edges (space_id, snapshot, target, kind, source, tier);
CREATE TABLE event_tags (space_id bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT
    NULL, event bigint NOT NULL, CONSTRAINT event_tags_pkey PRIMARY KEY (space_id, name, value, event));
CREATE INDEX event_tags_by_event ON event_tags (space_id, event);
CREATE TABLE events (space_id bigint NOT NULL, number bigint NOT NULL, id text COLLATE "C" NOT NULL, at double
    precision NOT NULL, role text COLLATE "C" NOT NULL, session text COLLATE "C" NOT NULL, repo text COLLATE "C"
    NOT NULL, speaker text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, metadata text COLLATE "C" NOT
    NULL, recorded_at double precision NOT NULL, CONSTRAINT events_pkey PRIMARY KEY (space_id, number),
    CONSTRAINT events_space_id_id_key UNIQUE (space_id, id));
CREATE INDEX events_by_session ON events (space_id, session, at);
CREATE INDEX events_by_time ON events (space_id, at);
CREATE TABLE facts (space_id bigint NOT NULL, id text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, subject
    text COLLATE "C" NOT NULL, attribute text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, reason text
    COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, confidence double precision NOT NULL, mentions bigint
    NOT NULL, first_at double precision NOT NULL, last_at double precision NOT NULL, valid_from double precision
    NOT NULL, valid_to double precision, superseded_by text COLLATE "C" NOT NULL, disputed bigint NOT NULL,
    confirmed bigint NOT NULL, recorded_at double precision NOT NULL, event text COLLATE "C" NOT NULL,
    CONSTRAINT facts_pkey PRIMARY KEY (space_id, id));
CREATE INDEX facts_by_digest ON facts (space_id, digest);
CREATE INDEX facts_by_key ON facts (space_id, key);
CREATE INDEX facts_by_kind ON facts (space_id, kind);
CREATE TABLE files (space_id bigint NOT NULL, snapshot bigint NOT NULL, path text COLLATE "C" NOT NULL, blob
    bigint NOT NULL, size bigint NOT NULL, mtime_ns bigint NOT NULL, inode bigint NOT NULL, CONSTRAINT
    files_pkey PRIMARY KEY (space_id, snapshot, path));
CREATE INDEX files_by_blob ON files (space_id, blob);
CREATE TABLE graphs (space_id bigint NOT NULL, snapshot bigint NOT NULL, tree_hash text COLLATE "C" NOT NULL,
    CONSTRAINT graphs_pkey PRIMARY KEY (space_id, snapshot));
CREATE TABLE items (space_id bigint NOT NULL, id text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, path
    text COLLATE "C" NOT NULL, title text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, state text
    COLLATE "C" NOT NULL, url text COLLATE "C" NOT NULL, updated double precision NOT NULL, labels text COLLATE
    "C" NOT NULL, links text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL, content bytea NOT NULL, run
    bigint NOT NULL, CONSTRAINT items_pkey PRIMARY KEY (space_id, id));
CREATE INDEX items_by_key ON items (space_id, key);
CREATE INDEX items_by_path ON items (space_id, path);
CREATE TABLE marks (space_id bigint NOT NULL, digest text COLLATE "C" NOT NULL, mark text COLLATE "C" NOT NULL,
    at double precision NOT NULL, CONSTRAINT marks_pkey PRIMARY KEY (space_id, digest));
CREATE TABLE mentions (space_id bigint NOT NULL, blob bigint NOT NULL, found text COLLATE "C" NOT NULL,
    CONSTRAINT mentions_pkey PRIMARY KEY (space_id, blob));
CREATE TABLE meta (space_id bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
    CONSTRAINT meta_pkey PRIMARY KEY (space_id, name));
CREATE TABLE named_in_code (space_id bigint NOT NULL, key text COLLATE "C" NOT NULL, blob bigint NOT NULL, line
    bigint NOT NULL, CONSTRAINT named_in_code_pkey PRIMARY KEY (space_id, key, blob, line));
CREATE INDEX named_in_code_by_blob ON named_in_code (space_id, blob);
CREATE TABLE named_in_commits (space_id bigint NOT NULL, key text COLLATE "C" NOT NULL, commit_id text COLLATE
    "C" NOT NULL, path text COLLATE "C" NOT NULL, at double precision NOT NULL, subject text COLLATE "C" NOT
    NULL, CONSTRAINT named_in_commits_pkey PRIMARY KEY (space_id, key, commit_id, path));
CREATE INDEX named_in_commits_by_path ON named_in_commits (space_id, path);
CREATE TABLE nodes (space_id bigint NOT NULL, snapshot bigint NOT NULL, id bigint NOT NULL, path text COLLATE
    "C" NOT NULL, name text COLLATE "C" NOT NULL, qualified text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT
    NULL, start_line bigint NOT NULL, end_line bigint NOT NULL, chunk bigint NOT NULL, parent bigint NOT NULL,
    CONSTRAINT nodes_pkey PRIMARY KEY (space_id, snapshot, id));
CREATE INDEX nodes_by_name ON nodes (space_id, snapshot, name);
CREATE INDEX nodes_by_path ON nodes (space_id, snapshot, path);
CREATE TABLE placements (space_id bigint NOT NULL, space text COLLATE "C" NOT NULL, path text COLLATE "C" NOT
    NULL, blob bigint NOT NULL, label text COLLATE "C" NOT NULL, branch text COLLATE "C" NOT NULL, state bigint
    NOT NULL, CONSTRAINT placements_pkey PRIMARY KEY (space_id, space, path, blob));
CREATE INDEX placements_by_blob ON placements (space_id, blob);
CREATE TABLE resolved (space_id bigint NOT NULL, snapshot bigint NOT NULL, path text COLLATE "C" NOT NULL, blob
    bigint NOT NULL, consulted text COLLATE "C" NOT NULL, unresolved text COLLATE "C" NOT NULL, CONSTRAINT
    resolved_pkey PRIMARY KEY (space_id, snapshot, path));
CREATE TABLE segments (space_id bigint NOT NULL, id bigint NOT NULL, file text COLLATE "C" NOT NULL, blobs
    bigint NOT NULL, CONSTRAINT segments_pkey PRIMARY KEY (space_id, id));
CREATE TABLE snapshots (space_id bigint NOT NULL, id bigint NOT NULL, kind text COLLATE "C" NOT NULL, place text
    COLLATE "C" NOT NULL, label text COLLATE "C" NOT NULL, branch text COLLATE "C" NOT NULL, commit_id text
    COLLATE "C" NOT NULL, tree_hash text COLLATE "C" NOT NULL, indexed_at double precision NOT NULL, skipped
    text COLLATE "C" NOT NULL, table_file text COLLATE "C" NOT NULL, rules text COLLATE "C" NOT NULL, CONSTRAINT
    snapshots_pkey PRIMARY KEY (space_id, id), CONSTRAINT snapshots_space_id_kind_place_key UNIQUE (space_id,
    kind, place));
CREATE TABLE sources (space_id bigint NOT NULL, path text COLLATE "C" NOT NULL, importer text COLLATE "C" NOT
    NULL, state text COLLATE "C" NOT NULL, read_at double precision NOT NULL, CONSTRAINT sources_pkey PRIMARY
    KEY (space_id, path, importer));
CREATE TABLE spaces (id bigint GENERATED BY DEFAULT AS IDENTITY, name text COLLATE "C" NOT NULL, made_at double
    precision NOT NULL, CONSTRAINT spaces_pkey PRIMARY KEY (id), CONSTRAINT spaces_name_key UNIQUE (name));
CREATE TABLE summaries (space_id bigint NOT NULL, enricher text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT
    NULL, summary text COLLATE "C" NOT NULL, CONSTRAINT summaries_pkey PRIMARY KEY (space_id, enricher, hash));
CREATE TABLE symbols (space_id bigint NOT NULL, blob bigint NOT NULL, ordinal bigint NOT NULL, position bigint
    NOT NULL, name text COLLATE "C" NOT NULL, qualified text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT
    NULL, start_line bigint NOT NULL, end_line bigint NOT NULL, signature text COLLATE "C" NOT NULL, CONSTRAINT
    symbols_pkey PRIMARY KEY (space_id, blob, ordinal, position));
CREATE INDEX symbols_by_name ON symbols (space_id, lower(name));
CREATE TABLE tombstones (space_id bigint NOT NULL, number bigint NOT NULL, id text COLLATE "C" NOT NULL, event
    bigint NOT NULL, reason text COLLATE "C" NOT NULL, at double precision NOT NULL, CONSTRAINT tombstones_pkey
    PRIMARY KEY (space_id, number), CONSTRAINT tombstones_space_id_id_key UNIQUE (space_id, id));
CREATE TABLE tools (space_id bigint NOT NULL, id text COLLATE "C" NOT NULL, server text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, description text COLLATE "C" NOT NULL, input_schema text COLLATE "C" NOT
    NULL, output_schema text COLLATE "C" NOT NULL, pinned bigint NOT NULL, registered_at double precision NOT
    NULL, gone_at double precision NOT NULL, CONSTRAINT tools_pkey PRIMARY KEY (space_id, id));
CREATE TABLE traces (space_id bigint NOT NULL, id text COLLATE "C" NOT NULL, position bigint NOT NULL, intent
    text COLLATE "C" NOT NULL, calls text COLLATE "C" NOT NULL, links text COLLATE "C" NOT NULL, session text
    COLLATE "C" NOT NULL, at double precision NOT NULL, ok bigint NOT NULL, CONSTRAINT traces_pkey PRIMARY KEY
    (space_id, id));
CREATE INDEX traces_by_position ON traces (space_id, position);
CREATE TABLE usage (space_id bigint NOT NULL, item text COLLATE "C" NOT NULL, uses bigint NOT NULL, CONSTRAINT
    usage_pkey PRIMARY KEY (space_id, item));
CREATE TABLE vectors (space_id bigint NOT NULL, embedder text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT
    NULL, vector bytea NOT NULL, CONSTRAINT vectors_pkey PRIMARY KEY (space_id, embedder, hash));
