// Writes lib: the types of what the service says of itself (docs/openapi.json), and what
// the compiler makes of src. The same source gives the same bytes.
//
//   scripts/build-typescript-sdk
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL, fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tools = createRequire(here("../../.tools/npm/package.json"));
const { default: openapi, astToString } = await import(pathToFileURL(tools.resolve("openapi-typescript").replace(/\.cjs$/, ".mjs")).href);
const ts = tools("typescript");

// widened takes out what would make a later service's answer a wrong type: one number or text
// where others can follow, and members of any name, which would hide misspelt ones.
function widened(schema) {
  if (Array.isArray(schema)) return schema.map(widened);
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(Object.entries(schema)
    .filter(([name, value]) => !(name === "const" && typeof value !== "boolean") && !(name === "additionalProperties" && value === true)
      && name !== "example" && name !== "examples")
    .map(([name, value]) => [name, widened(value)]));
}

function compile() {
  const { config } = ts.readConfigFile(here("tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, here("."));
  const program = ts.createProgram(fileNames, options);
  const found = ts.getPreEmitDiagnostics(program);
  if (found.length > 0) {
    process.stderr.write(ts.formatDiagnostics(found, { getCurrentDirectory: () => here("."), getCanonicalFileName: (name) => name, getNewLine: () => "\n" }));
    process.exit(1);
  }
  program.emit();
}

rmSync(here("lib"), { recursive: true, force: true });
mkdirSync(here("lib"));
const document = JSON.parse(readFileSync(here("../../docs/openapi.json"), "utf8"));
const types = await openapi({ openapi: document.openapi, info: document.info, paths: {}, components: { schemas: widened(document.components.schemas) } },
  { defaultNonNullable: false });
const [, schemas] = /^export interface components \{\n    schemas: (\{.*?\n    \});/ms.exec(astToString(types)) ?? [];
if (!schemas) throw new Error("the generator's form is another one than expected");
writeFileSync(here("lib/schema.d.ts"), `// Made from the service's OpenAPI document by build.mjs. Do not edit.\nexport interface Schemas ${schemas.replace(/components\["schemas"\]/g, "Schemas").replace(/^ {4}/gm, "")}\n`);
compile();
