/**
 * A stand-in for the part of VS Code's API that the extension uses, over real files. It is written after the API's
 * declarations, which `surface` below checks by type where it can; VS Code itself is not run by these tests.
 */

import { readFileSync } from "node:fs";
import * as path from "node:path";

type Listener<T> = (value: T) => unknown;
export interface Disposable {
  dispose(): void;
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class Uri {
  private constructor(readonly scheme: string, readonly fsPath: string, private readonly whole: string) {}
  static file(file: string): Uri {
    return new Uri("file", path.resolve(file), `file://${path.resolve(file)}`);
  }
  static parse(text: string): Uri {
    return new Uri(text.slice(0, text.indexOf(":")), text, text);
  }
  static joinPath(uri: Uri, ...parts: string[]): Uri {
    return Uri.file(path.join(uri.fsPath, ...parts));
  }
  toString(): string {
    return this.whole;
  }
}

export class Position {
  constructor(readonly line: number, readonly character: number) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number | Position, startCharacter: number | Position, endLine?: number, endCharacter?: number) {
    this.start = startLine instanceof Position ? startLine : new Position(startLine, startCharacter as number);
    this.end = startCharacter instanceof Position ? startCharacter : new Position(endLine ?? 0, endCharacter ?? 0);
  }
  get isEmpty(): boolean {
    return this.start.line === this.end.line && this.start.character === this.end.character;
  }
}

export class Selection extends Range {
  get active(): Position {
    return this.end;
  }
}

export class CodeLens {
  constructor(readonly range: Range, readonly command?: { title: string; command: string; arguments?: unknown[] }) {}
}
export class MarkdownString {
  isTrusted = false;
  supportHtml = false;
  constructor(readonly value: string) {}
}
export class Hover {
  constructor(readonly contents: MarkdownString, readonly range?: Range) {}
}
export class ThemeColor {
  constructor(readonly id: string) {}
}
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ViewColumn = { Active: -1, Beside: -2 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };
export const ProgressLocation = { Window: 10, Notification: 15 };

export class TextDocument {
  constructor(readonly uri: Uri, readonly languageId: string, private readonly text: string) {}
  get lineCount(): number {
    return this.text.split("\n").length;
  }
  lineAt(line: number): { text: string } {
    const text = this.text.split("\n")[line];
    if (text === undefined) throw new Error("Illegal value for `line`");
    return { text };
  }
  getText(range?: Range): string {
    if (!range) return this.text;
    return this.text.slice(this.offset(range.start), this.offset(range.end));
  }
  getWordRangeAtPosition(position: Position): Range | undefined {
    for (const word of this.lineAt(position.line).text.matchAll(/\w+/g)) {
      const end = word.index + word[0].length;
      if (word.index <= position.character && position.character <= end) return new Range(position.line, word.index, position.line, end);
    }
    return undefined;
  }
  private offset(position: Position): number {
    return this.text.split("\n").slice(0, position.line).join("\n").length + (position.line ? 1 : 0) + position.character;
  }
}

export class TextEditor {
  selection = new Selection(0, 0, 0, 0);
  revealed: Range | undefined;
  readonly decorations = new Map<unknown, readonly Range[]>();
  constructor(readonly document: TextDocument, readonly options: { viewColumn?: number; preview?: boolean }) {}
  setDecorations(type: unknown, ranges: readonly Range[]): void {
    this.decorations.set(type, ranges);
  }
  revealRange(range: Range): void {
    this.revealed = range;
  }
}

