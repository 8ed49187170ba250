// What a program finds: tools, ALL_TOOLS, text, exit. `send` writes a frame and `leave` ends the process. Everything
// that a program could replace is kept here before it begins.
(function (request, send, leave) {
  "use strict";
  const { parse, stringify: JSON_stringify } = JSON;
  const { entries, fromEntries } = Object;
  const { freeze } = Object;
  const { isArray } = Array;
  const NativeError = Error, NativeTypeError = TypeError, NativePromise = Promise;
  const resolved = Promise.resolve.bind(Promise);
  const asText = String;
  const wellFormed = Function.prototype.call.bind(String.prototype.toWellFormed);
  const includes = Function.prototype.call.bind(String.prototype.includes);

  // Halves of characters are no JSON for others. They are rare, so the text is looked at before the value.
  const whole = (_, value) => {
    if (typeof value === "string") return wellFormed(value);
    if (typeof value !== "object" || value === null || isArray(value)) return value;
    return fromEntries(entries(value).map(([key, inner]) => [wellFormed(key), inner]));
  };
  function stringify(value) {
    const json = JSON_stringify(value);
    return json !== undefined && includes(json, "\\ud") ? JSON_stringify(value, whole) : json;
  }
  const { source, catalog } = parse(request);

  const known = new Map();
  for (const { name, canonical_name } of catalog) {
    known.set(canonical_name, canonical_name);
  }
  for (const { name, canonical_name } of catalog) {
    known.set(name, canonical_name);
  }
  const lookUp = known.get.bind(known);

  const waiting = new Map();
  const remember = waiting.set.bind(waiting);
  const recall = waiting.get.bind(waiting);
  const forget = waiting.delete.bind(waiting);
  let calls = 0, outstanding = 0;

  function call(name, input) {
    return new NativePromise((resolve, reject) => {
      const canonical = lookUp(name);
      if (canonical === undefined) {
        throw new NativeError(`Unknown tool ${stringify(asText(name))}`);
      }
      if (input === undefined) input = {};
      if (typeof input !== "object" || input === null || isArray(input)) {
        throw new NativeTypeError(`tools.${name} takes one object with its arguments`);
      }
      const id = asText(++calls);
      const frame = stringify({ type: "call", id, name: canonical, arguments: input });
      remember(id, { resolve, reject });
      outstanding++;
      send(frame);
    });
  }

  function settle(frame) {
    const { id, value, error } = parse(frame);
    const promise = recall(id);
    if (promise === undefined) return;
    forget(id);
    outstanding--;
    if (error === undefined || error === null) {
      promise.resolve(native(value));
    } else {
      promise.reject(new NativeError(error));
    }
  }

  // A tool that answers JSON in a text means the object.
  function native(value) {
    if (typeof value === "string" && /^\s*[[{]/.test(value)) {
      try { return parse(value); } catch { return value; }
    }
    return value === undefined ? null : value;
  }

  function encoded(value) {
    if (value === undefined) return undefined;
    try {
      const json = stringify(value);
      return json === undefined ? asText(value) : parse(json);
    } catch {
      return asText(value);
    }
  }

  function end(value) {
    send(stringify({ type: "done", value: encoded(value) }));
  }

  const functions = new Map();
  const tools = new Proxy(freeze({}), {
    get(_, name) {
      if (typeof name === "symbol" || (name === "then" && lookUp(name) === undefined)) return undefined;
      if (!functions.has(name)) functions.set(name, (input) => call(name, input));
      return functions.get(name);
    },
    has: (_, name) => lookUp(name) !== undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });

  function show(value) {
    let shown = value;
    if (typeof value === "object" && value !== null) {
      const json = encoded(value);
      shown = typeof json === "string" ? json : stringify(json);
    }
    send(stringify({ type: "text", value: asText(shown) }));
  }

  const globals = {
    tools,
    ALL_TOOLS: freeze(catalog.map(({ name, description }) => freeze({ name, description }))),
    text: show,
    exit(value) { end(value); leave(); },
  };
  for (const name in globals) {
    Object.defineProperty(globalThis, name, { value: globals[name] });
  }

  return {
    source,
    settle,
    outstanding: () => outstanding,
    // The completion of the program may itself be a promise.
    value: (completion) => resolved(completion),
    end,
    describe(error) {
      if (typeof error !== "object" || error === null) return asText(error);
      const said = asText(error);
      // Of the stack only what the program wrote itself.
      const stack = typeof error.stack === "string" ? error.stack.split("\n") : [];
      return [said, ...stack.filter((line) => line.includes("program.js:"))].join("\n");
    },
  };
})
