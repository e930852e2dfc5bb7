/** How the index stands, in the few characters of a status bar. */

import { counted, plain } from "./text";
import type { Status } from "./wire";

export interface Standing {
  readonly text: string;
  readonly tooltip: string; // Markdown
}

export function standingOf(status: Status): Standing {
  const name = plain(status.repo);
  const left = status.skipped.length ? `, ${counted(status.skipped.length, "file")} left out` : "";
  if (!status.indexed_at) {
    return { text: "$(circle-outline) vademecum: not indexed", tooltip: `${name} is not indexed yet: click to index it.` };
  }
  const held = `${counted(status.files, "file")}, ${counted(status.chunks, "chunk")}${left}`;
  if (status.pending) {
    const waiting = counted(status.pending, "vector");
    return { text: `$(sync) vademecum: ${waiting} to come`, tooltip: `${name}: ${held}; ${waiting} still to be made.` };
  }
  if (!status.fresh) {
    return { text: "$(history) vademecum: behind", tooltip: `${name}: ${held}; files have changed since. The next search looks.` };
  }
  return { text: "$(check) vademecum", tooltip: `${name}: ${held}; up to date.` };
}

/** Nothing answers (`status` 0), or what answers is not for this window. Nobody has to use it here: it does not shout. */
export function standingOfFailure(message: string, status: number): Standing {
  return { text: `$(circle-slash) vademecum: ${status ? "not here" : "no server"}`, tooltip: plain(message) };
}