export class WebviewView {
  readonly heard = new EventEmitter<unknown>();
  readonly disposed = new EventEmitter<void>();
  readonly seen = new EventEmitter<void>();
  visible = true;
  readonly told: Record<string, unknown>[] = [];
  readonly webview = {
    html: "",
    options: {},
    cspSource: "https://webview.test",
    asWebviewUri: (uri: Uri) => Uri.parse(`https://webview.test${uri.fsPath}`),
    onDidReceiveMessage: this.heard.event,
    postMessage: (message: Record<string, unknown>) => {
      this.told.push(message);
      return Promise.resolve(true);
    },
  };
  readonly onDidDispose = this.disposed.event;
  readonly onDidChangeVisibility = this.seen.event;
  /** Go out of sight, and back: the page is loaded anew, as it is without `retainContextWhenHidden`. */
  hide(): void {
    this.visible = false;
    this.seen.fire();
  }
  show(): void {
    this.told.length = 0;
    this.visible = true;
    this.seen.fire();
    this.heard.fire({ type: "ready" });
  }
}

/** What a test arranges and looks at: the person at the editor. */
export class Desk {
  folders: string[] = [];
  trusted = true;
  settings: Record<string, { byUser?: unknown; byWorkspace?: unknown }> = {};
  answers: { input: (string | undefined)[]; message: (string | undefined)[]; pick: (string | undefined)[] } = { input: [], message: [], pick: [] };
  said: { kind: string; message: string; detail?: string; offers: string[] }[] = [];
  opened: string[] = [];
  secrets = new Map<string, string>();
  commands = new Map<string, (...given: unknown[]) => unknown>();
  run: string[] = [];
  lenses: { provideCodeLenses(document: TextDocument): Promise<CodeLens[]> } | undefined;
  hovers: { provideHover(document: TextDocument, position: Position): Promise<Hover | undefined> } | undefined;
  views = new Map<string, { resolveWebviewView(view: WebviewView): void }>();
  bar = { text: "", tooltip: undefined as MarkdownString | undefined, command: "", name: "", shown: false };
  editor: TextEditor | undefined;
  readonly saved = new EventEmitter<TextDocument>();
  readonly configured = new EventEmitter<{ affectsConfiguration(section: string): boolean }>();
  readonly selected = new EventEmitter<{ textEditor: TextEditor; kind: number | undefined }>();
  readonly focused = new EventEmitter<{ focused: boolean }>();

  context() {
    const { secrets } = this;
    return {
      subscriptions: [] as Disposable[],
      extensionUri: Uri.file(path.join(__dirname, "..")),
      secrets: {
        get: (name: string) => Promise.resolve(secrets.get(name)),
        store: (name: string, value: string) => Promise.resolve(void secrets.set(name, value)),
        delete: (name: string) => Promise.resolve(void secrets.delete(name)),
      },
    };
  }
}

export let desk = new Desk();
export function newDesk(): Desk {
  return (desk = new Desk());
}

// Defaults are those of the manifest, as VS Code reads them.
const manifest = JSON.parse(readFileSync(path.join(__dirname, "..", "package.json"), "utf8")) as {
  contributes: { configuration: { properties: Record<string, { default: unknown }> } };
};
const setting = (name: string): unknown => {
  const known = manifest.contributes.configuration.properties[name];
  if (!known) throw new Error(`${name} is not in package.json`);
  return known.default;
};

export const workspace = {
  get isTrusted() {
    return desk.trusted;
  },
  get workspaceFolders() {
    return desk.folders.length ? desk.folders.map((folder) => ({ uri: Uri.file(folder) })) : undefined;
  },
  getConfiguration: (section: string) => ({
    get: (name: string) => {
      const own = desk.settings[`${section}.${name}`];
      return own?.byWorkspace ?? own?.byUser ?? setting(`${section}.${name}`);
    },
    inspect: (name: string) => {
      const own = desk.settings[`${section}.${name}`];
      return { key: name, defaultValue: setting(`${section}.${name}`), globalValue: own?.byUser, workspaceValue: own?.byWorkspace };
    },
  }),
  openTextDocument: (what: Uri | { language: string; content: string }): Promise<TextDocument> =>
    Promise.resolve(
      what instanceof Uri
        ? new TextDocument(what, path.extname(what.fsPath).slice(1), readFileSync(what.fsPath, "utf8"))
        : new TextDocument(Uri.parse("untitled:Untitled-1"), what.language, what.content),
    ),
  onDidSaveTextDocument: (listener: Listener<TextDocument>) => desk.saved.event(listener),
  onDidChangeConfiguration: (listener: Listener<{ affectsConfiguration(section: string): boolean }>) => desk.configured.event(listener),
};

