# Runs one program. The first frame on standard input holds it; calls, texts and the end go out on standard output.
import ast
import builtins
import io
import json
import os
import re
import struct
import sys
import threading

MOST_BYTES = 64 * 1024 * 1024
received = os.fdopen(os.dup(0), "rb")
sent = os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
# What a child process of the program prints is output as well.
os.dup2(2, 1)


def read():
    header = received.read(4)
    if len(header) < 4:
        return None
    (length,) = struct.unpack(">I", header)
    if length > MOST_BYTES:
        os._exit(3)
    payload = received.read(length)
    return json.loads(payload) if len(payload) == length else None


writing = threading.Lock()


def encoded(frame):
    return json.dumps(frame, allow_nan=False, default=str, ensure_ascii=False).encode(
        "utf-8", "replace"
    )


def exact(value):
    """The value with whole numbers of more than 64 bits as text: as JSON numbers they would be rounded."""
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, dict):
        return {key: exact(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(part) for part in value]
    return value


def write(frame):
    payload = encoded(frame)
    if re.search(rb"\d{19}", payload):
        payload = encoded(exact(frame))
    if len(payload) > MOST_BYTES:
        raise ValueError(f"a value of {len(payload)} bytes is too large")
    try:
        with writing:
            sent.write(struct.pack(">I", len(payload)) + payload)
            sent.flush()
    except OSError:
        os._exit(3)


class Calls:
    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.waiting = {}

    def call(self, name, arguments):
        done = threading.Event()
        answer = {}
        with self.lock:
            if self.count == 0:
                threading.Thread(target=self.deliver, daemon=True).start()
            self.count += 1
            key = str(self.count)
            self.waiting[key] = (done, answer)
        write({"type": "call", "id": key, "name": name, "arguments": arguments})
        done.wait()
        if answer.get("error") is not None:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def deliver(self):
        while (frame := read()) is not None:
            with self.lock:
                found = self.waiting.pop(frame.get("id"), None)
            if found:
                found[1].update(frame)
                found[0].set()
        os._exit(3)


calls = Calls()


def finish(value=None):
    """Ends the program with this value."""
    write({"type": "done", "value": value})
    os._exit(0)


def text(value):
    """Adds to the output."""
    write({"type": "text", "value": str(value)})


class Printer(io.TextIOBase):
    encoding = "utf-8"
    errors = "replace"

    def writable(self):
        return True

    def write(self, value):
        if value:
            text(value)
        return len(value)


class Tools:
    def __init__(self, catalog, concurrency):
        names = {tool["name"]: tool["canonical_name"] for tool in catalog}
        canonical = {tool["canonical_name"]: tool["canonical_name"] for tool in catalog}
        self.__dict__.update(_names=names, _known={**canonical, **names}, _concurrency=concurrency)

    def __getattr__(self, name):
        if name not in self._names:
            raise AttributeError(f"there is no tool {name!r}; there are {', '.join(self._names)}")
        canonical = self._names[name]

        def tool(arguments=None, /, **keywords):
            if not isinstance(arguments, (dict, type(None))):
                raise TypeError(f"tools.{name} takes keywords or one dict with its arguments")
            return calls.call(canonical, {**(arguments or {}), **keywords})

        tool.__name__ = name
        return tool

    def __setattr__(self, name, value):
        raise AttributeError("tools cannot be changed")

    def __dir__(self):
        return [*self._names, "call", "parallel"]

    def call(self, name, arguments=None):
        plain = str(name).removeprefix("tools.")
        return calls.call(self._known.get(plain, plain), {} if arguments is None else arguments)

    def parallel(self, *callables):
        todo = (
            list(callables[0])
            if len(callables) == 1 and not callable(callables[0])
            else list(callables)
        )
        outcomes = [None] * len(todo)

        def work(position):
            try:
                outcomes[position] = (todo[position](), None)
            except BaseException as error:
                outcomes[position] = (None, error)

        for start in range(0, len(todo), self._concurrency):
            batch = range(start, min(start + self._concurrency, len(todo)))
            threads = [
                threading.Thread(target=work, args=(position,), daemon=True) for position in batch
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for position in batch:
                if outcomes[position][1] is not None:
                    raise outcomes[position][1]
        return [value for value, _ in outcomes]


def compiled(source):
    """The statements of the program, and its last expression if it ends with one."""
    tree = ast.parse(source, "(code-mode)")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    return compile(tree, "(code-mode)", "exec"), last and compile(last, "(code-mode)", "eval")


def described(error):
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "(code-mode)":
            line = trace.tb_lineno
        trace = trace.tb_next
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    place = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {said}{place}"


def main():
    request = read()
    if request is None:
        os._exit(3)
    scope = {
        "__name__": "__main__",
        "__builtins__": builtins,
        "tools": Tools(request["catalog"], request["concurrency"]),
        "ALL_TOOLS": [tool["specification"] for tool in request["catalog"]],
        "text": text,
        "finish": finish,
        "exit": sys.exit,
    }
    if request.get("frame") is not None:
        scope["FRAME"] = request["frame"]
    sys.stdout = sys.stderr = Printer()
    try:
        statements, last = compiled(request["source"])
        exec(statements, scope)
        finish(eval(last, scope) if last else None)
    except SystemExit as exit:
        if exit.code in (None, 0):
            finish()
        write({"type": "error", "error": f"SystemExit: {exit.code}"})
    except BaseException as error:
        write({"type": "error", "error": described(error)})
    os._exit(1)


main()
