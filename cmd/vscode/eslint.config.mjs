// The rules that find mistakes, by types; style is not theirs.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["build/", "node_modules/", "*.mjs"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { project: ["./tsconfig.json", "./src/page/tsconfig.json"], tsconfigRootDir: import.meta.dirname ?? new URL(".", import.meta.url).pathname },
    },
    rules: {
      "@typescript-eslint/no-unnecessary-type-parameters": "off", // a test names what it takes from a map
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
    },
  },
);
