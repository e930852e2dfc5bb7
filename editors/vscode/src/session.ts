/** Which server is asked, with which key, about which repository: what every command stands on. */

import * as vscode from "vscode";

import { chosenServer } from "./address";
import { Client, ServerError } from "./client";
import { repoOf } from "./places";
import type { Repo } from "./wire";

const KNOWN_MS = 30_000; // how long the list of repositories is believed

export class Session {
  private known: { server: string; at: number; repos: Repo[] } | undefined;

  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** The server that the settings name. Throws where a workspace names another machine. */
  server(): string {
    const found = vscode.workspace.getConfiguration("vademecum").inspect<string>("server");
    return chosenServer({
      byDefault: found?.defaultValue ?? "http://127.0.0.1:8765",
      byUser: found?.globalValue,
      byWorkspace: found?.workspaceFolderValue ?? found?.workspaceValue,
    });
  }

  /** A client with the key of just this server: a key is never told to another. */
  async client(): Promise<Client> {
    const server = this.server();
    return new Client(server, await this.secrets.get(keyOf(server)));
  }

  async setKey(key: string): Promise<void> {
    const server = this.server();
    await (key ? this.secrets.store(keyOf(server), key) : this.secrets.delete(keyOf(server)));
    this.forget();
  }

  /** Look again at what is served. */
  forget(): void {
    this.known = undefined;
  }

  async repos(client: Client): Promise<Repo[]> {
    if (!this.known || this.known.server !== client.server || Date.now() - this.known.at > KNOWN_MS) {
      this.known = { server: client.server, at: Date.now(), repos: await client.repos() };
    }
    return this.known.repos;
  }

  /** The repositories served that are open here; all of them where no folder is open. */
  async open(client: Client): Promise<Repo[]> {
    const repos = await this.repos(client);
    const folders = this.folders();
    const found = folders.map((folder) => repoOf(folder, repos)).filter((repo) => repo !== undefined);
    if (!folders.length) return repos;
    // a server in a container knows its repositories by other paths: one by the folder's name is taken for it
    const named = found.length ? found : repos.filter((repo) => folders.some((folder) => folder.split(/[\\/]/).at(-1) === repo.name));
    if (!named.length) {
      const served = repos.map((repo) => repo.name).join(", ") || "nothing";
      throw new ServerError(
        `${client.server} serves ${served}, not ${folders.join(", ")}: run \`vade serve\` with this folder, ` +
          "on another --port, and set vademecum.server in this workspace",
        404,
      );
    }
    return [...new Set(named)];
  }

  /** The repository that a file is searched in. */
  async repoOfFile(client: Client, file: string): Promise<Repo | undefined> {
    return repoOf(file, await this.repos(client));
  }

  folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).filter((each) => each.uri.scheme === "file").map((each) => each.uri.fsPath);
  }
}

function keyOf(server: string): string {
  return `vademecum.key ${server}`;
}
