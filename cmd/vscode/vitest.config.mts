import { defineConfig } from "vitest/config";

export default defineConfig({
  // node_modules is a link into the user's cache folder, which is no place for this checkout's files.
  cacheDir: "build/vite",
  // The editor's own module exists in the editor alone.
  resolve: { alias: { vscode: new URL("test/editor.ts", import.meta.url).pathname } },
  test: { include: ["test/**/*.test.ts"] },
});
