# frozen_string_literal: true

module LittleGhost
  module Native
    # Starts work that must overlap: as a scheduled fiber or as a thread.
    module Concurrency # :nodoc:
      BACKENDS = %i[auto thread fiber].freeze

      class << self
        # Raises ConfigurationError when +backend+ needs a scheduled fiber and there is none.
        def check(backend)
          return if backend != :fiber || Fiber.current_scheduler

          raise ConfigurationError, "concurrency_backend is :fiber, but the caller is not in a scheduled fiber; " \
            "call from inside a Fiber scheduler (such as Async), or use :auto or :thread"
        end

        # The thread or fiber; nil where a scheduler begins fibers later.
        def start(backend, &work)
          check(backend)
          if backend != :thread && Fiber.current_scheduler
            in_fiber(&work)
          else
            Thread.new do
              Thread.current.report_on_exception = false
              work.call
            end
          end
        end

        private

        def in_fiber
          fiber = nil
          Fiber.schedule do
            fiber = Fiber.current
            yield
          end
          fiber
        end
      end
    end
  end
end
