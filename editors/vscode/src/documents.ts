/** Documents made of answers: a context for a task, what is remembered of a symbol. */

import { placed } from "./results";
import { coded, fenced, plain } from "./text";
import type { Context, Chunk } from "./wire";

const HEADINGS: Record<string, string> = { primary: "To read", graph: "How it hangs together", memory: "Remembered" };

/** Write a context as Markdown. */
export function contextMarkdown(context: Context, languageOf: (path: string) => string = extension): string {
  const sure = `${plain(context.verdict)}, ${Math.round(context.probability * 100)} %`;
  const head = `# ${plain(context.task)}\n\n${sure}, within ${context.budget} tokens`;
  const sections = context.sections.filter((section) => section.chunks.length);
  if (!sections.length) return `${head}\n\nNothing was found that belongs to this task: name what it is about as the code does.\n`;
  const told = sections.map(({ name, chunks }) => {
    const heading = HEADINGS[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
    return `## ${plain(heading)}\n\n${chunks.map((chunk) => chunkMarkdown(chunk, languageOf)).join("\n")}`;
  });
  return `${[head, ...told].join("\n\n")}\n`;
}

function chunkMarkdown(chunk: Chunk, languageOf: (path: string) => string): string {
  if (chunk.path === undefined) return `- ${plain(chunk.text)}`;
  const first = chunk.start_line ?? 1;
  const aged = chunk.freshness && chunk.freshness !== "fresh" ? ` (${chunk.freshness})` : "";
  const place = coded(placed(chunk.path, first, chunk.end_line ?? first));
  return `### ${place}${aged}\n\n${fenced(chunk.text, languageOf(chunk.path))}\n`;
}

function extension(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1] ?? "";
}
