-- version 1

-- facts about the database itself
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- each content once: `hash` is git's blob id, `language` decides how the content is cut
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL, language TEXT NOT NULL, content BLOB NOT NULL,
    imports TEXT NOT NULL, has_errors INTEGER NOT NULL, UNIQUE (hash, language)
);
-- chunks of a blob, in order. Offsets are bytes into the blob's content. `metadata` is JSON
CREATE TABLE chunks (
    blob INTEGER NOT NULL, ordinal INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    scope TEXT NOT NULL, signature TEXT NOT NULL, summary TEXT NOT NULL, hash TEXT NOT NULL, calls TEXT NOT NULL,
    metadata TEXT NOT NULL, PRIMARY KEY (blob, ordinal)
) WITHOUT ROWID;
-- the names a chunk defines
CREATE TABLE symbols (
    blob INTEGER NOT NULL, ordinal INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
    qualified TEXT NOT NULL, kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, PRIMARY KEY (blob, ordinal, position)
) WITHOUT ROWID;
CREATE INDEX symbols_by_name ON symbols (name);
-- searchable trees: a commit, or a worktree. `place` is the commit's id or the worktree's directory, `table_file`
-- the derived file that holds its `files` as arrays
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, place TEXT NOT NULL, label TEXT NOT NULL, branch TEXT NOT NULL,
    commit_id TEXT NOT NULL, tree_hash TEXT NOT NULL, indexed_at REAL NOT NULL, skipped TEXT NOT NULL,
    table_file TEXT NOT NULL, rules TEXT NOT NULL,
    UNIQUE (kind, place)
);
-- path -> blob, per snapshot. Size, time and inode are those of the file when it was read
CREATE TABLE files (
    snapshot INTEGER NOT NULL, path TEXT NOT NULL, blob INTEGER NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, PRIMARY KEY (snapshot, path)
) WITHOUT ROWID;
CREATE INDEX files_by_blob ON files (blob);
-- derived files of arrays, in order of creation
CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL, blobs INTEGER NOT NULL);
-- vectors that cost time or money, by embedder and chunk hash
CREATE TABLE vectors (
    embedder TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, hash)
) WITHOUT ROWID;

-- version 2

