import { describe, expect, it } from "vitest";
import type { Arguments } from "../src/session/arguments";
import { Conversation, selectRequest } from "../src/session/conversation";
import type { Event, Message, Request, Response } from "../src/session/messages";

const attach: Arguments = { kind: "attach", pid: 42, job: true };
const launch: Arguments = { kind: "launch", program: "/my program", args: ["a b"], ranks: 4, launcher: "mpirun", launcherArgs: ["--oversubscribe"], cwd: "/tmp", stopAtMain: false };

/** gdb answers at once; what it answers, and which events come before, a test can say for each command. */
class Talk {
  readonly editor: Message[] = [];
  readonly gdb: Request[] = [];
  readonly answers = new Map<string, { body?: unknown; failure?: string; before?: [string, unknown][]; isLate?: boolean }>();
  readonly conversation: Conversation;
  private seq = 0;

  constructor(given: Arguments) {
    this.answers.set("mpiSelect", { body: { threadId: 3 } });
    this.conversation = new Conversation(given, (message) => this.editor.push(message), (message) => {
      const request = message as Request;
      this.gdb.push(request);
      const { body, failure, before, isLate } = this.answers.get(said(request)) ?? {};
      const isExecution = request.command === "mpiExecute" && failure !== "notStopped";
      for (const [event, content] of before ?? []) this.event(event, content);
      this.conversation.fromGdb({
        type: "response", seq: 0, request_seq: request.seq, command: request.command, success: failure === undefined || isExecution,
        ...(failure === undefined ? {} : { message: failure }), body,
      });
      if (isExecution && isLate !== true) this.executed(request, failure === undefined ? body : { message: failure });
    });
  }

  /** gdb has executed a command. */
  executed(request: Request, done: unknown): void {
    this.event("mpiExecuted", { ...(done as object), number: (request.arguments as { number: number }).number });
  }

  async ask(command: string, given?: unknown): Promise<Response | undefined> {
    const seq = ++this.seq;
    this.conversation.fromEditor({ type: "request", seq, command, arguments: given });
    await settled();
    return this.editor.find((m): m is Response => m.type === "response" && m.request_seq === seq);
  }

  event(event: string, body?: unknown): void {
    this.conversation.fromGdb({ type: "event", seq: 0, event, body });
  }

  get events(): Event[] {
    return this.editor.filter((m): m is Event => m.type === "event" && m.event !== "output");
  }

  sent(what: string): Request {
    const found = this.gdb.find((request) => said(request) === what);
    if (found === undefined) throw new Error(`${what} was not sent`);
    return found;
  }

  get done(): string[] {
    return this.gdb.map(said);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const said = ({ command, arguments: given }: Request): string => (command === "mpiExecute" ? (given as { expression: string }).expression : command);

describe("a link in gdb's words", () => {
  const link = "[a](command:b)";

  it("is no link in the editor's reason for a failed request, or for a breakpoint that could not be set", async () => {
    const talk = new Talk(attach);
    talk.answers.set("setBreakpoints", { body: { breakpoints: [{ id: 1, verified: true }, { id: 2, verified: false, message: `No source file named ${link}.` }] } });
    talk.answers.set("scopes", { failure: `No symbol "${link}".` });
    expect((await talk.ask("setBreakpoints"))?.body).toEqual({ breakpoints: [{ id: 1, verified: true }, { id: 2, verified: false, message: "No source file named [a] (command:b)." }] });
    expect(await talk.ask("scopes")).toMatchObject({ success: false, message: 'No symbol "[a] (command:b)".' });
    talk.event("breakpoint", { reason: "changed", breakpoint: { id: 2, message: link } });
    expect(talk.events).toMatchObject([{ body: { reason: "changed", breakpoint: { id: 2, message: "[a] (command:b)" } } }]);
  });
});

describe("attach", () => {
  it("attaches to the process, then to its job, and tells of one stop", async () => {
    const talk = new Talk(attach);
    talk.answers.set("mpi-attach", { body: { result: "Attached 2 ranks\n" }, before: [["continued", {}], ["stopped", { threadId: 5, reason: "stopped" }], ["stopped", { threadId: 6, reason: "stopped" }]] });
    expect((await talk.ask("attach", { type: "mpi", pid: 7, job: true }))?.success).toBe(true);
    expect(talk.gdb[0]?.arguments).toEqual({ pid: 42 });
    expect(talk.done.slice(0, 2)).toEqual(["attach", "mpi-attach"]);
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3, allThreadsStopped: true } }]);
    expect(talk.editor).toContainEqual(expect.objectContaining({ event: "output", body: { category: "console", output: "Attached 2 ranks\n" } }));
  });

  it("leaves the others alone if it is told to, or if it fails", async () => {
    const alone = new Talk({ ...attach, job: false });
    await alone.ask("attach");
    expect(alone.done).toEqual(["attach"]);
    const failed = new Talk(attach);
    failed.answers.set("attach", { failure: "ptrace: Operation not permitted." });
    expect(await failed.ask("attach")).toMatchObject({ success: false, message: "ptrace: Operation not permitted." });
    expect(failed.done).toEqual(["attach"]);
  });

  it("goes on where a process has no job", async () => {
    const talk = new Talk(attach);
    talk.answers.set("mpi-attach", { failure: "It is in no job." });
    await talk.ask("attach");
    expect(talk.editor).toContainEqual(expect.objectContaining({ event: "output", body: { category: "stderr", output: "It is in no job.\n" } }));
    expect(talk.events).toEqual([]);
  });
});

