/** What VS Code runs: commands, the panel, memory beside the symbol, the status bar. */

import * as vscode from "vscode";

import { isLoopback } from "./address";
import { ServerError, type Client } from "./client";
import { contextMarkdown } from "./documents";
import { Memory } from "./memory";
import { listedCallers } from "./results";
import { SearchView } from "./searchView";
import { commandFor, Serving } from "./serving";
import { Session } from "./session";
import { standingOf, standingOfFailure } from "./standing";

const LOOK_MS = 60_000; // how often the status bar looks while the window has the focus
const JOB_MS = 300;

let started: Serving | undefined; // the only server that this extension stops

export function activate(context: vscode.ExtensionContext): void {
  const session = new Session(context.secrets);
  const bar = vscode.window.createStatusBarItem("vademecum", vscode.StatusBarAlignment.Right, 50);
  bar.name = "vademecum";
  bar.command = "vademecum.status";
  const look = (): void => void showStanding(session, bar);
  const memory = new Memory(session);
  const panel = new SearchView(session, context.extensionUri, look);
  const everyFile = { scheme: "file" };
  const timer = setInterval(() => vscode.window.state.focused && look(), LOOK_MS);

  const actions: Record<string, (...given: never[]) => Promise<void>> = {
    search: () => panel.focus(),
    searchSelection: () => panel.focus(selected()),
    context: () => contextForTask(session),
    callers: () => callers(session, panel),
    index: () => index(session).then(() => memory.refresh()),
    start: () => start(session),
    stop: () => stop(),
    key: () => setKey(session),
    status: () => status(session, memory),
    showNotes: (symbol: string, notes: never) => memory.show(symbol, notes),
  };
  for (const [name, action] of Object.entries(actions)) {
    context.subscriptions.push(vscode.commands.registerCommand(`vademecum.${name}`, (...given: never[]) => told(session, () => action(...given), look)));
  }
  context.subscriptions.push(
    bar,
    vscode.window.registerWebviewViewProvider("vademecum.search", panel),
    vscode.languages.registerCodeLensProvider(everyFile, memory),
    vscode.languages.registerHoverProvider(everyFile, memory),
    vscode.workspace.onDidSaveTextDocument(() => memory.refresh()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration("vademecum")) return;
      session.forget();
      memory.refresh();
      look();
    }),
    vscode.window.onDidChangeWindowState((state) => state.focused && look()),
    { dispose: () => clearInterval(timer) },
  );
  look();
}

export async function deactivate(): Promise<void> {
  await stop();
}

/** Run a command; what goes wrong is said, with an offer to start a server where none answers. */
async function told(session: Session, action: () => Promise<void>, after: () => void): Promise<void> {
  try {
    await action();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offers = error instanceof ServerError && error.status === 0 && !started?.running ? ["Start Server"] : [];
    const chosen = await vscode.window.showErrorMessage(message, ...offers);
    if (chosen === "Start Server") await told(session, () => start(session), () => undefined);
  }
  after();
}

async function showStanding(session: Session, bar: vscode.StatusBarItem): Promise<void> {
  let standing;
  try {
    const client = await session.client();
    const open = (await session.open(client)).map((repo) => repo.name);
    const found = (await client.status()).filter((each) => open.includes(each.repo));
    // the one that needs somebody's attention stands for all
    const worst = found.find((each) => !each.indexed_at) ?? found.find((each) => !each.fresh) ?? found[0];
    standing = worst ? standingOf(worst) : standingOfFailure(`${client.server} serves no repository`, 404);
  } catch (error) {
    session.forget();
    const status = error instanceof ServerError ? error.status : 400;
    standing = standingOfFailure(error instanceof Error ? error.message : String(error), status);
  }
  bar.text = standing.text;
  bar.tooltip = new vscode.MarkdownString(standing.tooltip);
  bar.show();
}

function selected(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection.isEmpty ? wordAt(editor) : editor.selection).trim();
  if (!text) throw new Error("nothing is selected: select what to search for, or put the cursor on a name");
  return text;
}

function wordAt(editor: vscode.TextEditor): vscode.Range {
  return editor.document.getWordRangeAtPosition(editor.selection.active) ?? editor.selection;
}

