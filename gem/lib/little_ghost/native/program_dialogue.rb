# frozen_string_literal: true

module LittleGhost
  module Native
    # Waits for one operation on the programs of a session, and answers what they ask meanwhile.
    class ProgramDialogue # :nodoc:
      # What fails a call. Everything else of a thread unwinds the caller, and of a scheduled fiber FORWARDED does: a scheduler
      # stops fibers by exceptions of its own.
      ORDINARY = [StandardError, ScriptError, SystemStackError].freeze
      FORWARDED = [SystemExit, SignalException].freeze
      private_constant :ORDINARY, :FORWARDED

      def initialize(session, code)
        @session = session
        @code = code
        @exceptions = ExceptionTable.new
      end

      # The answer of +job+. Whatever makes the caller leave earlier gives the operation up, not the program.
      def answer(job, context)
        watch = context&.cancellation_token&.native&.watch
        finished, asked, cancelled = [job, @session, watch].map { |source| source && IO.for_fd(source.fd, autoclose: false) }
        unwound, @bell = IO.pipe
        loop do
          ready, = IO.select([finished, asked, cancelled, unwound].compact, nil, nil, context&.remaining_time)
          raise @unwinding if @unwinding

          context&.check!
          @session.drain.each { |item| call(*item) if item.is_a?(Array) } if ready&.include?(asked)
          return settle(*job.outcome) if ready&.include?(finished)
        end
      ensure
        job.give_up
        watch&.release
        [unwound, @bell].compact.each(&:close)
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
        answered = false
        @session.complete(id, @code.call(kind, payload))
        answered = true
      rescue *ORDINARY => error
        answered = true
        @session.fail(id, *@exceptions.keep(error))
      rescue Exception => error # rubocop:disable Lint/RescueException -- it is the caller's
        raise unless Fiber.current_scheduler.nil? || FORWARDED.any? { |type| type === error }

        unwind(error)
      ensure
        @session.fail(id, *@exceptions.keep(Error.new("the code that a program called ended before it had a result"))) unless answered
      end

      def unwind(error)
        @unwinding = error
        @bell.close
      end
    end
  end
end
