# frozen_string_literal: true

module LittleGhost
  module Subagents
    # The places of agents in the tree of those that delegate, from <tt>/root</tt> downwards.
    #
    #   LittleGhost::Subagents::AgentPath.join("/root", "review_api") # => "/root/review_api"
    class AgentPath
      # The agent that answers a run.
      ROOT = "/root"

      class << self
        # Returns +path+. Raises ArgumentError for anything but a usable absolute path.
        def validate!(path)
          Native.check_agent_path(text(path))
          path
        end

        # Returns +name+. Raises ArgumentError for anything but 1 to 40 lower-case letters, digits and underscores.
        def validate_name!(name)
          Native.check_task_name(text(name))
          name
        end

        # The path of +name+ below +parent+. Raises ArgumentError when either is not usable.
        def join(parent, name)
          Native.join_agent_path(text(parent), text(name))
        end

        # Whether +path+ is exactly one level below +parent+.
        def immediate_child?(path, parent)
          path.is_a?(String) && parent.is_a?(String) && Native.immediate_child?(path, parent)
        end

        private

        def text(value)
          return value if value.is_a?(String)

          raise ArgumentError, "agent paths and task names are Strings, got #{value.inspect}"
        end
      end
    end
  end
end