describe("a core file", () => {
  const core: Arguments = { kind: "core", coreFile: "/core", program: "/program" };

  it("is opened once the editor is ready, and stands", async () => {
    const talk = new Talk(core);
    talk.answers.set("mpiCore", { body: { threadId: 4 } });
    expect(await talk.ask("attach", { type: "mpi", coreFile: "/core" })).toBeUndefined();
    await talk.ask("setBreakpoints", {});
    expect((await talk.ask("configurationDone"))?.success).toBe(true);
    expect(talk.done).toEqual(["setBreakpoints", "mpiCore", "stackTrace"]);
    expect(talk.gdb[1]?.arguments).toEqual({ coreFile: "/core", program: "/program" });
    expect(talk.editor.filter((m) => m.type === "response" && m.command === "attach")).toMatchObject([{ success: true }]);
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 4, allThreadsStopped: true } }]);
  });

  it("that can't be opened is said to be so", async () => {
    const talk = new Talk({ kind: "core", coreFile: "/core" });
    talk.answers.set("mpiCore", { failure: "/core: No such file or directory." });
    await talk.ask("attach");
    await talk.ask("configurationDone");
    expect(talk.gdb[0]?.arguments).toEqual({ coreFile: "/core" });
    expect(talk.editor.filter((m) => m.type === "response" && m.command === "attach")).toMatchObject([{ success: false, message: "/core: No such file or directory." }]);
    expect(talk.events).toEqual([]);
  });
});

describe("launch", () => {
  it("reads the program, takes breakpoints, and starts the job after that", async () => {
    const talk = new Talk(launch);
    expect(await talk.ask("launch", {})).toBeUndefined();
    await talk.ask("setBreakpoints", {});
    const run = "mpi-run mpirun --oversubscribe -n 4 '/my program' 'a b'";
    talk.answers.set(run, { before: [["stopped", { threadId: 1 }], ["continued", { threadId: 1 }], ["stopped", { threadId: 2, reason: "breakpoint", hitBreakpointIds: [1] }]] });
    expect((await talk.ask("configurationDone"))?.success).toBe(true);
    expect(talk.done).toEqual(["cd /tmp", "file /my\\ program", "setBreakpoints", run, "mpiSelect", "stackTrace"]);
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3, reason: "breakpoint", hitBreakpointIds: [1] } }]);
    expect(talk.editor.filter((m) => m.type === "response" && m.command === "launch")).toHaveLength(1);
  });

  it("stops in main if it is told to", async () => {
    const talk = new Talk({ ...launch, stopAtMain: true });
    await talk.ask("launch");
    talk.answers.set("mpi-run -start mpirun --oversubscribe -n 4 '/my program' 'a b'", { before: [["stopped", { threadId: 1 }]] });
    await talk.ask("configurationDone");
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3 } }]);
  });

  it("can be paused before its first stop", async () => {
    const talk = new Talk(launch);
    await talk.ask("launch");
    const run = "mpi-run mpirun --oversubscribe -n 4 '/my program' 'a b'";
    talk.answers.set(run, { isLate: true, before: [["stopped", { threadId: 1 }], ["continued", { threadId: 1 }]] });
    await talk.ask("configurationDone");
    expect((await talk.ask("pause", { threadId: 1 }))?.success).toBe(true);
    talk.event("stopped", { threadId: 1, reason: "pause" });
    expect(talk.events).toEqual([]);
    talk.executed(talk.sent(run), { result: "" });
    await settled();
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3, reason: "pause" } }]);
  });

  it("ends where the job does not start", async () => {
    const talk = new Talk(launch);
    await talk.ask("launch");
    talk.answers.set("mpi-run mpirun --oversubscribe -n 4 '/my program' 'a b'", { failure: "mpirun is not there." });
    await talk.ask("configurationDone");
    expect(talk.events).toMatchObject([{ event: "terminated" }]);
  });
});

