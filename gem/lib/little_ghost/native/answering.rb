# frozen_string_literal: true

module LittleGhost
  module Native
    # Answers questions of the engine that come beside runs, each on a thread of its own.
    class Answering # :nodoc:
      ORDINARY = [StandardError, ScriptError, SystemStackError].freeze
      private_constant :ORDINARY

      attr_reader :questions

      # The block gets each question and returns the answer.
      def initialize(&code)
        @code = code
        @questions = Questions.new.tap(&:close)
        @lock = Mutex.new
        @users = {}.compare_by_identity
      end

      # Answers for +user+ too. In a forked child it starts anew.
      def start(user)
        @lock.synchronize do
          @users[user] = true
          questions.reopen
          @thread = spawn { wait } unless @thread&.alive?
        end
      end

      # Answers until nobody uses it any more. Whoever asks then fails, and does not wait for ever.
      def stop(user)
        @lock.synchronize do
          @users.delete(user)
          next unless @users.empty?

          questions.close
          @thread&.kill&.join
          @thread = nil
        end
      end

      private

      def spawn(&work)
        Thread.new do
          Thread.current.report_on_exception = false
          work.call
        end
      end

      def wait
        io = IO.for_fd(questions.fd, autoclose: false)
        loop do
          io.wait_readable
          questions.drain.each { |id, question| spawn { answer(id, question) } }
        end
      end

      def answer(id, question)
        questions.complete(id, @code.call(question))
      rescue *ORDINARY => error
        questions.fail(id, *Failure.describe(error), 0)
      end
    end
  end
end
