/** Memory beside the symbol: above its declaration, and where the pointer rests on its name. */

import * as vscode from "vscode";

import { lensesOf, MOST_RECALLED, notesMarkdown, notesNamed, notesOf, questionOf, type Note } from "./notes";
import { pathIn } from "./places";
import type { Session } from "./session";
import { coded } from "./text";

const KNOWN_MS = 30_000;
const MOST_KNOWN = 200; // answers kept
const RECALLED_FOR_A_NAME = 20;

export class Memory implements vscode.CodeLensProvider, vscode.HoverProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly known = new Map<string, { at: number; notes: Promise<Note[]> }>();

  constructor(private readonly session: Session) {}

  /** Ask anew: something was said, indexed or saved. */
  refresh(): void {
    this.known.clear();
    this.changed.fire();
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (!shows("codeLens")) return [];
    const text = document.getText();
    const found = await this.ask(document, (path) => questionOf(path, text), MOST_RECALLED);
    if (!found) return [];
    return lensesOf(found.path, text, found.notes).map(
      ({ line, symbol, title, notes }) =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          title,
          command: "vademecum.showNotes",
          arguments: [symbol, notes],
        }),
    );
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    if (!shows("hover")) return undefined;
    const range = document.getWordRangeAtPosition(position);
    const name = range && document.getText(range);
    if (!name || name.length < 2) return undefined;
    const found = await this.ask(document, () => name, RECALLED_FOR_A_NAME);
    const notes = notesNamed(name, found?.notes ?? []);
    // Markdown that is not trusted: it runs no command and holds no HTML
    return notes.length ? new vscode.Hover(new vscode.MarkdownString(`**Remembered**\n\n${notesMarkdown(notes)}`), range) : undefined;
  }

  /** Show what is remembered of a symbol as a document. */
  async show(symbol: string, notes: readonly Note[]): Promise<void> {
    const content = `# ${coded(symbol)}\n\n${notesMarkdown(notes)}\n`;
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }

  /** Notes of a question about a file; undefined where the file is in no repository served, or no server answers. */
  private async ask(
    document: vscode.TextDocument,
    question: (path: string) => string,
    k: number,
  ): Promise<{ path: string; notes: Note[] } | undefined> {
    if (document.uri.scheme !== "file") return undefined;
    try {
      const client = await this.session.client();
      const repo = await this.session.repoOfFile(client, document.uri.fsPath);
      const path = repo && pathIn(repo.root, document.uri.fsPath);
      if (!repo || !path) return undefined;
      const key = JSON.stringify([client.server, repo.name, k, question(path)]);
      const known = this.known.get(key);
      if (known && Date.now() - known.at < KNOWN_MS) return { path, notes: await known.notes };
      const notes = client.recall(question(path), k, repo.name).then(notesOf);
      if (this.known.size >= MOST_KNOWN) this.known.clear();
      this.known.set(key, { at: Date.now(), notes });
      notes.catch(() => this.known.delete(key));
      return { path, notes: await notes };
    } catch {
      return undefined; // beside the code nothing complains; the status bar says that no server answers
    }
  }
}

function shows(what: string): boolean {
  return vscode.workspace.getConfiguration("vademecum.memory").get(what, true);
}