describe("a job", () => {
  it("goes on and is stepped as a whole", async () => {
    const talk = new Talk(attach);
    expect((await talk.ask("continue", { threadId: 9 }))?.body).toEqual({ allThreadsContinued: true });
    await talk.ask("next", { threadId: 9 });
    await talk.ask("stepIn", { threadId: 9, singleThread: true });
    await talk.ask("stepOut", { threadId: 8 });
    expect(talk.gdb.map(({ command, arguments: given }) => [command, given])).toEqual([
      ["mpiResume", { threadId: 9, command: "continue", alone: false }],
      ["mpiResume", { threadId: 9, command: "next", alone: false }],
      ["mpiResume", { threadId: 9, command: "step", alone: true }],
      ["mpiResume", { threadId: 8, command: "finish", alone: false }],
    ]);
  });

  it("is left to gdb where one instruction or one process is meant", async () => {
    const talk = new Talk(attach);
    await talk.ask("next", { threadId: 9, granularity: "instruction" });
    const alone = new Talk({ ...attach, job: false });
    await alone.ask("continue", { threadId: 9 });
    expect([...talk.done, ...alone.done]).toEqual(["next", "continue"]);
  });

  it("is stopped still where it can't go on", async () => {
    const talk = new Talk(attach);
    talk.answers.set("mpiResume", { failure: "'mpiResume'" });
    await talk.ask("continue", { threadId: 9 });
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 9 } }]);
    talk.answers.set("mpiResume", { failure: "notStopped" });
    await talk.ask("continue", { threadId: 9 });
    expect(talk.events).toHaveLength(1);
  });

  it("ends with its last rank, once", async () => {
    const talk = new Talk(attach);
    const end = async (states: string[] | undefined, exitCode: number): Promise<void> => {
      talk.answers.set("mpiRanks", states ? { body: { ranks: states.map((state) => ({ state })) } } : { failure: "notStopped" });
      talk.event("exited", { exitCode });
      talk.event("terminated");
      await settled();
    };
    await end(["exited", "stopped"], 0);
    await end(undefined, 7);
    expect(talk.events).toEqual([]);
    await end(["exited", "exited"], 0);
    await end(["exited", "exited"], 0);
    expect(talk.events).toMatchObject([{ event: "exited", body: { exitCode: 7 } }, { event: "terminated" }]);
  });

  it("ends with one rank where its user ends it", async () => {
    const talk = new Talk(launch);
    talk.answers.set("mpiRanks", { body: { ranks: [{ state: "exited" }, { state: "stopped" }] } });
    await talk.ask("terminate");
    talk.event("exited", { exitCode: 0 });
    talk.event("terminated");
    await settled();
    expect(talk.events).toMatchObject([{ event: "exited" }, { event: "terminated" }]);
  });

  it("gives its stacks in one part", async () => {
    const talk = new Talk(attach);
    talk.answers.set("initialize", { body: { supportsDelayedStackTraceLoading: true, supportsCancelRequest: true } });
    expect((await talk.ask("initialize"))?.body).toEqual({ supportsDelayedStackTraceLoading: false, supportsCancelRequest: true });
  });

  it("has no stack that the editor has given up", async () => {
    const talk = new Talk(attach);
    talk.answers.set("stackTrace", { failure: "cancelled" });
    expect(await talk.ask("stackTrace", { threadId: 1 })).toMatchObject({ success: true, body: { stackFrames: [] } });
    talk.answers.set("stackTrace", { failure: "There is no thread 1." });
    expect(await talk.ask("stackTrace", { threadId: 1 })).toMatchObject({ success: false, message: "There is no thread 1." });
  });

  it("has its ranks selected", async () => {
    const talk = new Talk(attach);
    expect((await talk.ask(selectRequest, { rank: 4, inferior: 2 }))?.success).toBe(true);
    await talk.ask(selectRequest, { rank: null, inferior: 2 });
    expect(talk.gdb.filter(({ command }) => command === selectRequest).map(({ arguments: given }) => given)).toEqual([{ rank: 4 }, { inferior: 2 }]);
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3, isSelection: true } }, { event: "stopped" }]);
    talk.answers.set(selectRequest, { failure: "There is no rank 4." });
    expect(await talk.ask(selectRequest, { rank: 4, inferior: 2 })).toMatchObject({ success: false, message: "There is no rank 4." });
    expect(talk.events).toHaveLength(2);
  });
});

