/** What the panel lists: answers as rows, each a place to go to. */

import { counted, visible } from "./text";
import type { Answer, Evidence, Relation, Verdict } from "./wire";

export interface Row {
  readonly repo: string;
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly place: string; // path:lines, as shown
  readonly title: string;
  readonly detail: string;
  readonly snippet: string;
  readonly freshness: string;
  readonly url: string;
}

export interface Listing {
  readonly verdict: string;
  readonly headline: string;
  readonly note: string;
  readonly rows: readonly Row[];
}

const SAID: Record<Verdict, string> = {
  resolved: "Found",
  likely: "Likely",
  ambiguous: "Ambiguous",
  not_found: "Not found",
};

export function listed(answer: Answer): Listing {
  const sure = `${Math.round(answer.probability * 100)} %`;
  return {
    verdict: answer.verdict,
    headline: `${SAID[answer.verdict] ?? answer.verdict} · ${sure} · ${counted(answer.evidence.length, "place")}`,
    note: noted(answer.reason, answer.nearest),
    rows: answer.evidence.map(rowOf),
  };
}

export function listedCallers(relation: Relation): Listing {
  const known = relation.of[0];
  const name = visible(known?.name ?? relation.query);
  const withheld = relation.withheld ? `${counted(relation.withheld, "uncertain edge")} left out` : "";
  return {
    verdict: known ? "resolved" : "not_found",
    headline: known ? `${counted(relation.found.length, "caller")} of ${name}` : `${name} is not known`,
    note: [noted(relation.reason, relation.nearest), withheld].filter(Boolean).join("; "),
    rows: relation.found.map((link) => {
      const at = { path: link.line_path || link.path, first: link.line || link.start_line, last: link.line || link.end_line };
      return {
        ...at,
        repo: link.repo,
        place: placed(at.path, at.first, at.last),
        title: visible(link.name),
        detail: `${visible(link.kind)} · ${visible(link.tier)}${link.distance > 1 ? ` · ${link.distance} calls away` : ""}`,
        snippet: visible(link.text || link.signature),
        freshness: "",
        url: "",
      };
    }),
  };
}

/** Write a place as everywhere: `path:10-40`, `path:10`. */
export function placed(path: string, first: number, last: number): string {
  return `${visible(path)}:${first}${last > first ? `-${last}` : ""}`;
}

function rowOf(evidence: Evidence): Row {
  return {
    repo: evidence.repo,
    path: evidence.path,
    first: evidence.start_line,
    last: evidence.end_line,
    place: placed(evidence.path, evidence.start_line, evidence.end_line),
    title: visible(evidence.signature || evidence.symbols[0] || ""),
    detail: [evidence.kind, evidence.language, evidence.file_kind === "product" ? "" : evidence.file_kind]
      .filter(Boolean).map(visible).join(" · "),
    snippet: visible(evidence.snippet),
    freshness: evidence.freshness === "fresh" ? "" : visible(evidence.freshness),
    url: evidence.url,
  };
}

function noted(reason: string, nearest: readonly string[]): string {
  const near = nearest.length ? `Nearest: ${nearest.join(", ")}` : "";
  return visible([reason, near].filter(Boolean).join(". "));
}
