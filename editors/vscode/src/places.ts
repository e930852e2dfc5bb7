/** Where things are on this machine: folders and the repositories served, evidence and its file. */

import { existsSync, realpathSync } from "node:fs";
import * as path from "node:path";

import type { Repo } from "./wire";

/** Lines are counted from 1 and include the last. */
export interface Place {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/** Return the repository that a folder is, lies in, or holds; the nearest of several. */
export function repoOf(folder: string, repos: readonly Repo[]): Repo | undefined {
  const own = real(folder);
  const around = repos.filter((repo) => holds(real(repo.root), own));
  const inside = repos.filter((repo) => holds(own, real(repo.root)));
  return longest(around) ?? inside[0];
}

/**
 * Return the file that a repository's path means: below its root, or below a folder that is open where the server keeps
 * the repository elsewhere (a container, another machine). Undefined where there is none, or where the path leads out.
 */
export function fileOf(relative: string, roots: readonly string[]): string | undefined {
  for (const root of roots) {
    const file = path.resolve(root, relative);
    if (existsSync(file) && holds(real(root), real(file))) return file;
  }
  return undefined;
}

/** Return a file's path in a repository, as the server writes it; undefined where it lies elsewhere. */
export function pathIn(root: string, file: string): string | undefined {
  const relative = path.relative(real(root), real(file));
  return relative && inside(relative) ? relative.split(path.sep).join("/") : undefined;
}

function holds(folder: string, other: string): boolean {
  return inside(path.relative(folder, other));
}

function inside(relative: string): boolean {
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

function longest(repos: readonly Repo[]): Repo | undefined {
  return [...repos].sort((a, b) => b.root.length - a.root.length)[0];
}

function real(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}
