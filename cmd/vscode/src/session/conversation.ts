// What stands between an editor and gdb: it passes messages on, and says to gdb what an MPI job needs
// besides.
import type { Arguments, AttachArguments, CoreArguments, LaunchArguments } from "./arguments";
import { fileCommand, runCommand } from "./command";
import { unlinked } from "../model/lines";
import type { Event, Message, Request, Response } from "./messages";

/** The first number of requests that are not the editor's. */
const ownNumbers = 1 << 30;

/** A response's body and, if the request has failed, why. */
interface Answer {
  failure?: string;
  body: unknown;
}

/** gdb's commands that resume all ranks of a job, in place of its own requests, which resume one. */
const forAll: Readonly<Record<string, string>> = { continue: "continue", next: "next", stepIn: "step", stepOut: "finish" };

/** The request by which the view selects a process. */
export const selectRequest = "mpiSelect";

/** Says whether an event of a stop is of none: another thread is selected. */
export function isSelection(body: unknown): boolean {
  return (body as { isSelection?: boolean } | undefined)?.isSelection === true;
}

/** A process, by its rank or, where that is not known, by gdb's number for it. */
export interface SelectArguments {
  rank: number | null;
  inferior: number | null;
}

/** What has come of a command: what gdb says of it, and the thread that it has selected. */
interface Done {
  result?: string;
  message?: string;
  threadId?: number | null;
}

/** What an event tells of a stop. */
interface Stop {
  threadId?: number;
  reason?: string;
  [more: string]: unknown;
}

/** The innermost frames of a thread, as gdb has answered. */
interface Stack {
  threadId: number;
  body: unknown;
}

/** How many frames the editor asks for. */
const framesAtOnce = 20;

/** gdb's word for a request that it can't answer while a process runs. */
const notStopped = "notStopped";

/** gdb's word for a request that the editor has given up. */
const cancelled = "cancelled";

/** The states of processes that are still there. */
const there = new Set(["stopped", "running", "core"]);

export class Conversation {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly executing = new Map<number, (done: Done) => void>();
  private nextOwn = ownNumbers;
  private nextSent = 1;
  private deferred: Request | undefined; // what gdb is not asked for as it is, until the editor has set its breakpoints
  private begun: Request | undefined; // the attach request
  private held: Event | undefined; // the last event of a stop or its end, while such are held back
  private isHolding = false;
  private shown: Stack | undefined; // that of a thread which has stopped, until the editor has asked for it
  private runs = 0; // how often the ranks have gone on
  private exitCode: number | undefined;
  private isTerminating = false;
  private isOver = false;

  private readonly toEditor: (message: Message) => void;

  constructor(
    private readonly given: Arguments,
    toEditor: (message: Message) => void,
    private readonly toGdb: (message: Message) => void,
  ) {
    this.toEditor = (message) => { toEditor(withoutLinks(message)); };
  }

  /** Whether gdb's commands for one rank are to be those for all. */
  private get isJob(): boolean {
    return this.given.kind === "launch" || (this.given.kind === "attach" && this.given.job);
  }

  fromEditor(message: Message): void {
    if (message.type !== "request") {
      this.toGdb(message);
      return;
    }
    switch (message.command) {
      case "attach":
      case "launch":
        if (this.given.kind === "attach") {
          this.begun = message;
          this.toGdb({ ...message, arguments: attachArguments(this.given) });
        } else {
          this.deferred = message;
          if (this.given.kind === "launch") void this.prepare(this.given);
        }
        return;
      case "configurationDone":
        if (this.deferred !== undefined) {
          this.answer(message);
          if (this.given.kind === "launch") void this.start(this.deferred, this.given);
          if (this.given.kind === "core") void this.open(this.deferred, this.given);
          this.deferred = undefined;
          return;
        }
        break;
      case selectRequest:
        void this.select(message);
        return;
      case "terminate":
        this.isTerminating = true; // with the rank that gdb kills, the launcher ends the others
        break;
      case "stackTrace":
        if (this.shown !== undefined && isFirstPart(message.arguments, this.shown.threadId)) {
          this.answer(message, this.shown.body);
          this.shown = undefined;
          return;
        }
        break;
      case "evaluate":
        if (isTyped(message.arguments)) {
          void this.typed(message);
          return;
        }
        break;
      case "continue":
      case "next":
      case "stepIn":
      case "stepOut":
        if (this.isJob && isStatement(message.arguments)) {
          void this.resume(message);
          return;
        }
        break;
    }
    this.toGdb(message);
  }

