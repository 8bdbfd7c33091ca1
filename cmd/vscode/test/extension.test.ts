import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { activate } from "../src/extension";
import type { Message } from "../src/session/messages";
import { kept } from "./editor";

interface Manifest {
  contributes: {
    commands: { command: string }[];
    views: { debug: { id: string }[] };
    debuggers: { type: string }[];
    configuration: { properties: Record<string, unknown> };
  };
}
const manifest = JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as Manifest;
const folder = mkdtempSync(join(tmpdir(), "mpi-queues-test-"));

function program(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A gdb that answers the extension's question, and each request of DAP. */
const gdb = `#!${process.execPath}
if (process.argv.includes("-batch")) {
  console.log('mpi-queues: {"version": "16.3", "dap": true, "lacks": []}');
} else {
  let text = "";
  process.stdin.on("data", (bytes) => {
    text += bytes;
    for (let m; (m = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text)) && text.length >= m[0].length + Number(m[1]); ) {
      const { seq, command, arguments: given } = JSON.parse(text.slice(m[0].length, m[0].length + Number(m[1])));
      text = text.slice(m[0].length + Number(m[1]));
      if (given?.expression === "die") { console.error("out of luck"); process.exit(4); }
      const answer = JSON.stringify({ type: "response", seq: 1, request_seq: seq, command, success: true, body: { argv: process.argv.slice(2), given } });
      process.stdout.write("Content-Length: " + answer.length + "\\r\\n\\r\\n" + answer);
    }
  });
}
`;
const rank = (number: number, pid: number): object => ({ rank: number, pid, host: "", executable: "/a/ring", exited: false, obstacle: "" });
const jobs = JSON.stringify([{ launcher: 10, name: "mpirun", command: ["mpirun", "./ring"], size: 2, ranks: [rank(0, 11), rank(1, 12)] }]);
const mpiQueues = (list: string): string => `#!/bin/sh
case $1 in gdbinit) echo "/my data/gdbinit" ;; jobs) echo '${list}' ;; esac
`;

beforeAll(() => {
  activate({ extensionUri: { path: "/extension" }, subscriptions: [] } as unknown as vscode.ExtensionContext);
  kept.settings["gdb"] = program("gdb", gdb);
  kept.settings["program"] = program("mpi-queues", mpiQueues(jobs));
});
afterAll(() => { rmSync(folder, { recursive: true }); });

function registered<T>(name: string): T {
  return kept.registered.get(name) as T;
}

const resolve = (config: object): Promise<vscode.DebugConfiguration | undefined> =>
  registered<{ resolveDebugConfigurationWithSubstitutedVariables(folder: undefined, config: object): Promise<vscode.DebugConfiguration | undefined> }>("configurations mpi")
    .resolveDebugConfigurationWithSubstitutedVariables(undefined, config);

interface Adapter { handleMessage(message: Message): void; dispose(): void; onDidSendMessage(heard: (message: Message) => void): void }
const adapter = async (configuration: object): Promise<Adapter> =>
  (await registered<{ createDebugAdapterDescriptor(session: unknown): Promise<{ implementation: Adapter }> }>("adapter mpi").createDebugAdapterDescriptor({ configuration })).implementation;

describe("the extension", () => {
  it("registers all that its manifest names, and reads no other setting", () => {
    for (const { command } of manifest.contributes.commands) expect(kept.registered.has(`command ${command}`), command).toBe(true);
    for (const { id } of manifest.contributes.views.debug) expect(kept.registered.has(`view ${id}`), id).toBe(true);
    for (const { type } of manifest.contributes.debuggers) expect(kept.registered.has(`adapter ${type}`), type).toBe(true);
    expect(Object.keys(manifest.contributes.configuration.properties)).toEqual(["mpi-queues.gdb", "mpi-queues.program", "mpi-queues.otherDebuggers"]);
  });

  it("starts without a configuration", () => {
    registered<() => void>("command mpi-queues.attach")();
    expect(kept.started).toEqual([{ name: "MPI: attach to a job", type: "mpi", request: "attach" }]);
  });
});

describe("a configuration", () => {
  it("without a process has one picked", async () => {
    kept.picked = "$(dash) rank 1";
    expect(await resolve({ type: "mpi", request: "attach" })).toMatchObject({ pid: 12 });
    kept.picked = "";
    expect(await resolve({ type: "mpi", request: "attach" })).toBeUndefined();
    expect(kept.picks.map((items) => items.length)).toEqual([3, 3]);
  });

  it("may name a launcher, a rank or any process", async () => {
    expect([await resolve({ request: "attach", pid: 10 }), await resolve({ request: "attach", pid: "12" }), await resolve({ request: "attach", pid: 7 })].map((c) => c?.["pid"] as unknown)).toEqual([11, 12, 7]);
  });

  it("that is wrong is said to be", async () => {
    kept.errors.length = 0;
    expect(await resolve({ request: "launch" })).toBeUndefined();
    expect(await resolve({ request: "attach", pid: "x" })).toBeUndefined();
    const before = kept.settings["program"];
    kept.settings["program"] = program("none", mpiQueues("[]"));
    expect(await resolve({ request: "attach" })).toBeUndefined();
    kept.settings["program"] = "/nowhere";
    expect(await resolve({ request: "attach" })).toBeUndefined();
    kept.settings["program"] = before;
    expect(kept.errors).toEqual([
      expect.stringContaining('"program"'),
      expect.stringContaining('"pid"'),
      expect.stringContaining("No MPI job runs"),
      expect.stringContaining("/nowhere"),
    ]);
  });
});

describe("the adapter", () => {
  it("is gdb, which sources the extension's file", async () => {
    const running = await adapter({ request: "attach", pid: 11 });
    const answer = await new Promise<Message>((heard) => {
      running.onDidSendMessage(heard);
      running.handleMessage({ type: "request", seq: 5, command: "threads" });
    });
    expect(answer).toMatchObject({ request_seq: 5, body: { argv: ["-q", "-iex", "set confirm off", "-i", "dap", "-ex", "source /my data/gdbinit"] } });
    running.dispose();
  });

  it("says why gdb has ended", async () => {
    const running = await adapter({ request: "attach", pid: 11 });
    const heard: Message[] = [];
    await new Promise<void>((ended) => {
      running.onDidSendMessage((message) => {
        heard.push(message);
        if (message.type === "event" && message.event === "terminated") ended();
      });
      running.handleMessage({ type: "request", seq: 5, command: "evaluate", arguments: { expression: "die" } });
    });
    expect(heard[0]).toMatchObject({ event: "output", body: { output: "gdb has ended (exit code 4).\nout of luck\n" } });
  });
});

describe("the view", () => {
  const posted: { condition: string; shown: { verdict: string } | null }[] = [];
  let wish: (wish: unknown) => void = () => undefined;
  const webview = {
    cspSource: "https://own",
    html: "",
    options: {},
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: (heard: (wish: unknown) => void) => { wish = heard; },
    postMessage: (state: (typeof posted)[number]) => posted.push(state),
  };

  it("is a page that loads the extension's files alone", () => {
    registered<{ resolveWebviewView(view: unknown): void }>("view mpi-queues.view").resolveWebviewView({ webview, visible: true, onDidChangeVisibility: () => undefined, onDidDispose: () => undefined });
    const nonce = /script-src 'nonce-([^']+)'; style-src https:\/\/own; style-src-attr 'none'"/.exec(webview.html)?.[1] ?? "";
    expect(nonce.length).toBeGreaterThan(20);
    expect(webview.html).toContain("default-src 'none'");
    expect(webview.html.match(/<script[^>]*>/g)).toEqual([`<script nonce="${nonce}" src="/extension/dist/page.js">`]);
    expect(webview.html).not.toMatch(/<style| style=| on\w+=/);
  });

  it("follows a session, and goes to its ranks", async () => {
    const asked: unknown[] = [];
    const session = {
      id: "1", type: "mpi", name: "job",
      customRequest: (command: string, given: unknown) => {
        asked.push([command, given]);
        return Promise.resolve(
          command === "mpiDeadlock" ? { verdict: "deadlock", why: "", world_size: 1, missing_ranks: [], groups: [], near_misses: [], notes: [] }
          : command === "mpiRanks" ? { ranks: [{ rank: 3, inferior: 2, file: "ring.c", line: 9 }, { rank: 4, inferior: null, file: null, line: null }] }
          : { processes: [], svg: "<svg/>" });
      },
    };
    const factory = registered<{ createDebugAdapterTracker(session: unknown): { onDidSendMessage(message: unknown): void } | undefined }>("tracker *");
    expect(factory.createDebugAdapterTracker({ ...session, type: "python" })).toBeUndefined();
    wish({ kind: "ready" });
    expect(posted.at(-1)).toMatchObject({ condition: "none" });
    const tracker = factory.createDebugAdapterTracker(session);
    tracker?.onDidSendMessage({ type: "event", event: "stopped", body: { reason: "breakpoint" } });
    await new Promise((done) => setImmediate(done));
    tracker?.onDidSendMessage({ type: "event", event: "stopped", body: { reason: "", isSelection: true } }); // is no new stop
    expect(posted.at(-1)).toMatchObject({ condition: "stopped", shown: { verdict: "deadlock" } });
    kept.information.length = 0;
    wish({ kind: "go", rank: 3, inferior: 2 });
    await new Promise((done) => setTimeout(done));
    wish({ kind: "go", rank: 4, inferior: null });
    await new Promise((done) => setTimeout(done));
    expect(asked.slice(3)).toEqual([["mpiSelect", { rank: 3, inferior: 2 }]]);
    expect(kept.information).toEqual(["rank 3 is at ring.c:9, a file that is not here.", "Where rank 4 is in the program's source is not known."]);
    // The picture is read for a tab that is open.
    expect(asked.map((one) => (one as unknown[])[0])).not.toContain("mpiPicture");
    registered<() => void>("command mpi-queues.picture")();
    registered<() => void>("command mpi-queues.picture")();
    registered<() => void>("command mpi-queues.open")();
    expect(kept.panels.map(({ title }) => title)).toEqual(["Who waits for whom", "MPI"]);
    await new Promise((done) => setTimeout(done));
    expect(asked.filter((one) => (one as unknown[])[0] === "mpiPicture")).toHaveLength(1);
    expect(kept.panels[0]?.posted.at(-1)).toMatchObject({ condition: "stopped", picture: { document: "<svg/>" } });
    kept.panels[0]?.wish({ kind: "go", rank: 3, inferior: null });
    await new Promise((done) => setTimeout(done));
    expect(asked.at(-1)).toEqual(["mpiSelect", { rank: 3, inferior: 2 }]);
    registered<(session: unknown) => void>("on terminated")(session);
    expect(kept.panels.map((panel) => panel.posted.at(-1))).toMatchObject([{ condition: "none" }, { condition: "none" }]);
    expect(posted.at(-1)).toMatchObject({ condition: "none" });
  });
});
