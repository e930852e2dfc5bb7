// What OpenCode runs for memory: a plugin, since it takes programs in place of hooks. It hands on what is said and what
// memory has to say, and never stands in the way: a command that is gone, slow or failing leaves everything as it is.
import { spawn } from "node:child_process";

const COMMAND = ["vade"];
const LIMIT_MS = 10_000;
const MOST_KEPT = 10_000;  // ids that are remembered

// Installed for the user and for a repository, there are two of us in one process: each message is one's alone.
const taken = (globalThis[Symbol.for("vademecum")] ??= new Set());

function isMine(id) {
  if (taken.has(id)) return false;
  if (taken.size >= MOST_KEPT) taken.clear();
  taken.add(id);
  return true;
}

// Runs `vade memory hook NAME opencode` and returns what it has to say, "" for nothing.
function hook(name, said) {
  return new Promise((done) => {
    try {
      const [command, ...words] = COMMAND;
      const child = spawn(command, [...words, "memory", "hook", name, "opencode"], { cwd: said.cwd, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      const parts = [];
      const limit = setTimeout(() => { child.kill(); done(""); }, LIMIT_MS);
      limit.unref?.();
      const end = (text) => { clearTimeout(limit); done(text); };
      child.on("error", () => end(""));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => parts.push(part));
      child.on("close", () => end(contextIn(Buffer.concat(parts).toString("utf8"))));
      child.stdin.end(JSON.stringify(said));
    } catch {
      done("");
    }
  });
}

function contextIn(answer) {
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext || "";
  } catch {
    return "";
  }
}

const textOf = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic && part.text).map((part) => part.text).join("\n");

export const Vademecum = async ({ client, directory }) => {
  const opened = new Set();  // sessions that were told what holds
  const told = new Map();  // session → the texts of its answer so far, by part
  const agents = new Map();  // session → whether an agent began it: what is said there was said by nobody

  async function isAgents(session) {
    if (!agents.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined);
      agents.set(session, Boolean(found?.data?.parentID));
    }
    return agents.get(session);
  }

  return {
    "chat.message": async (input, output) => {
      try {
        const prompt = textOf(output.parts);
        if (!prompt.trim() || (await isAgents(input.sessionID)) || !isMine(output.message.id)) return;
        const said = { session_id: input.sessionID, cwd: directory, prompt };
        const begins = !opened.has(input.sessionID);
        opened.add(input.sessionID);
        const [opening, answering] = await Promise.all([
          begins ? hook("session-start", { ...said, hook_event_name: "SessionStart" }) : "",
          hook("prompt", { ...said, hook_event_name: "UserPromptSubmit" }),
          hook("heard", { ...said, hook_event_name: "chat.message" }),
        ]);
        const context = opening.includes(answering) ? opening : [opening, answering].filter(Boolean).join("\n\n");
        const last = output.parts.at(-1);
        if (context) output.parts.push({ id: `${last.id}vademecum`, sessionID: input.sessionID, messageID: output.message.id, type: "text", text: context, synthetic: true });
      } catch {}  // the message goes on as it was
    },
    event: async ({ event }) => {
      try {
        const said = event.properties;
        if (event.type === "message.part.updated" && said.part.type === "text" && said.part.time?.end && !said.part.synthetic) {
          const texts = told.get(said.part.sessionID) ?? new Map();
          told.set(said.part.sessionID, texts.set(said.part.id, said.part.text));
        }
        if (event.type === "session.deleted") for (const kept of [opened, told, agents]) kept.delete(said.info.id);
        if (event.type !== "session.idle") return;
        const texts = told.get(said.sessionID);
        told.delete(said.sessionID);
        if (!texts || (await isAgents(said.sessionID)) || !isMine([...texts.keys()].at(-1))) return;
        await hook("heard", { session_id: said.sessionID, cwd: directory, hook_event_name: "session.idle", text: [...texts.values()].join("\n\n") });
      } catch {}
    },
  };
};