  fromGdb(message: Message): void {
    if (message.type === "response") {
      const own = this.waiting.get(message.request_seq);
      if (own !== undefined) {
        this.waiting.delete(message.request_seq);
        own(answerOf(message));
        return;
      }
      this.toEditor(adapted(message));
      if (message.success && message.request_seq === this.begun?.seq) void this.attached();
      return;
    }
    if (message.type === "event") {
      switch (message.event) {
        case "stopped":
        case "continued":
          if (this.isHolding) {
            this.held = message;
            return;
          }
          if (message.event === "stopped") {
            void this.tellStop(message.body as Stop);
            return;
          }
          this.shown = undefined;
          this.runs++;
          break;
        case "mpiExecuted": {
          const done = message.body as Done & { number: number };
          this.executing.get(done.number)?.(done);
          this.executing.delete(done.number);
          return;
        }
        case "exited":
          this.exitCode ||= (message.body as { exitCode?: number } | undefined)?.exitCode;
          return;
        case "terminated":
          void this.ended(message);
          return;
      }
    }
    this.toEditor(message);
  }

  /** Tells the editor that gdb is gone. */
  gone(why: string): void {
    this.tell("stderr", why);
    this.event("terminated", {});
  }

  private async attached(): Promise<void> {
    if (this.given.kind === "attach" && this.given.job) await this.atOnce(() => this.says("mpi-attach"));
  }

  /** Has gdb read the program before the editor sets breakpoints in it. */
  private async prepare({ cwd, program }: LaunchArguments): Promise<void> {
    if (cwd !== undefined) await this.says(`cd ${cwd}`);
    await this.says(fileCommand(program));
  }

  /** Starts the job. It goes on to its first stop, unless that is in main. */
  private async start(launch: Request, given: LaunchArguments): Promise<void> {
    this.answer(launch);
    const run = runCommand(given);
    this.tell("console", `${run}\n`);
    if (!(await this.atOnce(() => this.says(run)))) this.event("terminated", {});
  }

  /** Opens a core file, which stands where its process stood. */
  private async open(attach: Request, { coreFile, program }: CoreArguments): Promise<void> {
    const { failure, body } = await this.ask("mpiCore", { coreFile, ...(program === undefined ? {} : { program }) });
    this.answer(attach, undefined, failure);
    const threadId = (body as { threadId?: number | null } | undefined)?.threadId ?? null;
    if (threadId !== null) await this.tellStop({ reason: "", description: "Core file", threadId, allThreadsStopped: true });
  }

  /**
   * Does what stops and resumes ranks one by one. The editor is told of the last stop alone, which is
   * that of all, or of none.
   */
  private async atOnce<T>(work: () => Promise<T>): Promise<T> {
    this.isHolding = true;
    this.held = undefined;
    try {
      return await work();
    } finally {
      this.isHolding = false;
      await this.tellHeld();
    }
  }

  /** Tells of a stop that was held back. It may have been of a process that gdb has not selected since. */
  private async tellHeld(): Promise<void> {
    if (this.held?.event !== "stopped") return;
    const { body } = this.held;
    const answer = await this.ask(selectRequest, {});
    const threadId = (answer.body as { threadId?: number | null } | undefined)?.threadId ?? null;
    if (threadId !== null) await this.tellStop({ ...toldOf(body), threadId, allThreadsStopped: true });
  }

