# frozen_string_literal: true

module LittleGhost
  module Subagents
    # Coordinates subagents for an application that has no agent for it. Agents get one of their own from
    # Agent::Delegation::ClassMethods#subagent.
    #
    #   manager = LittleGhost::Subagents::Manager.new([definition])
    #   manager.spawn(kind: "research", task_name: "fees", task: "What does a transfer cost?", mode: "sync")
    #   # => {status: "finished", subagent_id: "/root/fees", kind: "research", turn: 1, response: "..."}
    #   manager.close
    #
    # Turns of different subagents work at the same time, those of one subagent in the order of its messages. Code of theirs
    # runs on threads, or on scheduled fibers where the manager is used in one first. With +parent_session+, kinds that
    # persist can be gone on with later, by another manager with the same session.
    class Manager
      autoload :ManagedTool, "little_ghost/subagents/manager/managed_tool"
      autoload :Service, "little_ghost/subagents/manager/service"

      # Some subagents did not stop in time.
      class CleanupError < LittleGhost::CleanupError; end

      LIMITS = Native.subagent_limits.freeze
      private_constant :LIMITS

      # Turns that work at the same time.
      DEFAULT_MAX_CONCURRENT = LIMITS.fetch("max_concurrent")
      # New subagents.
      DEFAULT_MAX_IDENTITIES = LIMITS.fetch("max_identities")
      # Turns of all subagents together.
      DEFAULT_MAX_TURNS = LIMITS.fetch("max_turns")
      # Messages that wait for one subagent, and interjections into one turn.
      DEFAULT_MAX_QUEUED_TURNS_PER_IDENTITY = LIMITS.fetch("max_queued_turns_per_identity")
      # Characters of a message.
      DEFAULT_MAX_MESSAGE_CHARS = LIMITS.fetch("max_message_chars")
      # Characters of a response.
      DEFAULT_MAX_RESPONSE_CHARS = LIMITS.fetch("max_response_chars")
      # Seconds that #wait watches.
      DEFAULT_WAIT_TIMEOUT = LIMITS.fetch("wait_timeout")
      # Seconds that subagents have to stop.
      DEFAULT_CLOSE_TIMEOUT = LIMITS.fetch("close_timeout")
      # Entries of a page of #list.
      DEFAULT_LIST_LIMIT = 20

      class << self
        # The session that holds a committed state of a conversation; +slot+ is 0 or 1.
        def commit_session_id(conversation_id, slot)
          raise ArgumentError, "slot must be 0 or 1, got #{slot.inspect}" unless [0, 1].include?(slot)

          Native.commit_session_id(conversation_id.to_s, slot)
        end

        # The session that holds the transcript of a conversation.
        def conversation_session_id(conversation_id)
          Native.conversation_session_id(conversation_id.to_s)
        end

        # The pseudonym of +session+ in the metadata of what its subagents keep.
        def parent_link(session)
          Native.parent_link(session.id.to_s, session.actor_id&.to_s)
        end

        # The session that says which conversations belong to +session+.
        def registry_session_id(session)
          Native.registry_session_id(session.id.to_s, session.actor_id&.to_s)
        end
      end

      # The Definition of each kind; a frozen Hash.
      attr_reader :definitions

      # +definitions+ is an Array of Definition. Times are in seconds, +deadline+ is a Time. +observer+ is called with each
      # event, a Hash with Symbol keys; what it raises is ignored. Raises ArgumentError for what makes no sense.
      def initialize(definitions, runtime: nil, max_concurrent: DEFAULT_MAX_CONCURRENT, max_identities: DEFAULT_MAX_IDENTITIES,
        max_turns: DEFAULT_MAX_TURNS, max_queued_turns_per_identity: DEFAULT_MAX_QUEUED_TURNS_PER_IDENTITY,
        max_message_chars: DEFAULT_MAX_MESSAGE_CHARS, max_response_chars: DEFAULT_MAX_RESPONSE_CHARS,
        wait_timeout: DEFAULT_WAIT_TIMEOUT, close_timeout: DEFAULT_CLOSE_TIMEOUT,
        cancellation_token: Support::CancellationToken.new, deadline: nil, observer: nil, parent_session: nil,
        parent_agent_path: AgentPath::ROOT)
        @definitions = indexed(definitions)
        @cancellation_token = cancellation_token
        @deadline = deadline
        limits = {
          "max_concurrent" => max_concurrent, "max_identities" => max_identities, "max_turns" => max_turns,
          "max_queued_turns_per_identity" => max_queued_turns_per_identity, "max_message_chars" => max_message_chars,
          "max_response_chars" => max_response_chars, "wait_timeout" => wait_timeout, "close_timeout" => close_timeout
        }
        Native.check_subagent_limits(limits)
        @service = Service.new(
          @definitions.values, runtime: runtime || LittleGhost.runtime, limits: limits, cancellation_token: cancellation_token,
          deadline: deadline, observer: observer, parent_session: parent_session, path: AgentPath.validate!(parent_agent_path)
        )
      end

      # Creates a subagent called +task_name+ and gives it its first task. +mode+ is <tt>"sync"</tt>, which waits for the
      # answer, or <tt>"async"</tt>. Returns a Hash with +:status+; what a model may do wrong raises ToolError.
      def spawn(kind:, task_name:, task:, mode:, parent_operation_id: nil, context: nil)
        input = {"kind" => kind.to_s, "task_name" => task_name.to_s, "task" => task, "mode" => mode.to_s}
        operate("spawn_subagent", input, parent_operation_id || context&.agent_operation_id)
      end

      # Sends a message, which a subagent reads after all that it has to do already.
      def send_message(subagent_id:, message:, mode:, parent_operation_id: nil, context: nil)
        input = {"subagent_id" => subagent_id.to_s, "message" => message, "mode" => mode.to_s}
        operate("send_message_to_subagent", input, parent_operation_id || context&.agent_operation_id)
      end

      # Says something to a subagent at work and waits for its next response. Raises CancelledError or DeadlineExceededError
      # when the caller stops waiting.
      def interject(subagent_id:, message:, cancellation_token: @cancellation_token, deadline: @deadline)
        operate("interject_subagent", {"subagent_id" => subagent_id.to_s, "message" => message}, nil, cancellation_token, deadline)
      end

      # Waits until the subagents +subagent_ids+, or all, are done; at most +wait_timeout+ seconds.
      def wait(subagent_ids: nil)
        operate("wait_for_subagents", {"subagent_ids" => subagent_ids&.map(&:to_s)}.compact)
      end

      # One page of the subagents, those first that changed last, those of earlier managers of the session too.
      def list(kind: nil, limit: DEFAULT_LIST_LIMIT, cursor: nil)
        operate("list_subagents", {"kind" => kind&.to_s, "limit" => limit, "cursor" => cursor}.compact)
      end

      # The five tools for an agent's model, an Array of Tool. Closing the first one closes the manager.
      def tools
        kinds = definitions.values.map { |definition| {"kind" => definition.kind, "description" => definition.description} }
        Native.subagent_tools(kinds).each_with_index.map { |specification, index| ManagedTool.build(self, specification, owner: index.zero?) }
      end

      # Stops all subagents. Raises CleanupError when some do not stop in time; a later call tries again.
      def close
        @service.close
        nil
      rescue LittleGhost::CleanupError => error
        raise CleanupError, error.message
      end

      # As the tool called +name+; a Hash with Symbol keys.
      def operate(name, input, operation_id = nil, token = nil, deadline = nil) # :nodoc:
        text = input["task"] || input["message"]
        unless text.nil? || text.is_a?(String)
          return {status: "invalid_request", message: "a task or message must be a String, got #{text.class}"}
        end

        symbolized(@service.operate(name, input, operation_id, token, deadline))
      end

      # Names the manager without its collaborators.
      def inspect
        "#<#{self.class} #{definitions.keys.join(", ")}>"
      end

      private

      def symbolized(value)
        case value
        when Hash then value.to_h { |key, nested| [key.to_sym, symbolized(nested)] }
        when Array then value.map { |nested| symbolized(nested) }
        else value
        end
      end

      def indexed(definitions)
        list = definitions.is_a?(Hash) ? definitions.values : Array(definitions)
        raise ArgumentError, "a manager needs a Definition" if list.empty?

        list.each_with_object({}) do |definition, index|
          raise ArgumentError, "expected a Definition, got #{definition.class}" unless definition.is_a?(Definition)
          raise ArgumentError, "there are two kinds of subagents called #{definition.kind.inspect}" if index.key?(definition.kind)

          index[definition.kind] = definition
        end.freeze
      end
    end
  end
end
