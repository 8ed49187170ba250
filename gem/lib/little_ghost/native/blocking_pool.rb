# frozen_string_literal: true

module LittleGhost
  module Native
    # Reusable threads for calls that would pause the other fibers of a scheduler. One pool per process.
    module BlockingPool # :nodoc:
      autoload :Task, "little_ghost/native/blocking_pool/task"

      @lock = Mutex.new
      @capacity = 2
      @pid = nil

      class << self
        attr_reader :capacity

        def capacity=(value)
          unless value.is_a?(Integer) && value.positive?
            raise ArgumentError, "blocking_pool_capacity must be a positive Integer, got #{value.inspect}"
          end

          @lock.synchronize do
            if value != @capacity && @pid == Process.pid
              raise ConfigurationError, "the blocking pool has started; set blocking_pool_capacity before the first use"
            end

            @capacity = value
          end
        end

        # The block's value, from a thread of the pool. Without a scheduler the block runs here.
        def run(&block)
          return block.call if Fiber.current_scheduler.nil?

          task = Task.new(block)
          enqueue(task)
          task.wait
        end

        private

        def enqueue(task)
          @lock.synchronize do
            reset unless @pid == Process.pid
            @queue << task
            @workers << worker(@queue) if @queue.num_waiting.zero? && @workers.length < @capacity
          end
        end

        # A child has none of its parent's threads.
        def reset
          @pid = Process.pid
          @queue = Thread::Queue.new
          @workers = []
        end

        # Nothing of who starts it may leak into later calls.
        def worker(queue)
          Thread.new do
            Thread.current.name = "little_ghost blocking"
            Fiber.new(storage: {}) { loop { queue.pop.perform } }.resume
          end
        end
      end
    end
  end
end