async function contextForTask(session: Session): Promise<void> {
  const task = await vscode.window.showInputBox({ prompt: "What is to be done?", placeHolder: "Let an answer's budget be split three ways" });
  if (!task?.trim()) return;
  const client = await session.client();
  await session.open(client);
  const tokens = vscode.workspace.getConfiguration("vademecum").get("contextTokens", 8000);
  const where = { location: vscode.ProgressLocation.Notification, title: "vademecum: putting a context together", cancellable: true };
  const content = await vscode.window.withProgress(where, async (_, cancelled) => {
    const stopping = new AbortController();
    cancelled.onCancellationRequested(() => stopping.abort());
    try {
      return contextMarkdown(await client.context(task.trim(), tokens, stopping.signal));
    } catch (error) {
      if (stopping.signal.aborted) return undefined;
      throw error;
    }
  });
  if (content === undefined) return;
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content }));
}

async function callers(session: Session, panel: SearchView): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const value = editor ? editor.document.getText(wordAt(editor)) : "";
  const symbol = await vscode.window.showInputBox({ prompt: "Callers of which symbol?", placeHolder: "Budget.split", value });
  if (!symbol?.trim()) return;
  const client = await session.client();
  const file = editor?.document.uri.scheme === "file" ? editor.document.uri.fsPath : undefined;
  const open = await session.open(client);
  const repo = (file === undefined ? undefined : await session.repoOfFile(client, file)) ?? open[0];
  await panel.list(listedCallers(await client.callers(symbol.trim(), repo?.name)));
}

async function index(session: Session): Promise<void> {
  const client = await session.client();
  for (const repo of await session.open(client)) {
    const where = { location: vscode.ProgressLocation.Window, title: `vademecum: indexing ${repo.name}` };
    await vscode.window.withProgress(where, (progress) => followed(client, repo.name, (message) => progress.report({ message })));
  }
}

async function followed(client: Client, repo: string, report: (message: string) => void): Promise<void> {
  let job = await client.index(repo);
  while (job.state === "queued" || job.state === "running") {
    report(job.total ? `${job.stage} ${job.done} of ${job.total}` : job.stage);
    await new Promise((resolve) => setTimeout(resolve, JOB_MS));
    job = await client.job(job.id);
  }
  if (job.state === "failed") throw new Error(`${repo} could not be indexed: ${job.problem?.detail ?? "the server's log says why"}`);
}

async function start(session: Session): Promise<void> {
  if (started?.running) throw new Error(`a server runs already: \`${started.line.join(" ")}\``);
  if (!vscode.workspace.isTrusted) throw new Error("this workspace is not trusted, so no server is started in it: run `vade serve` in a terminal");
  const server = session.server();
  const url = new URL(server);
  if (!isLoopback(url.hostname) || url.protocol !== "http:") throw new Error(`${server} is not a plain address of this machine: start it where it runs`);
  const folders = session.folders();
  if (!folders.length) throw new Error("no folder is open: open the one to be served");
  // by the user alone: a repository's own file must not say what is run
  const found = vscode.workspace.getConfiguration("vademecum").inspect<string[]>("command");
  const command = found?.globalValue ?? found?.defaultValue ?? [];
  if (!command.length) throw new Error("vademecum.command is empty: name what starts `vade` in your user settings, or run `vade serve` yourself");
  const line = commandFor(command, folders, server);
  const question = { modal: true, detail: `${line.join(" ")}\n\nIt listens on this machine only, and ends with this window.` };
  if ((await vscode.window.showInformationMessage("Start a server for this workspace?", question, "Start")) !== "Start") return;
  started = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "vademecum: starting a server" }, () => Serving.start(line));
  session.forget();
}

async function stop(): Promise<void> {
  await started?.stop();
  started = undefined;
}

async function setKey(session: Session): Promise<void> {
  const server = session.server();
  const prompt = `Key of ${server}, as \`vade serve --new-key\` printed it; nothing to forget it`;
  const key = await vscode.window.showInputBox({ prompt, password: true, ignoreFocusOut: true });
  if (key !== undefined) await session.setKey(key.trim());
}

async function status(session: Session, memory: Memory): Promise<void> {
  const actions: Record<string, () => Promise<void>> = {
    "Index this workspace": () => index(session).then(() => memory.refresh()),
    "Open the page in a browser": async () => void (await vscode.env.openExternal(vscode.Uri.parse(session.server()))),
    "Set key of server": () => setKey(session),
    ...(started?.running ? { "Stop server": stop } : { "Start server": () => start(session) }),
  };
  const chosen = await vscode.window.showQuickPick(Object.keys(actions), { placeHolder: "vademecum" });
  if (chosen !== undefined) await actions[chosen]?.();
}