describe("a thread that the editor is sent to", () => {
  const first = { threadId: 3, startFrame: 0, levels: 20 };
  const stacks = (talk: Talk): number => talk.done.filter((command) => command === "stackTrace").length;

  it("has its stack before the editor asks for it, once", async () => {
    const talk = new Talk(attach);
    talk.answers.set("stackTrace", { body: { stackFrames: [{ id: 1 }] } });
    await talk.ask(selectRequest, { rank: 4, inferior: 2 });
    expect(talk.done).toEqual([selectRequest, "stackTrace"]);
    expect(talk.gdb[1]?.arguments).toEqual(first);
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 3, isSelection: true, allThreadsStopped: false } }]);
    await talk.ask("stackTrace", { ...first, threadId: 2 });
    await talk.ask("stackTrace", { ...first, startFrame: 20 });
    expect(stacks(talk)).toBe(3);
    expect(await talk.ask("stackTrace", first)).toMatchObject({ success: true, body: { stackFrames: [{ id: 1 }] } });
    expect(stacks(talk)).toBe(3);
    await talk.ask("stackTrace", first);
    expect(stacks(talk)).toBe(4);
  });

  it("is none any more when the ranks have gone on", async () => {
    const talk = new Talk(attach);
    await talk.ask(selectRequest, { rank: 4, inferior: 2 });
    talk.event("continued", {});
    await talk.ask("stackTrace", first);
    expect(stacks(talk)).toBe(2);
    talk.answers.set("stackTrace", { failure: "notStopped", before: [["continued", {}]] });
    talk.event("stopped", { threadId: 3, reason: "step" });
    await settled();
    expect(talk.events.map(({ event }) => event)).toEqual(["stopped", "continued", "continued"]);
  });

  it("is told of even if it has no stack", async () => {
    const talk = new Talk(attach);
    talk.answers.set("stackTrace", { failure: "No stack." });
    talk.event("stopped", { threadId: 3, reason: "step", allThreadsStopped: true });
    await settled();
    talk.event("stopped", { reason: "pause" });
    expect(talk.done).toEqual(["stackTrace"]);
    expect(talk.events.map(({ body }) => body)).toEqual([{ threadId: 3, reason: "step", allThreadsStopped: true }, { reason: "pause" }]);
  });
});

describe("the debug console", () => {
  const typed = (expression: string): object => ({ expression, frameId: 5, context: "repl" });

  it("has gdb execute what is typed", async () => {
    const talk = new Talk(attach);
    talk.answers.set("print 1", { body: { result: "$1 = 1\n", threadId: null } });
    expect((await talk.ask("evaluate", typed("print 1")))?.body).toEqual({ result: "$1 = 1\n", variablesReference: 0 });
    expect(talk.gdb[0]?.arguments).toMatchObject({ expression: "print 1", frameId: 5 });
    expect(talk.events).toEqual([]);
    talk.answers.set("nonsense", { failure: "Undefined command." });
    expect(await talk.ask("evaluate", typed("nonsense"))).toMatchObject({ success: false, message: "Undefined command." });
    talk.answers.set("print 2", { failure: "notStopped" });
    expect(await talk.ask("evaluate", typed("print 2"))).toMatchObject({ success: false, message: "notStopped" });
    await talk.ask("evaluate", { expression: "x", context: "watch" });
    expect(talk.gdb.at(-1)?.command).toBe("evaluate");
  });

  it("moves the editor to the rank that it selects", async () => {
    const talk = new Talk(attach);
    talk.answers.set("mpi-rank 2", { body: { result: "", threadId: 7 } });
    await talk.ask("evaluate", typed("mpi-rank 2"));
    expect(talk.events).toMatchObject([{ event: "stopped", body: { threadId: 7, isSelection: true } }]);
  });

  it("is answered when a command ends that lets the job run", async () => {
    const talk = new Talk(attach);
    talk.answers.set("mpi-continue", { isLate: true });
    expect(await talk.ask("evaluate", typed("mpi-continue"))).toBeUndefined();
    expect((await talk.ask("pause", {}))?.success).toBe(true);
    talk.executed(talk.sent("mpi-continue"), { result: "" });
    await settled();
    expect(talk.editor.filter((m) => m.type === "response" && m.command === "evaluate")).toHaveLength(1);
  });
});
