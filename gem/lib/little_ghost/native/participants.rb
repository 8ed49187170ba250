# frozen_string_literal: true

module LittleGhost
  module Native
    # What of an assembly's description is code, under the keys that the engine has for it: participants, conditions,
    # mappers, classes of failures. One table for each run.
    class Participants # :nodoc:
      # An assembly that takes part: its class, what is around it, and what it is built with besides.
      Participant = Data.define(:implementation, :around, :overrides) do
        def build(part)
          options = overrides.transform_values { |value| value.is_a?(Proc) ? value.call(part.run.owner) : value }
          options[:agent_path] = part.agent_path if implementation <= Agent
          implementation.new(run: part.run.owner, runtime: part.run.runtime, **part.run.premises, **options)
        end

        def release(entrypoint)
          entrypoint.close
        end

        def when_closable(entrypoint, &told) = entrypoint.when_closable(&told)
      end

      # An agent of the application's own, which answers again and again.
      Kept = Data.define(:agent, :around) do
        def build(_part)
          agent
        end

        def release(_agent)
        end

        def when_closable(_agent)
        end
      end

      # A subagent: what makes an agent for each of its turns.
      Delegate = Data.define(:maker, :around) do
        def build(part)
          maker.call(part)
        end

        def release(agent)
          agent.close
        end

        def when_closable(agent, &told) = agent.when_closable(&told)
      end
      private_constant :Participant, :Kept, :Delegate

      # Without a +run+, for a description that is only checked.
      def initialize(run = nil)
        @run = run
        @entries = []
        @lock = Mutex.new
      end

      # The key of an assembly that takes part. +overrides+ are further arguments for it; a Proc gets the Run.
      def participant(implementation, around, overrides = {})
        keep(Participant.new(implementation: implementation, around: around, overrides: overrides))
      end

      # The key of an agent object.
      def kept(agent, around)
        keep(Kept.new(agent: agent, around: around))
      end

      # The key of a kind of subagent; the block makes an agent for a Run::Part.
      def delegate(around, &maker)
        keep(Delegate.new(maker: maker, around: around))
      end

      # The key of a callable or of a list of classes; nil for nil.
      def code(value)
        value.nil? ? nil : keep(value)
      end

      def fetch(key)
        @lock.synchronize { @entries.fetch(key) }
      end

      # The prompt locals that +implementation+ has for its participants; +instance+ is the one that is at work, if there
      # is one.
      def locals(implementation, instance)
        return {} if instance.nil? && (@run.nil? || implementation.instance_method(:prompt_locals).owner == Assembly)

        (instance || implementation.new(run: @run.owner, runtime: @run.runtime)).prompt_locals
      end

      private

      def keep(value)
        @lock.synchronize do
          @entries << value
          @entries.length - 1
        end
      end
    end
  end
end
