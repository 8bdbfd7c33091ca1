// Goes to the line where a rank is.
import { isAbsolute, posix } from "node:path";
import * as vscode from "vscode";
import type { Documents, Rank } from "../documents/types";

/** Returns the entry of a process in the ranks' document. */
export function rankIn(documents: Documents | null, rank: number | null, inferior: number | null): Rank | undefined {
  if (documents === null || !("document" in documents.ranks)) return undefined;
  return documents.ranks.document.ranks.find((r) => (rank === null ? inferior !== null && r.inferior === inferior : r.rank === rank));
}

/** Opens a line of a source file, whose name is as the compiler was given it. Says whether it was found. */
export async function openLine(file: string, line: number): Promise<boolean> {
  for (const uri of await candidates(file)) {
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      const position = new vscode.Position(Math.min(line, document.lineCount) - 1, 0);
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(position, position), preserveFocus: false });
      return true;
    } catch {
      // The next one.
    }
  }
  return false;
}

async function candidates(file: string): Promise<vscode.Uri[]> {
  const named = isAbsolute(file) ? [vscode.Uri.file(file)] : [];
  // The compiler's folder may be another one than the editor's.
  const base = posix.basename(file).replaceAll(/[[\]{}*?]/g, "?");
  const found = await vscode.workspace.findFiles(`**/${base}`, undefined, 20);
  const tail = posix.normalize(file).replace(/^(\.\.\/)+/, "");
  return [...named, ...found.sort((a, b) => Number(b.path.endsWith(`/${tail}`)) - Number(a.path.endsWith(`/${tail}`)))];
}
