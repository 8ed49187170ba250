# frozen_string_literal: true

module LittleGhost
  module Native
    # Waits for one operation on the programs of a session, and answers what they ask meanwhile.
    class ProgramDialogue # :nodoc:
      ORDINARY = [StandardError, ScriptError, SystemStackError].freeze
      private_constant :ORDINARY

      def initialize(session, code)
        @session = session
        @code = code
        @exceptions = ExceptionTable.new
      end

      # The answer of +job+. Whatever makes the caller leave earlier gives the operation up, not the program.
      def answer(job, context)
        watch = context&.cancellation_token&.native&.watch
        finished, asked, cancelled = [job, @session, watch].map { |source| source && IO.for_fd(source.fd, autoclose: false) }
        loop do
          ready, = IO.select([finished, asked, cancelled].compact, nil, nil, context&.remaining_time)
          context&.check!
          @session.drain.each { |item| call(*item) if item.is_a?(Array) } if ready&.include?(asked)
          return settle(*job.outcome) if ready&.include?(finished)
        end
      ensure
        job.give_up
        watch&.release
      end

      private

      def settle(answer, error)
        raise @exceptions.fetch(error) if error

        answer
      end

      # Calls of a program may overlap.
      def call(kind, id, payload)
        Concurrency.start(:auto) { perform(kind, id, payload) }
      end

      def perform(kind, id, payload)
        @session.complete(id, @code.call(kind, payload))
      rescue *ORDINARY => error
        @session.fail(id, *@exceptions.keep(error))
      end
    end
  end
end
