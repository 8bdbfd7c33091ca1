import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readArguments } from "../src/session/arguments";
import { fileCommand, quoted } from "../src/session/command";

describe("arguments", () => {
  it("are filled up", () => {
    expect(readArguments({ request: "attach", pid: "42" })).toEqual({ kind: "attach", pid: 42, job: true });
    expect(readArguments({ request: "attach", coreFile: "core", program: "p" })).toEqual({ kind: "core", coreFile: "core", program: "p" });
    expect(readArguments({ request: "launch", program: "p" })).toEqual({ kind: "launch", program: "p", args: [], ranks: 2, launcher: "mpirun", launcherArgs: [], stopAtMain: false });
  });

  it.each([
    [{ request: "attach" }, "pid"],
    [{ request: "attach", pid: 0 }, "pid"],
    [{ request: "attach", pid: "12x" }, "pid"],
    [{ request: "attach", pid: 1, job: "no" }, "job"],
    [{ request: "attach", coreFile: "" }, "coreFile"],
    [{ request: "launch" }, "program"],
    [{ request: "launch", program: "a\nshell rm" }, "program"],
    [{ request: "launch", program: "a", ranks: 1.5 }, "ranks"],
    [{ request: "launch", program: "a", args: "b" }, "args"],
    [{ request: "launch", program: "a", launcherArgs: ["b\n"] }, "launcherArgs"],
  ])("are refused: %j", (given, name) => {
    expect(() => readArguments(given)).toThrow(`"${name}"`);
  });

  it("reach the shell as they are", () => {
    const all = ["plain", "", "two words", "it's", '"$HOME"', "a;b|c&", "*", "\\", "ü"];
    const text = execFileSync("sh", ["-c", `printf '%s\\n' ${all.map(quoted).join(" ")}`], { encoding: "utf8" });
    expect(text.split("\n").slice(0, -1)).toEqual(all);
  });

  it("name a file to gdb", () => {
    expect(fileCommand("/a b/it's")).toBe("file /a\\ b/it\\'s");
  });
});
