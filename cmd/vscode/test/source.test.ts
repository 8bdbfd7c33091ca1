import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocuments, readPicture, wayOf } from "../src/documents/source";

describe("a session", () => {
  it("is asked in the way of its type", () => {
    expect(["mpi", "kdap", "cppdbg", "python", "constructor"].map((type) => wayOf(type, {}))).toEqual(["requests", "requests", "exec", undefined, undefined]);
    expect([wayOf("gdb", { gdb: "commands" }), wayOf("kdap", { kdap: "none" }), wayOf("x", { x: 1 })]).toEqual(["commands", undefined, undefined]);
  });

  it("answers requests", async () => {
    const asked: unknown[] = [];
    const documents = await readDocuments({
      customRequest: (command, given) => {
        asked.push([command, given]);
        return command === "mpiQueues" ? Promise.reject(new Error("notStopped")) : Promise.resolve({ name: command });
      },
    }, "requests");
    expect(asked).toEqual([["mpiDeadlock", { scope: "all" }], ["mpiQueues", { scope: "all", options: { internal: true } }], ["mpiRanks", undefined]]);
    expect(documents).toEqual({ report: { document: { name: "mpiDeadlock" } }, queues: { failure: "notStopped" }, ranks: { document: { name: "mpiRanks" } } });
  });

  it("gives the picture", async () => {
    const answers = { customRequest: (command: string, given: unknown) => Promise.resolve({ svg: `<svg ${command} ${JSON.stringify(given)}>` }) };
    expect(await readPicture(answers, "requests")).toEqual({ document: '<svg mpiPicture {"scope":"all"}>' });
    const writes = {
      customRequest: (_: string, given: unknown) => {
        const [, words = "", file = ""] = /^(.*) -output (.*)$/.exec((given as { expression: string }).expression) ?? [];
        writeFileSync(file, words);
        return Promise.resolve({ result: "" });
      },
    };
    expect(await readPicture(writes, "commands")).toEqual({ document: "mpi-deadlock -all -svg" });
    expect(await readPicture({ customRequest: () => Promise.reject(new Error("notStopped")) }, "requests")).toEqual({ failure: "notStopped" });
  });

  it("writes files by commands", async () => {
    const commands: string[] = [];
    let folder = "";
    const documents = await readDocuments({
      customRequest: (command, given) => {
        if (command === "threads") return Promise.resolve({ threads: [{ id: 3 }] });
        if (command === "stackTrace") {
          expect(given).toEqual({ threadId: 3, startFrame: 0, levels: 1 });
          return Promise.resolve({ stackFrames: [{ id: 1000 }] });
        }
        const { expression, context, frameId } = given as { expression: string; context: string; frameId?: number };
        expect([command, context]).toEqual(["evaluate", "repl"]);
        // Microsoft's adapter knows no frame that it was not asked for.
        if (frameId !== 1000) return Promise.reject(new Error("Cannot evaluate expression on the specified stack frame."));
        const [, words = "", file = ""] = /^(.*) -output (.*)$/.exec(expression) ?? [];
        commands.push(words);
        folder = dirname(file);
        if (words.includes("mpi-ranks")) return Promise.resolve({ result: "Undefined command: \"mpi-ranks\".\n" });
        if (words.includes("mpi-queues")) return Promise.resolve({ result: "" });
        writeFileSync(file, JSON.stringify({ verdict: "deadlock" }));
        return Promise.resolve({ result: "" });
      },
    }, "exec");
    expect(commands).toEqual(["-exec mpi-deadlock -all -json", "-exec mpi-queues -all -internal -json", "-exec mpi-ranks -json"]);
    expect(documents.report).toEqual({ document: { verdict: "deadlock" } });
    expect(documents.ranks).toEqual({ failure: "Undefined command: \"mpi-ranks\"." });
    expect(documents.queues).toMatchObject({ failure: expect.stringContaining("mpi-queues gdbinit") as string });
    expect(existsSync(folder)).toBe(false);
  });

  it("says why commands are not executed", async () => {
    const failure = "Unable to perform this action because the process is running.";
    const running = { customRequest: () => Promise.reject(new Error(failure)) };
    expect(await readDocuments(running, "exec")).toEqual({ report: { failure }, queues: { failure }, ranks: { failure } });
  });
});
