# frozen_string_literal: true

module LittleGhost
  # Agents that work for another agent and go on with their conversations. Declare them with
  # Agent::Delegation::ClassMethods#subagent; a Manager serves an application that has no agent for it.
  module Subagents
    autoload :AgentPath, "little_ghost/subagents/agent_path"
    autoload :Activity, "little_ghost/subagents/activity"
    autoload :Definition, "little_ghost/subagents/definition"
    autoload :Manager, "little_ghost/subagents/manager"
  end
end
