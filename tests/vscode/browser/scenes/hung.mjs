// A user picks a hung job from a list, reads the view and the picture, and goes from rank to rank.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { faintTexts, least } from "../contrast.mjs";
import { size } from "../editor.mjs";
import { step, until } from "../steps.mjs";

const many = 10_000;
const themes = [["Light Modern", "light"], ["Dark High Contrast", "high-contrast"], ["Light High Contrast", "light-high-contrast"], ["Dark Modern", "dark"]];

export async function hung(editor, place, work, line) {
  const goes = (rank, work) => editor.goes(`rank ${rank} · ring`, work);

  await step(editor, "a job is picked without a configuration", async () => {
    place.background(`mpirun.openmpi --oversubscribe -n 3 ./ring ${many}`);
    // A rank hangs a moment after it has said that it will.
    await until("for the ranks", () => [0, 1, 2].every((rank) => existsSync(join(work, "folder", `ready-many-${rank}`))));
    const [job] = JSON.parse(place.shell(`${work}/mpi-queues jobs --json`));
    await until("for the deadlock", () => JSON.parse(place.shell(`${work}/mpi-queues report --json ${job.launcher} || :`)).verdict === "deadlock");
    await editor.command("MPI: Attach to a Job");
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "rank 2" }).waitFor();
    await editor.picture("jobs");
    await editor.pick("3 ranks");
    assert.equal(await editor.verdict(), "deadlock");
    await editor.picture("attached");
    await editor.fold("Variables", "Watch", "Breakpoints");
  });

  await step(editor, "the view has what the program reads", async () => {
    const shown = await editor.view(() => document.getElementById("count").textContent);
    assert.equal(shown, `${(3 * (many + 1)).toLocaleString("en")} operations`);
    const groups = await editor.view(() => [...document.querySelectorAll("#groups li")].map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(groups, [["deadlocked", "ranks 0-2", `MPI_Recv on MPI_COMM_WORLD at ring.c:${line.wait}`]]);
  });

  await step(editor, "all ranks are threads of the session", async () => {
    const rows = await until("for the ranks' threads", async () => {
      const rows = await editor.callStack();
      return [0, 1, 2].every((rank) => rows.some((row) => row.startsWith(`rank ${rank} · ring`))) && rows;
    });
    assert.ok(rows.some((row) => row.startsWith("rank 1 · thread 2")), rows.join());
  });

  await step(editor, "a long list has few lines in the page", async () => {
    const { drawn, times } = await editor.view(async () => {
      const list = document.getElementById("list");
      const drawn = [], times = [];
      for (let i = 0; i <= 40; i++) {
        const began = performance.now();
        list.scrollTop = (i / 40) * list.scrollHeight;
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - began);
        const rows = [...list.querySelectorAll(".line")];
        const box = list.getBoundingClientRect();
        // The lines in sight leave no gap.
        const top = document.elementFromPoint(box.left + 60, box.top + 30), bottom = document.elementFromPoint(box.left + 60, box.bottom - 30);
        drawn.push(top.className.includes("line") && bottom.className.includes("line") ? rows.length : -1);
      }
      list.scrollTop = 0;
      return { drawn, times };
    });
    assert.ok(drawn.every((n) => n > 0 && n < 100), `lines drawn: ${drawn}`);
    times.sort((a, b) => a - b);
    console.log(`of ${3 * many} operations ${Math.max(...drawn)} lines are in the page; a step of scrolling, with two frames, takes ${times[20].toFixed(1)} ms, and at most ${times.at(-1).toFixed(1)} ms`);
  });

  await step(editor, "a click goes to the line, and to the rank's stack", async () => {
    await editor.filter({ ranks: "2", tag: "99999" });
    await editor.view(() => document.getElementById("count").textContent === "1 operation");
    await editor.click(".line.operation");
    const fields = await editor.view(() => Object.fromEntries([...document.querySelectorAll("#fields dt")].map((term) => [term.textContent, term.nextElementSibling.textContent])));
    assert.equal(fields["desired tag"], "99999");
    assert.equal(fields["global rank"], "2");
    await editor.picture("operation");
    await goes(2, () => editor.view(() => document.getElementById("list").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })) || true));
    await editor.isAt("ring.c", line.wait);
    await editor.filter({ ranks: "", tag: "" });
    await goes(0, () => editor.click("#groups .place"));
    await editor.picture("line");
  });

  await step(editor, "what is typed in the console moves the editor", async () => {
    await goes(1, () => editor.type("mpi-rank 1"));
    await editor.isAt("ring.c", line.wait);
    await editor.type("print rank");
    await editor.console("= 1");
    await editor.type("mpi-rank 7");
    await editor.console("Unknown rank 7.");
  });

  await step(editor, "the queues open in a tab, too", async () => {
    await editor.command("MPI: Open the Queues in an Editor");
    await editor.page.locator(".tab.active", { hasText: "MPI" }).waitFor();
    await until("for the tab's list", async () => {
      const widths = [];
      for (const frame of editor.page.frames()) {
        if (await frame.$("#list .line")) widths.push(await frame.evaluate(() => document.body.clientWidth));
      }
      return widths.length === 2 && Math.max(...widths) > 600;
    });
    await editor.picture("tab");
    await editor.command("View: Close Editor");
  });

  await step(editor, "the picture has the cycle, and keys go through it", async () => {
    await editor.command("MPI: Show Who Waits for Whom");
    const nodes = await editor.drawn(() => {
      const nodes = [...document.querySelectorAll("#canvas .node[data-rank]")];
      return nodes.length > 0 && nodes.map((node) => [node.dataset.rank, node.querySelector(".title").textContent]);
    });
    assert.deepEqual(nodes.map(([rank]) => rank), ["0", "1", "2", "0"]);
    const edges = await editor.drawn(() => document.querySelectorAll("#canvas .edge.cycle").length);
    assert.equal(edges, 4); // three of the cycle, and the group's own
    await editor.drawn(() => {
      document.querySelector('#canvas .node[tabindex="0"]').focus();
      return document.activeElement.dataset.rank === "0";
    });
    // The ranks stand on a circle: whichever keys lead there, all can be reached.
    const reached = new Set(["0"]);
    for (const key of ["ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]) {
      await editor.page.keyboard.press(key);
      reached.add(await editor.drawn(() => document.activeElement.dataset.rank));
      if (reached.size === 3) break;
    }
    assert.equal(reached.size, 3, [...reached].join());
    const at = await editor.drawn(() => document.activeElement.dataset.rank);
    await goes(at, () => editor.drawn(() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })) || true));
    await editor.isAt("ring.c", line.wait); // which comes before the picture once it is opened
    await editor.command("MPI: Show Who Waits for Whom");
    const sizes = [];
    for (const key of ["0", "+", "+", "-"]) {
      await editor.drawn((key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })) || true, key);
      sizes.push(await editor.drawn(() => document.querySelector("#canvas svg").width.baseVal.value));
    }
    assert.ok(sizes[0] < sizes[1] && sizes[1] < sizes[2] && sizes[3] < sizes[2], sizes.join());
    await editor.drawn(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true })) || true);
  });

  for (const [theme, name] of themes) {
    await step(editor, `the theme ${theme}`, async () => {
      await editor.theme(theme);
      await editor.drawn(() => document.querySelector("#canvas svg") !== null);
      for (const { count, faint } of [await editor.drawn(faintTexts, least), await editor.view(faintTexts, least)]) {
        assert.ok(count > 10, `${count} texts`);
        assert.deepEqual(faint, []);
      }
      await editor.picture(`picture-${name}`);
    });
  }

  await step(editor, "all of it stands side by side", async () => {
    await editor.view(() => { document.getElementById("narrow").open = false; return true; });
    await editor.command("View: Hide Panel");
    await editor.command("View: Move Editor into Next Group");
    await editor.page.locator(".editor-group-container").nth(1).waitFor();
    await editor.page.setViewportSize({ width: 1500, height: 860 });
    await editor.drawn(() => document.querySelector("#canvas svg")?.width.baseVal.value <= document.getElementById("canvas").clientWidth);
    await editor.picture("overview");
    await editor.page.setViewportSize(size);
    await editor.command("View: Close All Editors");
  });
}

