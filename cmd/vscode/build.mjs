// Makes what is not written by hand:
//
//   node build.mjs types     the documents' types, from their schemas
//   node build.mjs package   the folder that the .vsix is packed from
import { build } from "esbuild";
import { compile } from "json-schema-to-typescript";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const made = join(here, "build");

// The schemas in mqs/document, and what their documents are called here.
const documents = { "schema.json": "Queues", "report-schema.json": "Report", "ranks-schema.json": "Ranks" };

/** Spells tuples as the generator knows them: as drafts before 2020-12 do. */
function spelled(node) {
  if (Array.isArray(node)) return node.map(spelled);
  if (node === null || typeof node !== "object") return node;
  const { prefixItems, ...rest } = node;
  const all = Object.entries(prefixItems ? { ...rest, items: prefixItems } : rest);
  return Object.fromEntries(all.map(([key, value]) => [key, spelled(value)]));
}

async function types() {
  const folder = join(made, "documents");
  await mkdir(folder, { recursive: true });
  for (const [file, name] of Object.entries(documents)) {
    const { title, $id, $schema, ...schema } = JSON.parse(await readFile(join(root, "mqs", "document", file), "utf8"));
    const text = await compile(spelled(schema), name, {
      bannerComment: `// ${title}. Made by build.mjs from mqs/document/${file}: not to be edited.`,
      additionalProperties: false,
      format: false,
    });
    await writeFile(join(folder, `${name.toLowerCase()}.d.ts`), text);
  }
}

async function bundle() {
  const folder = join(made, "package");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const common = { bundle: true, minify: true, target: "es2022", logLevel: "warning" };
  await build({
    ...common,
    entryPoints: [join(here, "src", "extension.ts")],
    outfile: join(folder, "dist", "extension.js"),
    platform: "node",
    target: "node18",
    format: "cjs",
    external: ["vscode"],
  });
  await build({
    ...common,
    entryPoints: [join(here, "src", "page", "page.ts"), join(here, "src", "page", "page.css"), join(here, "src", "page", "picture.ts"), join(here, "src", "page", "picture.css")],
    outdir: join(folder, "dist"),
    platform: "browser",
    format: "iife",
  });
  await cp(join(here, "media"), join(folder, "media"), { recursive: true });
  await cp(join(here, "README.md"), join(folder, "README.md"));
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  // What is packed needs none of the tools.
  const { devDependencies, overrides, ...manifest } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, files: ["**"] }, null, 2));
}

await { types, package: bundle }[process.argv[2]]();
