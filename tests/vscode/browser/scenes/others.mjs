// A job that the editor starts and steps, a core file, and another debugger.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, sorted } from "../document.mjs";
import { step, until } from "../steps.mjs";

/** Fails where the view does not come to what the program writes of the same stop. */
async function same(editor, work, before = "") {
  const file = join(work, "all.json");
  rmSync(file, { force: true });
  await editor.type(`${before}mpi-queues -all -json -output ${file}`);
  const document = await until("for the document", () => {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch {
      return undefined;
    }
  });
  const wanted = fieldsOf(document);
  assert.ok(wanted.length > 0);
  await until("for as many operations", () => editor.view((n) => document.getElementById("count").textContent.startsWith(`${n} operation`) || -1, wanted.length).then((is) => is === true));
  const found = await editor.operations();
  assert.ok(found.every((operation) => operation.communicator === "MPI_COMM_WORLD"));
  assert.deepEqual(sorted(found.map(({ communicator, ...rest }) => rest)), sorted(wanted));
  return wanted.length;
}

export async function launched(editor, place, work, line) {
  await step(editor, "a job is started, and stops at a breakpoint", async () => {
    await editor.goTo("ring.c", line.post);
    await editor.page.keyboard.press("F9");
    await editor.debug("launch");
    await editor.view(() => document.getElementById("condition").textContent === "" && !document.getElementById("shown").hidden);
    await editor.fold("Variables", "Watch", "Breakpoints");
    await editor.isAt("ring.c", line.post);
    await editor.marksItsRank("rank");
    await editor.picture("launched");
  });

  await step(editor, "a step is followed by the view", async () => {
    await editor.goTo("ring.c", line.post);
    await editor.page.keyboard.press("F9"); // the others run while one steps
    await editor.command("Debug: Step Over");
    await editor.isAt("ring.c", line.post - 1);
    await editor.verdict();
    const first = await same(editor, work);
    await editor.command("Debug: Step Over");
    await editor.isAt("ring.c", line.post);
    await editor.command("Debug: Step Over");
    await editor.isAt("ring.c", line.post - 1);
    await editor.verdict();
    const second = await same(editor, work);
    assert.ok(second > first, `${first} operations, then ${second}`);
    await editor.picture("stepped");
  });

  await step(editor, "it hangs, and the view has each field of the document", async () => {
    await editor.command("Debug: Continue");
    const hangs = () => JSON.parse(place.shell(`${work}/mpi-queues jobs --json`))[0];
    const job = await until("for the job", hangs);
    assert.equal(job.ranks.length, 3);
    // gdb holds its ranks, which no other program can read: that they hang shows in their state.
    await until("for the ranks to wait", () => [0, 1, 2].every((rank) => place.shell(`ls ready-launched-${rank} 2>/dev/null || :`).trim()));
    await until("for the deadlock", async () => {
      await editor.command("Debug: Pause");
      if ((await editor.verdict()) === "deadlock") return true;
      await editor.command("Debug: Continue");
      return false;
    });
    assert.equal(await same(editor, work), 12);
  });

  await step(editor, "the end of the session ends the job", async () => {
    await editor.end("Debug: Stop");
    await until("for the ranks' end", () => !place.processes().some(({ words }) => words.includes("./ring 3 launched")));
  });
}

export async function core(editor, work, line) {
  await step(editor, "a core file is opened", async () => {
    await editor.debug("core");
    await editor.verdict();
    await editor.page.locator(".debug-call-stack .thread", { hasText: /^\s*rank \d/ }).first().waitFor();
    await editor.isAt("ring.c", line.wait);
    await same(editor, work);
    await editor.picture("core");
    await editor.end("Debug: Disconnect");
  });
}

export async function link(editor) {
  await step(editor, "a name of the program's is no link in a message", async () => {
    await editor.debug("link");
    await editor.verdict();
    await editor.click("#groups .place");
    const message = editor.page.locator(".notifications-toasts .notification-list-item-message", { hasText: ":7, a file that is not here." }).first();
    await message.waitFor();
    await editor.picture("link");
    assert.match(await message.innerText(), /\[a\] \(command:workbench\.action\.showCommands\):7/);
    assert.equal(await message.locator("a").count(), 0);
    await editor.end("Debug: Disconnect");
  });
}

export async function other(editor, work, name) {
  await step(editor, `another debugger's session fills the view: ${name}`, async () => {
    await editor.debug(name);
    await editor.page.locator(".debug-call-stack .thread").first().waitFor();
    await editor.command("Focus on MPI View");
    await editor.verdict();
    await editor.view(() => document.querySelectorAll(".line.operation").length > 0);
    await same(editor, work, name === "by MI" ? "-exec " : "");
    await editor.picture(name.replace(" ", "-"));
    await editor.end("Debug: Disconnect");
  });
}
