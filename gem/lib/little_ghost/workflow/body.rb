# frozen_string_literal: true

module LittleGhost
  class Workflow < Assembly
    # What +perform+ has to work with.
    module Body # :nodoc:
      # Runs the body and returns the ticket of its final invocation. +work+ is how it reaches the engine, +request+
      # what it answers.
      def run_body(work, request) # :nodoc:
        raise Error, "this workflow is at work already; build another one" if @work

        @work = work
        @request = request
        last = self.class.body ? self.class.body.call(self) : perform
        return last.take if last.is_a?(Invocation) && last.of?(work)

        got = last.is_a?(Invocation) ? "one of another run" : last.class
        raise ProtocolError, "perform must return its final invocation, got #{got}; do not read its output"
      end

      private

      def perform
        raise AbstractMethodError, "#{self.class} must define perform"
      end

      # The request, a Message.
      def input
        request.invocation.message
      end

      # The Messages before it.
      def history
        request && @work.history
      end

      # What the application knows about the request, a DataMap.
      def context
        request.shared_state
      end

      def invoke(reference, as: nil, input: nil, history: nil, context: nil, **policy)
        request
        target = Assembly::Reference.find(reference, runtime.loader)
        table = @work.table
        around = @request.around.for_call(prompt_locals)
        call = {
          "participant" => target.describe(table, around), "name" => as&.to_s,
          "message" => input.nil? ? nil : Native::ModelValues.input(input),
          "history" => history && Native::ModelValues.messages(history),
          "context" => DataMap.new(context || self.context).to_h, "policy" => Assembly::Policy.new(**policy).describe(table)
        }
        Invocation.new(@work, @work.invoke(call.compact), around.company)
      end

      def parallel(*invocations, max_concurrency: 8)
        invocations = invocations.flatten
        unless max_concurrency.is_a?(Integer) && max_concurrency.positive?
          raise ArgumentError, "max_concurrency must be an Integer of at least 1, got #{max_concurrency.inspect}"
        end
        unless invocations.any? && invocations.all? { |invocation| invocation.is_a?(Invocation) && invocation.open? }
          raise ArgumentError, "parallel takes one or more invocations whose output was not read"
        end
        raise ArgumentError, "parallel takes each invocation once" if invocations.uniq(&:object_id).length < invocations.length

        invocations.each { |invocation| invocation.company.crowd } if invocations.length > 1 && max_concurrency > 1
        outputs = @work.settle(invocations.map(&:take), max_concurrency)
        invocations.zip(outputs).map { |invocation, output| invocation.settled(output) }
      end

      def request
        @request || raise(Error, "this workflow is not at work; invoke participants within its perform")
      end
    end
  end
end
