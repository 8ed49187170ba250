//! The extension module `little_ghost._native`.
//!
//! Private: everything that users see is Python. Each exported function goes through
//! [`guard::guard`], so a panic becomes a `little_ghost.Error`. No object of Python lives in
//! Rust, except the event class and interned strings.

mod classes;
mod code_mode;
mod error;
mod event;
mod functions;
mod guard;
mod subagents;
mod support;
mod value;

use pyo3::prelude::*;

/// The engine behind `little_ghost`.
#[pymodule(gil_used = true)]
mod _native {
    use super::{classes, code_mode, functions, subagents, support};

    #[pymodule_export]
    use classes::{
        AwsCredentialChain, CancellationToken, Cassette, Catalog, CommandWrapper, ContentCapture,
        Faults, GoogleTokenChain, Job, NetworkAuthorizer, NetworkGateway, Outcome, Process,
        ProgramSession, PromptResolver, Questions, Redactor, Run, Runtime, Sandbox, ScriptedModel,
        SessionStore, StoreCall, Ticket, ToolDefinition, Workspace,
    };

    #[pymodule_export]
    use functions::{
        after_fork_in_child, cancel_all, check_agent, check_assembly, check_attachments,
        check_nesting, error_kinds, network_decision, network_request, persistable_messages,
        plan_write, provoke_panic, tool_failure_text, tool_input_error_text, tool_value_text,
    };

    #[pymodule_export]
    use subagents::{
        check_agent_path, check_subagent_limits, check_task_name, commit_session_id,
        conversation_session_id, is_immediate_child, join_agent_path, parent_link,
        registry_session_id, subagent_tools,
    };

    #[pymodule_export]
    use code_mode::{
        code_mode_catalog, code_mode_check, code_mode_dump, code_mode_extract,
        code_mode_instructions, code_mode_limits,
    };

    #[pymodule_export]
    const MAX_FRAME_BYTES: usize = little_ghost::code_mode::protocol::MAX_FRAME_BYTES;

    #[pymodule_export]
    use support::{
        approx_bytes_for_tokens, approx_tokens_from_byte_count, is_sensitive_key,
        read_configuration_files, truncate_middle,
    };

    #[pymodule_export]
    const EVENT: u8 = classes::EVENT;
    #[pymodule_export]
    const CALL: u8 = classes::CALL;
    #[pymodule_export]
    const CANCELLED: u8 = classes::CANCELLED;
    #[pymodule_export]
    const PART_OVER: u8 = classes::PART_OVER;
    #[pymodule_export]
    const DONE: u8 = classes::DONE;
    #[pymodule_export]
    const NOTICE: u8 = classes::NOTICE;
    #[pymodule_export]
    const INSTRUMENT: u8 = classes::INSTRUMENT;
}
