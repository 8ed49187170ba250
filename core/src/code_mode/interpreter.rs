//! Interpreters of the machine: where they are, and what a sandbox has to show of the machine for them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};
use crate::executor;

/// An interpreter of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interpreter {
    pub(super) executable: PathBuf,
    /// The folders that it was installed into, apart from those that every program needs.
    pub(super) folders: Vec<PathBuf>,
}

/// How to find an interpreter.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// For errors.
    pub(super) language: &'static str,
    /// Names on the search path, the best first.
    pub(super) names: &'static [&'static str],
    /// What to ask one, so that it prints its executable and then its folders, one a line.
    pub(super) question: &'static [&'static str],
    /// The one to use, if the application knows.
    pub(super) chosen: Option<PathBuf>,
}

static FOUND: LazyLock<Mutex<HashMap<PathBuf, Interpreter>>> = LazyLock::new(Mutex::default);

/// Where systems keep what every program needs; sandboxes show it anyway.
const SHOWN: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64"];

impl Search {
    /// The interpreter. Each is asked once in a process.
    ///
    /// # Errors
    /// [`ErrorKind::Dependency`] when there is none that works.
    pub(super) async fn find(&self) -> Result<Interpreter> {
        let place = match &self.chosen {
            Some(place) => place.clone(),
            None => self.on_path()?,
        };
        if let Some(found) = FOUND.lock().get(&place) {
            return Ok(found.clone());
        }
        let (search, asked) = (self.clone(), place.clone());
        let found = executor::blocking(move || search.ask(&asked)).await?;
        FOUND.lock().insert(place, found.clone());
        Ok(found)
    }

    fn on_path(&self) -> Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let candidates = std::env::split_paths(&path)
            .flat_map(|folder| self.names.iter().map(move |name| folder.join(name)));
        let mut found = candidates.filter(|place| place.is_absolute() && place.is_file());
        found
            .next()
            .ok_or_else(|| self.missing("it is not on PATH"))
    }

    fn ask(&self, place: &Path) -> Result<Interpreter> {
        let asked = Command::new(place)
            .args(self.question)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|problem| {
                self.missing(&format!("{} cannot be run: {problem}", place.display()))
            })?;
        let said = String::from_utf8_lossy(&asked.stdout);
        let mut lines = said.lines().map(PathBuf::from);
        let executable = lines
            .next()
            .filter(|executable| asked.status.success() && executable.is_absolute())
            .ok_or_else(|| self.missing(&format!("{} does not work", place.display())))?;
        let executable = executable.canonicalize().unwrap_or(executable);
        let mut folders: Vec<PathBuf> = Vec::new();
        let around = executable.parent().map(Path::to_path_buf);
        for folder in lines.chain(around) {
            let folder = folder.canonicalize().unwrap_or(folder);
            let is_shown = SHOWN.iter().any(|shown| folder.starts_with(shown))
                || folders.iter().any(|known| folder.starts_with(known));
            // Never the whole machine.
            if folder.is_absolute() && folder.parent().is_some() && folder.is_dir() && !is_shown {
                folders.push(folder);
            }
        }
        Ok(Interpreter {
            executable,
            folders,
        })
    }

    fn missing(&self, problem: &str) -> Error {
        Error::new(
            ErrorKind::Dependency,
            format!(
                "code mode needs {} to run programs, and {problem}; install it or choose another engine",
                self.language
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_interpreter_that_is_not_there_is_a_missing_dependency() {
        let search = |chosen: &str| Search {
            language: "Ruby",
            names: &["little-ghost-has-no-such-program"],
            question: &["-e", "1"],
            chosen: (!chosen.is_empty()).then(|| chosen.into()),
        };
        for chosen in ["", "/nowhere/ruby", "/bin/false", "/bin/true"] {
            let error = search(chosen).find().await.unwrap_err();
            assert!(error.is(ErrorKind::Dependency), "{chosen}: {error}");
            assert!(error.message().contains("Ruby"));
        }
    }
}
