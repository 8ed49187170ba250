# frozen_string_literal: true

module LittleGhost
  class Workflow < Assembly
    # One call of a participant that is prepared, but made only when its output is read, or when +perform+ returns it.
    class Invocation
      # Who else may be at work meanwhile.
      attr_reader :company # :nodoc:

      def initialize(work, ticket, company) # :nodoc:
        @work = work
        @company = company
        @ticket = ticket
        @taken = @settled = false
        @output = @failure = nil
      end

      # The answer: the structured value of an agent that has one, else the text. The first time makes the call and
      # waits; raises what kept the participant from an answer.
      def output
        settled(@work.settle([take], 1).first) unless @settled || @failure
        raise @failure if @failure

        @output
      rescue StandardError => error
        @failure = error
        raise
      end

      # Whether nobody has made the call.
      def open? # :nodoc:
        !@taken
      end

      # Whether it belongs to the body that +work+ is for.
      def of?(work) # :nodoc:
        @work.equal?(work)
      end

      # The engine's name for the call, for the one who makes it.
      def take # :nodoc:
        raise ProtocolError, "this invocation was consumed already; call invoke again" if @taken

        @taken = true
        @ticket
      end

      # Notes what came of the call.
      def settled(output) # :nodoc:
        @settled = true
        @output = output.is_a?(Hash) ? DataMap.new(output) : output
      end

      # Names the state.
      def inspect
        "#<#{self.class} #{open? ? "open" : "consumed"}>"
      end
    end
  end
end