  /** Shows a thread that is selected now: the editor goes to one that is said to have stopped. */
  private async selected(threadId: number | null | undefined): Promise<void> {
    if (typeof threadId === "number") await this.tellStop({ reason: "", isSelection: true, threadId, allThreadsStopped: false });
  }

  /**
   * Tells of a stop once the stack is known, so that the editor has it as soon as it asks. If the stack comes more
   * than 50 ms later, VS Code (1.100, CallStackView) asks twice, for its list of stacks too, and marks in the list
   * no frame of the first answer: the mark stays at the thread where it was.
   */
  private async tellStop(stop: Stop): Promise<void> {
    const { runs } = this;
    const { threadId } = stop;
    this.shown = undefined;
    if (threadId !== undefined) {
      const { body, failure } = await this.ask("stackTrace", { threadId, startFrame: 0, levels: framesAtOnce });
      if (runs !== this.runs) return; // it has gone on since
      if (failure === undefined) this.shown = { threadId, body };
    }
    this.event("stopped", stop);
  }

  /** Selects a process, as the view asks for it. */
  private async select(request: Request): Promise<void> {
    const { rank, inferior } = request.arguments as SelectArguments;
    const { failure, body } = await this.ask(selectRequest, rank === null ? { inferior } : { rank });
    this.answer(request, undefined, failure);
    if (failure === undefined) await this.selected((body as { threadId?: number | null } | undefined)?.threadId);
  }

  /** Has gdb execute what a user has typed, and goes to the thread that it has selected. */
  private async typed(request: Request): Promise<void> {
    const { expression, frameId } = request.arguments as { expression: string; frameId?: number };
    const { result, message, threadId } = await this.execute(expression, frameId);
    this.answer(request, { result: result ?? "", variablesReference: 0 }, message);
    await this.selected(threadId);
  }

  /** Resumes all ranks as the editor wants one to be resumed. */
  private async resume(request: Request): Promise<void> {
    const { threadId, singleThread } = request.arguments as { threadId: number; singleThread?: boolean };
    // The next stop must not be told before this answer.
    this.answer(request, request.command === "continue" ? { allThreadsContinued: true } : undefined);
    const alone = singleThread === true && request.command !== "continue";
    const { failure } = await this.ask("mpiResume", { threadId, command: forAll[request.command], alone });
    if (failure !== undefined) this.tell("stderr", `${failure}\n`);
    // The editor takes the ranks for running.
    if (failure !== undefined && failure !== notStopped) await this.tellStop({ reason: "error", threadId, allThreadsStopped: true });
  }

  /** Passes on that a process has ended, unless others of the job are there: once, with an exit code that is not 0, if there is one. */
  private async ended(event: Event): Promise<void> {
    if (this.isJob && !this.isTerminating) {
      const answer = await this.ask("mpiRanks", {});
      if (answer.failure === notStopped) return;
      const ranks = (answer.body as { ranks?: { state: string }[] } | undefined)?.ranks ?? [];
      if (ranks.some((rank) => there.has(rank.state))) return;
    }
    if (this.isOver) return;
    this.isOver = true;
    this.event("exited", { exitCode: this.exitCode ?? 0 });
    this.toEditor(event);
  }

  /** Has gdb execute a command, shows what it says, and returns whether it has not failed. */
  private async says(command: string): Promise<boolean> {
    const { result, message } = await this.execute(command);
    this.tell("console", result ?? "");
    if (message !== undefined) this.tell("stderr", `${message}\n`);
    return message === undefined;
  }

  /** Has gdb execute a command, during which it serves other requests, as that to pause. */
  private async execute(expression: string, frameId?: number): Promise<Done> {
    const number = this.nextOwn++;
    const done = new Promise<Done>((resolve) => this.executing.set(number, resolve));
    const { failure } = await this.ask("mpiExecute", { expression, number, ...(frameId === undefined ? {} : { frameId }) });
    if (failure === undefined) return done;
    this.executing.delete(number);
    return { message: failure };
  }