const message = (kind: string) => (text: string, ...rest: unknown[]): Promise<string | undefined> => {
  const options = typeof rest[0] === "object" ? (rest.shift() as { detail?: string }) : {};
  desk.said.push({ kind, message: text, offers: rest as string[], ...(options.detail === undefined ? {} : { detail: options.detail }) });
  return Promise.resolve(rest.length ? desk.answers.message.shift() : undefined);
};

export const window = {
  state: { focused: true },
  get activeTextEditor() {
    return desk.editor;
  },
  createStatusBarItem: () => Object.assign(desk.bar, { show: () => (desk.bar.shown = true), dispose: () => undefined }),
  createTextEditorDecorationType: (options: unknown) => ({ options }),
  registerWebviewViewProvider: (name: string, provider: { resolveWebviewView(view: WebviewView): void }): Disposable => {
    desk.views.set(name, provider);
    return { dispose: () => undefined };
  },
  showTextDocument: (document: TextDocument, options: { viewColumn?: number } = {}): Promise<TextEditor> =>
    Promise.resolve((desk.editor = new TextEditor(document, options))),
  showErrorMessage: message("error"),
  showInformationMessage: message("information"),
  showInputBox: () => Promise.resolve(desk.answers.input.shift()),
  showQuickPick: (items: string[]) => {
    const chosen = desk.answers.pick.shift();
    if (chosen !== undefined && !items.includes(chosen)) throw new Error(`${chosen} is not offered: ${items.join(", ")}`);
    return Promise.resolve(chosen);
  },
  withProgress: (_: unknown, task: (progress: unknown, cancelled: unknown) => Promise<unknown>) =>
    task({ report: () => undefined }, { onCancellationRequested: () => ({ dispose: () => undefined }) }),
  onDidChangeTextEditorSelection: (listener: Listener<{ textEditor: TextEditor; kind: number | undefined }>) => desk.selected.event(listener),
  onDidChangeWindowState: (listener: Listener<{ focused: boolean }>) => desk.focused.event(listener),
};

export const commands = {
  registerCommand: (name: string, action: (...given: unknown[]) => unknown): Disposable => {
    if (desk.commands.has(name)) throw new Error(`command '${name}' already exists`);
    desk.commands.set(name, action);
    return { dispose: () => void desk.commands.delete(name) };
  },
  executeCommand: (name: string, ...given: unknown[]): Promise<unknown> => {
    desk.run.push(name);
    return Promise.resolve(desk.commands.get(name)?.(...given));
  },
};

export const languages = {
  registerCodeLensProvider: (_: unknown, provider: NonNullable<Desk["lenses"]>): Disposable => {
    desk.lenses = provider;
    return { dispose: () => undefined };
  },
  registerHoverProvider: (_: unknown, provider: NonNullable<Desk["hovers"]>): Disposable => {
    desk.hovers = provider;
    return { dispose: () => undefined };
  },
};

export const env = {
  openExternal: (uri: Uri): Promise<boolean> => {
    desk.opened.push(uri.toString());
    return Promise.resolve(true);
  },
};

// What is here is in VS Code's own declarations too, under the same names and numbers.
type Api = typeof import("vscode");
export const surface = {
  workspace: workspace satisfies Partial<Record<keyof Api["workspace"], unknown>>,
  window: window satisfies Partial<Record<keyof Api["window"], unknown>>,
  commands: commands satisfies Partial<Record<keyof Api["commands"], unknown>>,
  languages: languages satisfies Partial<Record<keyof Api["languages"], unknown>>,
  env: env satisfies Partial<Record<keyof Api["env"], unknown>>,
};
