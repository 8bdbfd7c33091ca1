import { defineConfig } from "vitest/config";

export default defineConfig({
  // node_modules is a link into the user's cache folder, which is no place for this checkout's files.
  cacheDir: "build/vite",
  // The editor's own module exists in the editor alone.
  resolve: { alias: { vscode: new URL("test/editor.ts", import.meta.url).pathname } },
  // Programs start slowly where much else runs: patience ends only what hangs.
  test: { include: ["test/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 120_000 },
});
