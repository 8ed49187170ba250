# frozen_string_literal: true

module LittleGhost
  module Native
    class Pump
      # The threads and fibers of one run that run code of the application beside the pump.
      class Runners # :nodoc:
        # Ends code in a fiber. No rescue of the application takes it for a failure.
        class Stopped < Exception; end # rubocop:disable Lint/InheritException

        # Seconds between two looks at fibers, which nobody can join.
        PAUSE = 0.005
        private_constant :PAUSE

        def initialize
          @by_scope = {}
        end

        # Notes the +runner+ of a part of the run.
        def keep(scope, runner)
          return if scope.nil? || runner.nil?

          kept = @by_scope[scope] ||= []
          kept.select!(&:alive?)
          kept << runner
        end

        # Forgets the part +scope+. With times, its code may end by itself until +stop_at+ and is killed then; raises
        # CleanupError when some of it outlives +end_at+.
        def stop(scope, stop_at, end_at)
          runners = @by_scope.delete(scope).to_a.reject { |runner| !runner.alive? || runner.equal?(Fiber.current) }
          return if stop_at.nil? || runners.empty?

          await(runners, stop_at)
          runners.each { |runner| kill(runner) }
          await(runners, end_at)
          left = runners.count(&:alive?)
          raise CleanupError, "#{left} threads of a subagent did not stop" if left.positive?
        end

        private

        def await(runners, time)
          runners.each do |runner|
            left = time - Time.now.to_f
            next if left <= 0 || !runner.alive?

            runner.is_a?(Thread) ? runner.join(left) : pause(runner, time)
          end
        end

        def pause(fiber, time)
          sleep(PAUSE) while fiber.alive? && Time.now.to_f < time
        end

        def kill(runner)
          return unless runner.alive?
          return runner.kill if runner.is_a?(Thread)

          # Only its scheduler can reach a fiber that waits.
          scheduler = Fiber.current_scheduler
          stop = Stopped.new("the subagent was stopped")
          return scheduler.fiber_interrupt(runner, stop) if scheduler.respond_to?(:fiber_interrupt)

          scheduler.raise(runner, stop) if scheduler.respond_to?(:raise)
        end
      end
    end
  end
end
