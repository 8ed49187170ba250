"""Serves the local model on loopback: Chat Completions, Responses and Messages on one port.

Usage: serve.py MODEL.gguf PORT     (port 0 takes a free one)

Prints `listening http://127.0.0.1:PORT` when the model answers. Ends on SIGTERM
or SIGINT, and when its standard input closes: whoever started it holds that
pipe, so the server never outlives its test, however the test died.
"""

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import xllamacpp


def free_port() -> int:
    """Returns a port nobody listens on now; the server binds it a moment later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def parameters(model: str, port: int) -> xllamacpp.CommonParams:
    """Settings for a small machine: no GPU, two requests at once, nothing fetched."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"] if isinstance(params.hostnames, list) else params.hostnames
    params.port = port
    params.model_alias = {"qwen2.5-coder-0.5b-instruct"}
    params.n_ctx = 8192
    params.n_parallel = 2
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = min(os.cpu_count() or 2, 8)
    params.offline = True
    params.verbosity = 1
    params.use_jinja = True
    params.chat_template = Path(__file__).with_name("chat-template.jinja").read_text("utf-8")
    return params


def main() -> None:
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    model, port = sys.argv[1], int(sys.argv[2])
    if not Path(model).is_file():
        sys.exit(f"error: there is no model at {model}")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        ended.set()

    threading.Thread(target=watch_stdin, daemon=True).start()
    server = xllamacpp.Server(parameters(model, port or free_port()))
    print("listening", server.listening_address, flush=True)
    ended.wait()
    # Requests may still be running; nobody waits for their answers any more.
    os._exit(0)


if __name__ == "__main__":
    main()
