// A gdb that serves the Debug Adapter Protocol, with a conversation before it.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Arguments } from "./arguments";
import { Conversation } from "./conversation";
import { framed, type Message, Unframer } from "./messages";

/** How long gdb may take to end before it is made to. */
const patienceMilliseconds = 5_000;
/** What is kept of what gdb writes to standard error, which says why it has ended. */
const mostErrorText = 4_000;

export interface GdbCommand {
  path: string;
  /** The file that makes gdb know MPI. */
  gdbinit: string;
  cwd: string | undefined;
}

export function gdbArguments(gdbinit: string): string[] {
  return ["-q", "-iex", "set confirm off", "-i", "dap", "-ex", `source ${gdbinit}`];
}

export class GdbSession {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly conversation: Conversation;
  private readonly unframer = new Unframer();
  private errorText = "";
  private isEnding = false;

  constructor(command: GdbCommand, given: Arguments, toEditor: (message: Message) => void) {
    this.child = spawn(command.path, gdbArguments(command.gdbinit), { cwd: command.cwd, stdio: "pipe" });
    this.conversation = new Conversation(given, toEditor, (message) => {
      if (this.child.stdin.writable) this.child.stdin.write(framed(message));
    });
    this.child.stdout.on("data", (bytes: Buffer) => { this.read(bytes); });
    this.child.stderr.on("data", (bytes: Buffer) => { this.errorText = (this.errorText + bytes.toString("utf8")).slice(-mostErrorText); });
    this.child.stdin.on("error", () => undefined); // gdb's end tells of it
    this.child.on("error", (error) => { this.gone(`gdb can't be started: ${error.message}`); });
    this.child.on("close", (code, signal) => { this.gone(`gdb has ended (${signal ?? `exit code ${code ?? "unknown"}`}).`); });
  }

  handle(message: Message): void {
    this.conversation.fromEditor(message);
  }

  /** Ends gdb, which lets go of what it has attached to. */
  end(): void {
    this.isEnding = true;
    this.child.stdin.end();
    const late = [
      setTimeout(() => this.child.kill("SIGTERM"), patienceMilliseconds),
      setTimeout(() => this.child.kill("SIGKILL"), 2 * patienceMilliseconds),
    ];
    this.child.once("close", () => { late.forEach(clearTimeout); });
  }

  private read(bytes: Buffer): void {
    let messages: Message[];
    try {
      messages = this.unframer.add(bytes);
    } catch (error) {
      this.errorText += String(error);
      this.child.kill("SIGTERM");
      return;
    }
    for (const message of messages) this.conversation.fromGdb(message);
  }

  private gone(why: string): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.conversation.gone(`${why}\n${this.errorText}`);
  }
}
