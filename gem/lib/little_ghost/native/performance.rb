# frozen_string_literal: true

module LittleGhost
  module Native
    # The body of a workflow at work. Whoever waits inside of it goes on driving the run, unless it runs beside the
    # one who does.
    class Performance # :nodoc:
      # Where the code of what takes part is kept, a Participants.
      attr_reader :table

      # +drive+ drives the run on until its block is true; without it the body runs beside the driver.
      def initialize(handle, payload, exceptions, table, drive)
        @handle = handle
        @table = table
        @scope = payload["scope"] || 0
        @told = payload["history"]
        @exceptions = exceptions
        @drive = drive
        @owner = nil
        @outcomes = {}
        @news = Thread::Queue.new
        @withdrawn = false
      end

      # Has +workflow+ answer +request+; the ticket of its final invocation.
      def perform(workflow, request)
        @owner = Fiber.current
        workflow.run_body(self, request)
      end

      # The Messages before the request.
      def history
        @history ||= @told.map { |message| Message.build(message) }.freeze
      end

      # Prepares a call; its ticket.
      def invoke(call)
        @handle.invoke(@scope, call)
      end

      # Makes the calls of +tickets+ and waits for their outputs.
      def settle(tickets, max_concurrency)
        raise Error, "wait for a participant in perform itself, not on another thread or fiber" if @drive && !@owner.equal?(Fiber.current)

        number = @handle.settle(@scope, tickets, max_concurrency)
        wait(number)
        outcome = @outcomes.delete(number)
        raise CancelledError, "the workflow is not wanted any more" if outcome.nil?
        raise @exceptions.fetch(outcome["error"]) if outcome["error"]

        outcome["outputs"]
      end

      # Takes what came of a settlement.
      def settled(payload)
        @outcomes[payload["settled"]] = payload
        @news << true
      end

      # The engine gave the body up.
      def cancel
        @withdrawn = true
        @news << true
      end

      private

      def wait(number)
        over = -> { @withdrawn || @outcomes.key?(number) }
        return @drive.call(&over) if @drive

        @news.pop until over.call
      end
    end
  end
end
