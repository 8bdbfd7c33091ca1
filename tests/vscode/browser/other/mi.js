// A debugger that speaks to gdb by MI. It takes what Microsoft's takes in the debug console, and refuses
// what that refuses (MIEngine, AD7DebugSession.HandleEvaluateRequestAsync): a command follows "-exec ", and
// its frame, or any where it names none, was asked for since the last stop. What this one shows besides is one
// frame.
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");

exports.Mi = class {
  constructor(gdb, args, send) {
    this.send = send;
    this.number = 0;
    this.waiting = new Map();
    this.said = "";
    this.frames = new Set();
    this.child = spawn(gdb, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout }).on("line", (line) => this.read(line));
  }

  read(line) {
    if (line.startsWith("~")) this.said += text(line.slice(1));
    const [, number, outcome, rest] = /^(\d+)\^(\w+),?(.*)$/.exec(line) ?? [];
    if (number === undefined) return;
    const { resolve, reject } = this.waiting.get(number);
    this.waiting.delete(number);
    if (outcome === "error") reject(new Error(text(/msg=(".*?[^\\]")/.exec(rest)[1])));
    else resolve(rest);
  }

  /** Resolves with what comes after the word done. */
  mi(command) {
    return new Promise((resolve, reject) => {
      const number = String(++this.number);
      this.waiting.set(number, { resolve, reject });
      this.child.stdin.write(`${number}${command}\n`);
    });
  }

  async handle({ seq, command, arguments: given }) {
    const answer = (more) => this.send({ type: "response", seq: 0, request_seq: seq, command, ...more });
    try {
      answer({ success: true, body: await this[command]?.(given) });
    } catch (error) {
      answer({ success: false, message: error.message });
    }
  }

  initialize() {
    return { supportsConfigurationDoneRequest: true };
  }

  async attach({ processId }) {
    await this.mi(`-target-attach ${processId}`);
    this.send({ type: "event", seq: 0, event: "initialized" });
  }

  configurationDone() {
    setImmediate(() => this.send({ type: "event", seq: 0, event: "stopped", body: { reason: "pause", threadId: 1, allThreadsStopped: true } }));
  }

  async threads() {
    const ids = [...(await this.mi("-thread-info")).matchAll(/\{id="(\d+)"/g)];
    return { threads: ids.map(([, id]) => ({ id: Number(id), name: `Thread #${id}` })) };
  }

  async stackTrace({ threadId }) {
    const [, name] = /func="(\w+)"/.exec(await this.mi(`-stack-list-frames --thread ${threadId} 0 0`)) ?? [, "?"];
    const id = 1000 + this.frames.size;
    this.frames.add(id);
    return { stackFrames: [{ id, name, line: 0, column: 0 }] };
  }

  scopes() {
    return { scopes: [] };
  }

  async evaluate({ expression, frameId, context }) {
    const command = /^-exec (.*)$/.exec(expression)?.[1];
    if (command === undefined || context !== "repl") throw new Error("-var-create: unable to create variable object");
    if (!(frameId === undefined ? this.frames.size > 0 : this.frames.has(frameId))) throw new Error("Cannot evaluate expression on the specified stack frame.");
    this.said = "";
    await this.mi(`-interpreter-exec console ${JSON.stringify(command)}`);
    return { result: this.said, variablesReference: 0 };
  }

  dispose() {
    this.child.stdin.end("-gdb-exit\n");
  }
};

/** What a constant of MI's says. */
function text(constant) {
  return JSON.parse(constant.replaceAll(/\\(\d{3})/g, (_, octal) => `\\u${parseInt(octal, 8).toString(16).padStart(4, "0")}`));
}
