// A program of code mode in JavaScript that tries to get out: by what a host might have left within reach, by
// constructors, and by the tools that it was not given.

const held = (what) => text(`held: ${what}`);
const escaped = (what) => text(`ESCAPED: ${what}`);
const fails = async (what, action) => {
  try {
    const found = await action();
    escaped(`${what}: ${String(found)}`);
  } catch (problem) {
    held(`${what}: ${problem.message}`);
  }
};

const known = ["process", "require", "module", "Deno", "Bun", "std", "os", "fetch", "XMLHttpRequest", "WebSocket",
  "console", "print", "load", "loadScript", "scriptArgs", "Worker", "SharedArrayBuffer", "ArrayBuffer", "Uint8Array",
  "Atomics", "WebAssembly", "setTimeout", "gc", "FRAME"];
const worlds = [globalThis, this, Function("return this")(), (0, eval)("this"),
  Object.getPrototypeOf(async () => {}).constructor("return this")];
for (const world of await Promise.all(worlds.map((world) => (typeof world === "function" ? world() : world)))) {
  const found = known.filter((name) => world !== undefined && typeof world[name] !== "undefined");
  (found.length === 0 ? held : escaped)(`globals: ${found}`);
}
for (const name of ["os", "std", "fs", "qjs:os", "node:fs", "/etc/passwd", "./program.js"]) {
  await fails(`the module ${name}`, () => import(name));
}
for (const name of ["exec", "wait", "stop", "missing", "__proto__", "constructor"]) {
  await fails(`the tool ${name}`, () => tools[name]({}));
}
await fails("changing the catalog", () => {
  "use strict";
  ALL_TOOLS.push({ name: "missing" });
  return tools.missing({});
});
await fails("a tool by a prototype", () => {
  Object.prototype.missing = () => "reached";
  return tools.missing({});
});
delete Object.prototype.missing;
const echo = await tools.echo({ at: 1 });
(echo.at === 1 ? held : escaped)("what it was given still works");
