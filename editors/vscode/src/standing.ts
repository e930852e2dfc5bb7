/** How the index stands, in the few characters of a status bar. */

import { counted, plain } from "./text";
import type { Status } from "./wire";

export interface Standing {
  readonly text: string;
  readonly tooltip: string; // Markdown
  readonly warn: boolean;
}

export function standingOf(status: Status): Standing {
  const name = plain(status.repo);
  const left = status.skipped.length ? `, ${counted(status.skipped.length, "file")} left out` : "";
  if (!status.indexed_at) {
    return { text: "$(circle-outline) vademecum: not indexed", warn: true, tooltip: `${name} is not indexed yet: click to index it.` };
  }
  const held = `${counted(status.files, "file")}, ${counted(status.chunks, "chunk")}${left}`;
  if (status.pending) {
    const waiting = counted(status.pending, "vector");
    return { text: `$(sync) vademecum: ${waiting} to come`, warn: false, tooltip: `${name}: ${held}; ${waiting} still to be made.` };
  }
  if (!status.fresh) {
    return { text: "$(history) vademecum: behind", warn: false, tooltip: `${name}: ${held}; files have changed since. The next search looks.` };
  }
  return { text: "$(check) vademecum", warn: false, tooltip: `${name}: ${held}; up to date.` };
}

export function standingOfFailure(message: string): Standing {
  return { text: "$(debug-disconnect) vademecum: no server", warn: true, tooltip: plain(message) };
}
