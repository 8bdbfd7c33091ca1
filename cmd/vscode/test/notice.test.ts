import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { visible } from "../src/model/lines";
import { pick, showError, shownError, showInformation } from "../src/view/notice";
import { kept } from "./editor";

/** What VS Code makes links of in notifications (1.100, base/common/linkedText.ts). */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const hostile = [
  "[main.c](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22id%5Cn%22%7D)",
  "[[a](command:a)](command:b)",
  "a]](command:c)",
  "[a]\u200B(command:d) \u202E",
  '[a](file:///etc/passwd "title")\n[b](https://example.org)',
];

beforeEach(() => {
  kept.errors.length = kept.information.length = kept.picks.length = 0;
});

describe("a text of the program", () => {
  it.each(hostile)("is shown, and is no link: %j", async (text) => {
    showInformation(`rank 0 is at ${text}:49, a file that is not here.`);
    await showError(new Error(text), "Open Settings");
    await pick([{ icon: "dash", label: `${text} $(error)`, description: text, detail: text, pid: 1 }], "title", "");
    const item = kept.picks[0]?.[0] as unknown as { label: string; description: string; detail: string };
    expect(item.label.startsWith("$(dash) ")).toBe(true);
    const shown = [...kept.information, ...kept.errors, shownError(text).message, item.label.slice("$(dash) ".length), item.description, item.detail];
    expect(shown).toHaveLength(6);
    for (const one of shown) {
      expect(one).not.toMatch(link);
      expect(one).not.toContain("](");
      expect(one).not.toContain("$(");
      expect(visible(one)).toBe(one);
      expect(one.replaceAll("] (", "](")).toContain(visible(text));
    }
  });

  // A new call goes through notice.ts, or it is one that shows no text of the program's and gets an entry here.
  it("has no other way into a message, a list, a tooltip or the status bar", () => {
    const folder = join(__dirname, "..", "src");
    const used: Record<string, string[]> = {};
    for (const file of (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith(".ts"))) {
      const text = readFileSync(join(folder, file), "utf8");
      // The only spelling, so that none escapes the search for members.
      for (const line of text.match(/^.*(["'])vscode\1.*$/gm) ?? []) expect(line, file).toMatch(/^import (type )?\* as vscode from "vscode";$/);
      expect(text.match(/\bvscode\b(?!\.\w)(?! from )(?!["';-])/g), `${file} passes the editor's module on`).toBeNull();
      for (const [, member = ""] of text.matchAll(/\bvscode\.(\w*(?:window|Markdown)\w*(?:\.\w+)?)/g)) (used[file] ??= []).push(member);
    }
    expect(used).toEqual({
      "extension.ts": ["window.registerWebviewViewProvider"],
      "view/notice.ts": ["window.showInformationMessage", "window.showErrorMessage", "window.showQuickPick"],
      "view/place.ts": ["window.showTextDocument"],
      "view/tab.ts": ["window.createWebviewPanel"],
    });
  });
});
