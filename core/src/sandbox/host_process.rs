//! Programs that run on the host under no more than a wrapper.

use std::path::PathBuf;
use std::sync::Arc;

use super::data;
use super::limits::Limits;
use super::policy::Policy;
use super::process::{ProcessOptions, ProcessSession};
use super::process_trait::Process;
use super::program::Program;
use crate::error::{Error, ErrorKind, Result};
use crate::workspace::Workspace;

/// Starts `program` in `workspace`. The command is taken as it is; `policy` says what its environment is.
pub(super) async fn start(
    workspace: &Arc<Workspace>,
    policy: &Policy,
    limits: &Limits,
    mut program: Program,
) -> Result<Box<dyn Process>> {
    program.check()?;
    workspace.validate()?;
    let placed = data::place(&mut program)?;
    let mut options = ProcessOptions::new(std::mem::take(&mut program.command));
    options.environment = policy.environment.for_program(workspace, &program);
    options.inherit_environment = policy.environment.inherited_by(&program);
    options.chdir = Some(directory(workspace, &program)?);
    options.output_bytes = program.output_bytes.unwrap_or(limits.output_bytes);
    options.memory_bytes = program.memory_bytes;
    options.cpu_seconds = program.cpu_seconds;
    options.file_bytes = program.file_bytes;
    options.tasks = program.tasks;
    options.inherited = placed.descriptors;
    let session = ProcessSession::start(options).await?;
    Ok(data::keep(Box::new(session), placed.folder))
}

/// Where the program starts.
pub(super) fn directory(workspace: &Workspace, program: &Program) -> Result<PathBuf> {
    match &program.cwd {
        None => Ok(workspace.root().to_owned()),
        Some(cwd) => workspace.resolve(cwd).map_err(|problem| {
            let problem = problem.message().to_owned();
            Error::new(
                ErrorKind::Policy,
                format!("the directory to start in: {problem}"),
            )
        }),
    }
}
