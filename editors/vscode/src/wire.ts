/** What the server answers, as docs/http.md has it: only the parts that are shown here. */

export type Verdict = "resolved" | "likely" | "ambiguous" | "not_found";

export interface Evidence {
  repo: string;
  path: string;
  start_line: number;
  end_line: number;
  snippet: string;
  kind: string;
  language: string;
  symbols: string[];
  signature: string;
  file_kind: string;
  freshness: string;
  url: string;
}

export interface Answer {
  query: string;
  verdict: Verdict;
  probability: number;
  reason: string;
  nearest: string[];
  searched: number;
  evidence: Evidence[];
}

/** One end of an edge of the graph. */
export interface Link {
  repo: string;
  path: string;
  start_line: number;
  end_line: number;
  name: string;
  kind: string;
  tier: string;
  distance: number;
  line: number;
  line_path: string;
  text: string;
  signature: string;
}

export interface Relation {
  query: string;
  verdict: string;
  of: Link[];
  found: Link[];
  withheld: number;
  reason: string;
  nearest: string[];
}

export interface Chunk {
  form: string;
  text: string;
  path?: string;
  start_line?: number;
  end_line?: number;
  freshness?: string;
  why: string[];
}

export interface Context {
  task: string;
  verdict: string;
  probability: number;
  budget: number;
  sections: { name: string; chunks: Chunk[] }[];
}

export interface Repo {
  name: string;
  root: string;
}

export interface Status {
  repo: string;
  root: string;
  branch: string;
  commit: string;
  files: number;
  chunks: number;
  languages: Record<string, number>;
  skipped: { path: string; reason: string }[];
  fresh: boolean;
  indexed_at: number; // 0: never
  pending: number;
}

export interface Job {
  id: string;
  state: "queued" | "running" | "done" | "failed" | "stopped";
  stage: string;
  done: number;
  total: number;
  problem: { detail?: string } | null;
}

/** Whether the code that a fact names is still what it was. */
export type AnchorState = "current" | "drifted" | "orphaned";

export interface Anchor {
  symbol: string;
  path: string;
  state: AnchorState;
}

export interface Fact {
  id: string;
  kind: string;
  text: string;
  reason: string;
  valid_to: number | null;
  disputed: boolean;
  confirmed: boolean;
  last_at: number;
}

export interface Remembered {
  event: { id: string; at: number; role: string };
  facts: Fact[];
  anchors: Anchor[];
}

export interface Recalled {
  query: string;
  evidence: Remembered[];
}
