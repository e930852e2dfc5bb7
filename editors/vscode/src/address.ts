/** Which server may be asked: one on this machine, or one that the user, not a repository, has named. */

/** A setting as VS Code tells it, by who has set it. */
export interface Settled {
  readonly byDefault: string;
  readonly byUser: string | undefined;
  readonly byWorkspace: string | undefined;
}

export class AddressError extends Error {
  override readonly name = "AddressError";
}

/** Whether only this machine answers under a host's name, as a URL writes it. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/**
 * Return the origin to ask, without a slash at its end.
 *
 * A workspace may choose another port of this machine. It may not choose another machine: a repository that was cloned would
 * then be told what is typed and what is open.
 *
 * @throws AddressError the setting is no address, or a repository's own.
 */
export function chosenServer(setting: Settled): string {
  const workspace = setting.byWorkspace === undefined ? undefined : parsed(setting.byWorkspace);
  if (workspace && !isLoopback(workspace.hostname) && origin(workspace) !== userOrigin(setting)) {
    throw new AddressError(
      `this workspace's settings name ${workspace.host} as vademecum.server, which is not this machine: ` +
        "to ask it all the same, set vademecum.server in your user settings",
    );
  }
  return origin(workspace ?? parsed(setting.byUser ?? setting.byDefault));
}

function userOrigin(setting: Settled): string {
  return setting.byUser === undefined ? "" : origin(parsed(setting.byUser));
}

function parsed(address: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new AddressError(`vademecum.server is ${JSON.stringify(address)}, which is no address: write http://127.0.0.1:8765`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new AddressError(`vademecum.server is ${JSON.stringify(address)}: it has to begin with http:// or https://`);
  }
  if (url.username || url.password) {
    throw new AddressError("vademecum.server holds a name or password: run “vademecum: Set Key of Server” instead");
  }
  return url;
}

function origin(url: URL): string {
  return url.origin + url.pathname.replace(/\/+$/, "");
}