-- the names that a content refers to, as JSON. Resolved per snapshot
CREATE TABLE mentions (blob INTEGER PRIMARY KEY, found TEXT NOT NULL);
-- the graph of a snapshot: the definitions. `parent` is the enclosing node's id, 0 for a file
CREATE TABLE nodes (
    snapshot INTEGER NOT NULL, id INTEGER NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL, qualified TEXT NOT NULL,
    kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, chunk INTEGER NOT NULL,
    parent INTEGER NOT NULL, PRIMARY KEY (snapshot, id)
) WITHOUT ROWID;
CREATE INDEX nodes_by_name ON nodes (snapshot, name);
CREATE INDEX nodes_by_path ON nodes (snapshot, path);
-- the references: kind, tier (how certain), and the first line that shows the reference
CREATE TABLE edges (
    snapshot INTEGER NOT NULL, source INTEGER NOT NULL, kind INTEGER NOT NULL, target INTEGER NOT NULL,
    tier INTEGER NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (snapshot, source, kind, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (snapshot, target, kind, source, tier);
-- the state of each file's edges: the content they come from, the names consulted, the names left unresolved
CREATE TABLE resolved (
    snapshot INTEGER NOT NULL, path TEXT NOT NULL, blob INTEGER NOT NULL, consulted TEXT NOT NULL,
    unresolved TEXT NOT NULL, PRIMARY KEY (snapshot, path)
) WITHOUT ROWID;
-- the state of the snapshot that its graph was built from
CREATE TABLE graphs (snapshot INTEGER PRIMARY KEY, tree_hash TEXT NOT NULL);

-- version 3

-- a language model's summary of a chunk, by chunk hash
CREATE TABLE summaries (
    enricher TEXT NOT NULL, hash TEXT NOT NULL, summary TEXT NOT NULL, PRIMARY KEY (enricher, hash)
) WITHOUT ROWID;

-- version 4

-- events of memory, in order of recording. The database assigns `number`, `metadata` is JSON
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, role TEXT NOT NULL,
    session TEXT NOT NULL, repo TEXT NOT NULL, speaker TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
    recorded_at REAL NOT NULL
);
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_session ON events (session, at);
-- the plain values of an event's metadata, for filters. `value` is JSON
CREATE TABLE event_tags (
    name TEXT NOT NULL, value TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (name, value, event)
) WITHOUT ROWID;
CREATE INDEX event_tags_by_event ON event_tags (event);
-- deleted or archived events that must not return by themselves. `event` is the old number
CREATE TABLE tombstones (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event INTEGER NOT NULL, reason TEXT NOT NULL,
    at REAL NOT NULL
);
-- a rule's verbatim finding in an event. Facts are derived from these
CREATE TABLE claims (
    event TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL, subject TEXT NOT NULL, attribute TEXT NOT NULL, value TEXT NOT NULL, reason TEXT NOT NULL,
    place TEXT NOT NULL, confidence REAL NOT NULL, corrects INTEGER NOT NULL, at REAL NOT NULL,
    speaker TEXT NOT NULL, recorded_at REAL NOT NULL, PRIMARY KEY (event, position)
) WITHOUT ROWID;
CREATE INDEX claims_by_key ON claims (key);
CREATE INDEX claims_by_digest ON claims (digest);
-- current and past facts: one row for each interval of one value
CREATE TABLE facts (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, digest TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    subject TEXT NOT NULL, attribute TEXT NOT NULL, value TEXT NOT NULL, reason TEXT NOT NULL, place TEXT NOT NULL,
    confidence REAL NOT NULL, mentions INTEGER NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL,
    valid_from REAL NOT NULL, valid_to REAL, superseded_by TEXT NOT NULL, disputed INTEGER NOT NULL,
    confirmed INTEGER NOT NULL, recorded_at REAL NOT NULL, event TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX facts_by_key ON facts (key);
CREATE INDEX facts_by_kind ON facts (kind);
CREATE INDEX facts_by_digest ON facts (digest);
-- a person's verdict on a value: confirmed, rejected, forgotten. By digest, so that nothing forgotten is kept
CREATE TABLE marks (digest TEXT PRIMARY KEY, mark TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
-- the symbols a fact is about, and their code when the fact was learned
CREATE TABLE anchors (
    fact TEXT NOT NULL, symbol TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (fact, symbol)
) WITHOUT ROWID;
CREATE INDEX anchors_by_symbol ON anchors (symbol);
-- how often an item was shown. Reading never changes an item's time
CREATE TABLE usage (item TEXT PRIMARY KEY, uses INTEGER NOT NULL) WITHOUT ROWID;
-- a session's decisions, work and open ends. `covers` is its last event's number
CREATE TABLE digests (
    session TEXT PRIMARY KEY, covers INTEGER NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL,
    text TEXT NOT NULL, made_at REAL NOT NULL
) WITHOUT ROWID;
-- how far each transcript and history has been read. `state` is the importer's own JSON
CREATE TABLE sources (
    path TEXT NOT NULL, importer TEXT NOT NULL, state TEXT NOT NULL, read_at REAL NOT NULL,
    PRIMARY KEY (path, importer)
) WITHOUT ROWID;

-- version 5

-- callable tools, by `server/name`. Schemas are JSON. `gone_at` is 0 while the server still lists the tool
CREATE TABLE tools (
    id TEXT PRIMARY KEY, server TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
    input_schema TEXT NOT NULL, output_schema TEXT NOT NULL, pinned INTEGER NOT NULL, registered_at REAL NOT NULL,
    gone_at REAL NOT NULL
) WITHOUT ROWID;
-- the calls for one intent, in order. `calls` and `links` are JSON, `position` counts up with every write
CREATE TABLE traces (
    id TEXT PRIMARY KEY, position INTEGER NOT NULL, intent TEXT NOT NULL, calls TEXT NOT NULL, links TEXT NOT NULL,
    session TEXT NOT NULL, at REAL NOT NULL, ok INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX traces_by_position ON traces (position);

-- version 6

-- the ranking data of one content, packed. Kept if several machines share the store
CREATE TABLE arrays (
    blob INTEGER NOT NULL, embedder TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (blob, embedder)
) WITHOUT ROWID;

-- version 7

-- documents from a backlog or a source of documents. `labels` and `links` are JSON, `hash` is git's blob id of
-- `content`, `run` the number of the last run that saw the item
CREATE TABLE items (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, path TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, url TEXT NOT NULL, updated REAL NOT NULL, labels TEXT NOT NULL, links TEXT NOT NULL,
    hash TEXT NOT NULL, content BLOB NOT NULL, run INTEGER NOT NULL
);
CREATE INDEX items_by_path ON items (path);
CREATE INDEX items_by_key ON items (key);
-- the places in code that seem to name an item, and the commits that do
CREATE TABLE named_in_code (
    key TEXT NOT NULL, blob INTEGER NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (key, blob, line)
) WITHOUT ROWID;
CREATE INDEX named_in_code_by_blob ON named_in_code (blob);
CREATE TABLE named_in_commits (
    key TEXT NOT NULL, commit_id TEXT NOT NULL, path TEXT NOT NULL, at REAL NOT NULL, subject TEXT NOT NULL,
    PRIMARY KEY (key, commit_id, path)
) WITHOUT ROWID;
CREATE INDEX named_in_commits_by_path ON named_in_commits (path);

-- version 8

-- points in an external vector index: content and path, and the pending work. `label` is the commit in the points'
-- ids, `space` the index and the model
CREATE TABLE placements (
    space TEXT NOT NULL, path TEXT NOT NULL, blob INTEGER NOT NULL, label TEXT NOT NULL, branch TEXT NOT NULL,
    state INTEGER NOT NULL, PRIMARY KEY (space, path, blob)
) WITHOUT ROWID;
CREATE INDEX placements_by_blob ON placements (blob);