  private ask(command: string, given: unknown): Promise<Answer> {
    const seq = this.nextOwn++;
    return new Promise((resolve) => {
      this.waiting.set(seq, resolve);
      this.toGdb({ type: "request", seq, command, arguments: given });
    });
  }

  private answer(request: Request, body?: unknown, failure?: string): void {
    this.toEditor({
      type: "response",
      seq: this.nextSent++,
      request_seq: request.seq,
      command: request.command,
      success: failure === undefined,
      ...(failure === undefined ? {} : { message: failure }),
      ...(body === undefined ? {} : { body }),
    });
  }

  private event(event: string, body: unknown): void {
    this.toEditor({ type: "event", seq: this.nextSent++, event, body });
  }

  private tell(category: "console" | "stderr", output: string): void {
    if (output !== "") this.event("output", { category, output });
  }
}

/** Returns what gdb's own request takes. */
function attachArguments({ pid, program }: AttachArguments): object {
  return program === undefined ? { pid } : { pid, program };
}

/** Returns what to tell of a stop. Where its reason says nothing, the editor says "paused" alone. */
function toldOf(body: unknown): Stop {
  const { reason, ...rest } = (body ?? {}) as Stop;
  return { reason: reason === undefined || reason === "stopped" ? "" : reason, ...rest };
}

/** What may say why it failed. */
interface Explained {
  message?: string;
}

/**
 * Breaks up links in the texts of gdb that the editor may show in a notification or, for a breakpoint that could not
 * be set, as Markdown that may run commands.
 */
function withoutLinks(message: Message): Message {
  if (message.type === "request") return message;
  const { breakpoint, breakpoints } = (message.body ?? {}) as { breakpoint?: Explained; breakpoints?: Explained[] };
  const body = {
    ...(breakpoint && { breakpoint: unlinkedOf(breakpoint) }),
    ...(breakpoints && { breakpoints: breakpoints.map(unlinkedOf) }),
  };
  const clean = Object.keys(body).length === 0 ? message : { ...message, body: { ...(message.body as object), ...body } };
  return clean.type === "response" ? unlinkedOf(clean) : clean;
}

function unlinkedOf<T extends Explained>(one: T): T {
  return one.message === undefined ? one : { ...one, message: unlinked(one.message) };
}

/** Returns a response as the editor is to have it. */
function adapted(message: Response): Response {
  if (message.command === "initialize" && message.success) {
    // A stack that comes in two parts is not drawn where it is as it was before: the editor would
    // stay at the rank that was selected before.
    return { ...message, body: { ...(message.body as object), supportsDelayedStackTraceLoading: false } };
  }
  // The editor would show that as the stack, though it has asked for another one since.
  const isGivenUp = message.command === "stackTrace" && message.message === cancelled;
  return isGivenUp ? { ...message, success: true, body: { stackFrames: [] } } : message;
}

/** Says whether a request is for the innermost frames of a thread. */
function isFirstPart(given: unknown, threadId: number): boolean {
  const { threadId: of, startFrame = 0, levels } = given as { threadId: number; startFrame?: number; levels?: number };
  return of === threadId && startFrame === 0 && levels === framesAtOnce;
}

/** Says whether an evaluation is of what a user has typed in the debug console. */
function isTyped(given: unknown): boolean {
  return (given as { context?: string } | undefined)?.context === "repl";
}

/** Says whether a request is not about single instructions. */
function isStatement(given: unknown): boolean {
  return (given as { granularity?: string } | undefined)?.granularity !== "instruction";
}

function answerOf(response: Response): Answer {
  return response.success ? { body: response.body } : { body: response.body, failure: response.message ?? "gdb gives no reason" };
}