/** The helper is killed, and the session goes on. */
export async function killed(editor, place) {
  await step(editor, "the session outlives the helper, and the view says what has happened", async () => {
    const helper = () => place.processes().find(({ parent, words }) => /mpi-queues.* helper/.test(words) && place.processes().some(({ pid, words }) => pid === parent && words.includes("gdb")));
    const first = helper();
    // gdb starts another one without a word, unless it has answered a part of what was asked.
    const said = await until("for a helper that ends in the midst of a request", async () => {
      const { pid } = helper() ?? first;
      await editor.command("MPI: Read the Queues Again");
      await editor.view(() => document.getElementById("condition").textContent.includes("being read"));
      place.shell(`kill -KILL ${pid} || :`);
      const notes = await editor.view(() => document.getElementById("condition").textContent === "" && [...document.querySelectorAll("#why.failure, #count.failure, #notes li")].map((note) => note.textContent));
      assert.notEqual(await editor.view(() => document.getElementById("count").textContent), "no operations");
      return notes.find((note) => note.includes("helper"));
    });
    console.log(`where the helper is killed the view says: ${said}`);
    await editor.picture("killed");
    await editor.command("MPI: Read the Queues Again");
    await editor.view(() => document.getElementById("condition").textContent === "" && document.getElementById("verdict").textContent === "deadlock" && document.querySelectorAll(".failure, #notes li").length === 0);
    assert.notEqual(helper().pid, first.pid);
  });

  await step(editor, "ranks go on, and are paused again", async () => {
    await editor.command("Debug: Continue");
    await editor.view(() => document.getElementById("condition").textContent.includes("run"));
    await editor.picture("running");
    await editor.command("Debug: Pause");
    assert.equal(await editor.verdict(), "deadlock");
    await editor.type("mpi-continue");
    await editor.view(() => document.getElementById("condition").textContent.includes("run"));
    await editor.command("Debug: Pause");
    assert.equal(await editor.verdict(), "deadlock");
  });

  await step(editor, "the session's end empties the view", async () => {
    await editor.end("Debug: Disconnect");
    await editor.picture("ended");
    // The ranks go on without gdb.
    assert.equal(place.processes().filter(({ words }) => words.startsWith("./ring ")).length, 3);
  });
}
