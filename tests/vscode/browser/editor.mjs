// A window of the editor, and the extension's pages in it.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { patience } from "./place.mjs";
import { isReplaced, until } from "./steps.mjs";

/** The window's size: that of a tall screen, so that the side bar's views are in sight. */
export const size = { width: 1400, height: 1250 };

/** Opens the editor in a browser. */
export async function open(code, address, pictures) {
  const { chromium } = createRequire(join(code, "package.json"))("playwright-core");
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const page = await browser.newPage({ viewport: size });
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on("console", (message) => {
    if (/Content Security Policy|(page|picture)\.js/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(address);
  await page.waitForSelector(".monaco-workbench .activitybar");
  return new Editor(browser, page, pictures, complaints);
}

class Editor {
  constructor(browser, page, pictures, complaints) {
    Object.assign(this, { browser, page, pictures, complaints });
  }

  /** Does what a command of the palette does. */
  command(title) {
    return this.choose("F1", `>${title}`, title);
  }

  /** Types into the list that a key opens, and picks an entry. A stop that takes the focus closes the list: it is opened again then. */
  async choose(key, text, entry) {
    for (let timeout = 1_000; ; timeout *= 2) {
      try {
        await this.page.keyboard.press(key);
        await this.page.locator(".quick-input-widget input").first().fill(text, { timeout });
        await this.pick(entry, timeout);
        return;
      } catch (error) {
        if (timeout > patience / 2) throw error;
        await this.page.keyboard.press("Escape");
      }
    }
  }

  /** Picks an entry of the list that is shown. */
  async pick(text, timeout = patience) {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click({ timeout });
  }

  /** Starts the configuration of launch.json that has a name. */
  async debug(name) {
    await this.command("Debug: Select and Start Debugging");
    await this.pick(name);
  }

  /** Types a command in the debug console. */
  async type(command) {
    await this.command("Debug Console: Focus on Debug Console View");
    await this.page.locator(".repl-input-wrapper .monaco-editor.focused").waitFor();
    await this.page.keyboard.type(command);
    await this.page.keyboard.press("Enter");
  }

  /** Waits until the debug console has a text. */
  async console(text) {
    await this.page.locator(".repl-tree .monaco-list-row", { hasText: text }).first().waitFor();
  }

  /** Opens a line of a file. */
  async goTo(file, line) {
    await this.choose("Control+P", `${file}:${line}`, file);
    await this.isAt(file, line);
  }

  /** Waits until the editor shows a line. */
  async isAt(file, line) {
    await this.page.locator(".tab.active", { hasText: file }).first().waitFor();
    await this.page.locator("#status\\.editor\\.selection", { hasText: `Ln ${line},` }).waitFor();
  }

  /**
   * Does what goes to a thread. The editor can't mark a stack that comes later than 50 ms after it has asked, which
   * a machine with much else to do makes of any: it is done again then. deep.py sees to it that a stack which has
   * yet to be read is always too late.
   */
  async goes(thread, work) {
    for (let most = 4_000; ; most *= 2) {
      await work();
      try {
        await this.hasStackOf(thread, most);
        return;
      } catch (error) {
        if (most > patience / 2) throw error;
      }
    }
  }

  /** Waits until the editor is at a frame of a thread. */
  async hasStackOf(thread, most = patience) {
    const late = Date.now() + most;
    for (;;) {
      const at = await this.marked();
      if (at.startsWith(thread)) return;
      if (Date.now() > late) throw new Error(`the call stack is that of ${at.replaceAll(/\s+/g, " ")}, not of ${thread}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** The thread whose frame is marked in the call stack. */
  marked() {
    return this.page.evaluate(() => {
      const top = (row) => row.getBoundingClientRect().top;
      const selected = document.querySelector(".debug-call-stack .monaco-list-row.selected");
      // Its thread may be out of sight, and stand in a row of its own above the others then.
      const above = [...document.querySelectorAll(".debug-call-stack .thread")].filter((thread) => selected && top(thread) <= top(selected) + 5);
      return above.sort((a, b) => top(b) - top(a))[0]?.innerText ?? "";
    });
  }

  /**
   * Fails where the rank that is marked in the call stack is not that whose variables are shown. It is for the first
   * stop: the editor may lose the mark of a stack that was unfolded before (see goes).
   */
  async marksItsRank(variable) {
    await this.hasStackOf("rank ");
    const [, rank] = /^rank (\d+)/.exec(await this.marked());
    const before = await this.said();
    await this.type(`print ${variable}`);
    const said = await until("for the variable", async () => (await this.said()) !== before && (await this.said()));
    assert.match(said, new RegExp(`= ${rank}$`));
  }

  /** What was said last in the debug console. */
  async said() {
    const rows = await this.page.locator(".repl-tree .monaco-list-row").allInnerTexts();
    return rows.map((row) => row.trim()).filter((row) => /^\$\d+ = /.test(row)).at(-1) ?? "";
  }

  /** What the rows of the call stack say. Those that are out of sight are not in the page, so that it is scrolled. */
  async callStack() {
    await this.page.locator(".debug-call-stack").hover();
    const rows = new Set();
    for (let y = -10_000, known = -1; known < rows.size; y = 60) {
      known = y < 0 ? -1 : rows.size;
      await this.page.mouse.wheel(0, y);
      await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      for (const row of await this.page.locator(".debug-call-stack .monaco-list-row").allInnerTexts()) rows.add(row);
    }
    await this.page.mouse.wheel(0, -10_000);
    return [...rows];
  }

  /** Folds some of the side bar's views, to leave room for others. */
  async fold(...views) {
    for (const view of views) {
      const header = this.page.locator(`.pane-header[aria-label="${view} Section"]`);
      if ((await header.getAttribute("aria-expanded")) === "true") await header.click();
    }
  }

  async theme(name) {
    const before = await this.view(() => getComputedStyle(document.getElementById("condition")).color + getComputedStyle(document.body).getPropertyValue("--vscode-foreground"));
    await this.command("Preferences: Color Theme");
    await this.page.waitForSelector('.quick-input-widget input[placeholder*="Color Theme"]');
    await this.page.keyboard.type(name);
    await this.pick(name);
    await this.view((before) => getComputedStyle(document.getElementById("condition")).color + getComputedStyle(document.body).getPropertyValue("--vscode-foreground") !== before, before);
  }

  picture(name) {
    return this.page.screenshot({ path: join(this.pictures, `${name}.png`) });
  }

  /** Waits until a function of the view's page, which gets an argument, returns something true; returns that. */
  view(test, argument) {
    return this.in("#shown", test, argument);
  }

  /** The same for the tab with the picture. A stack that comes late opens its file before it: it is shown again then. */
  drawn(test, argument) {
    return this.in("#canvas", test, argument, "MPI: Show Who Waits for Whom");
  }

  async in(selector, test, argument, show) {
    const late = Date.now() + patience;
    let last, seen = Date.now();
    while (Date.now() < late) {
      if (show && Date.now() > seen + 5_000) {
        await this.command(show);
        seen = Date.now();
      }
      for (const frame of this.page.frames()) {
        try {
          if (!(await frame.$(selector))) continue;
          seen = Date.now();
          last = await frame.evaluate(() => document.body.innerText);
          const value = await frame.evaluate(test, argument);
          if (value) return value;
        } catch (error) {
          if (!isReplaced(error)) throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the page does not come to ${test}; it has: ${last}`);
  }

  /** Clicks on an element of the view, or of the page that has another element. */
  async click(selector, page = "#shown") {
    for (const frame of this.page.frames()) {
      if (await frame.$(page).catch(() => null)) return frame.click(selector);
    }
    throw new Error("there is no view");
  }

  /** Waits until the view shows what was read in this stop, and returns its verdict. */
  verdict() {
    return this.view(() => document.getElementById("condition").textContent === "" && !document.getElementById("shown").hidden && document.getElementById("verdict").textContent);
  }

  /** Sets filters of the view. */
  async filter(values) {
    await this.view((values) => {
      document.getElementById("narrow").open = true;
      for (const [name, value] of Object.entries(values)) {
        const field = document.querySelector(`#filters [name=${name}]`);
        if (typeof value === "boolean") field.checked = value;
        else field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
      return true;
    }, values);
  }

  /** What the view shows of each operation that the filters leave: the fields, by their names. */
  async operations() {
    return this.view(() => {
      const list = document.getElementById("list");
      const found = [];
      list.scrollTop = 0;
      list.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
      for (let last = ""; ; ) {
        const current = list.querySelector(".line.current");
        const terms = [...document.querySelectorAll("#fields dt")];
        if (current.classList.contains("operation")) found.push(Object.fromEntries(terms.map((term) => [term.textContent, term.nextElementSibling.textContent])));
        if (current.id === last) break;
        last = current.id;
        list.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
        if (list.querySelector(".line.current").id === last) break;
      }
      return found;
    });
  }

  /** Ends the session, and sees the view empty. */
  async end(title) {
    await this.command(title);
    await this.view(() => document.getElementById("shown").hidden && !document.getElementById("attach").hidden);
  }

  /** Fails where a page has broken a rule of its own. */
  close() {
    assert.deepEqual(this.complaints, []);
    return this.browser.close();
  }
}
