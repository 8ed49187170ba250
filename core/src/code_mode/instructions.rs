//! What a model is told about writing programs.

use super::{Catalog, declarations};

const COMMON: &str = "\
Use the exec tool to run a program that calls the tools below. One program can make several calls, filter what they \
return and combine it, so prefer one program over many small ones. Each exec starts a fresh process: variables and files \
of an earlier program are gone. If exec answers still_working, the program goes on: call wait to watch it for up to \
another minute, or stop when its result is no longer needed. After completed, error or terminated there is nothing to \
wait for.";

pub(super) fn ruby(catalog: &Catalog) -> String {
    let tools = catalog.definitions().iter().map(declarations::ruby);
    assemble(
        "Ruby",
        "\
- tools.name(key: value) calls a tool and returns its result as ordinary Ruby values. A failed call raises RuntimeError.
- tools.call(name, arguments) calls a tool whose name is computed; arguments is a Hash.
- tools.parallel(-> { tools.a(...) }, -> { tools.b(...) }) makes independent calls at the same time and returns their \
results in order.
- ALL_TOOLS is the catalog of tools, with name, description and input_schema each.
- text(value) adds to the output that you are shown. puts and print do so too.
- The last expression of the program is its value. finish(value) ends the program early.
- Only Ruby's standard library is there. There is no network, and files are gone when the program ends.",
        "ruby",
        tools.collect::<Vec<_>>().join("\n\n"),
    )
}

pub(super) fn python(catalog: &Catalog) -> String {
    let tools = catalog.definitions().iter().map(declarations::python);
    assemble(
        "Python",
        "\
- tools.name(key=value) calls a tool and returns its result as ordinary Python values; there is nothing to await. A failed \
call raises RuntimeError.
- tools.call(name, arguments) calls a tool whose name is computed; arguments is a dict.
- tools.parallel(lambda: tools.a(...), lambda: tools.b(...)) makes independent calls at the same time and returns their \
results in order.
- ALL_TOOLS is the catalog of tools, with name, description and input_schema each.
- text(value) adds to the output that you are shown. print does so too.
- If the program ends with an expression, that is its value. finish(value) ends the program early.
- Only Python's standard library is there. There is no network, and files are gone when the program ends.",
        "python",
        tools.collect::<Vec<_>>().join("\n\n"),
    )
}

#[cfg_attr(
    not(feature = "code-mode"),
    allow(dead_code, reason = "for JavaScript only")
)]
pub(super) fn javascript(catalog: &Catalog) -> String {
    assemble(
        "JavaScript",
        "\
- Each method of tools takes one object and returns a Promise: use await, which works at the top level. A failed call \
rejects. Promise.all makes independent calls at the same time.
- ALL_TOOLS is an array of {name, description}; tools[name](input) calls a tool whose name is computed.
- text(value) adds to the output that you are shown.
- The last expression of the program is its value, and so is what it returns. exit() ends the program early; call \
text(value) before it to show something.
- There is no Node.js: no require, process, console, fetch, timers, files or network.",
        "typescript",
        declarations::typescript(catalog.definitions()),
    )
}

fn assemble(language: &str, rules: &str, mark: &str, tools: String) -> String {
    let tools = if tools.is_empty() {
        "There are no tools to call.".to_owned()
    } else {
        format!("The tools:\n\n```{mark}\n{tools}\n```")
    };
    format!("You can write {language} programs. {COMMON}\n\nIn a program:\n{rules}\n\n{tools}")
}
