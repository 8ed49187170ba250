# frozen_string_literal: true

module LittleGhost
  module Subagents
    class Manager
      # The run behind a manager: nothing but its subagents. It begins with the first use and is driven beside its users.
      class Service # :nodoc:
        attr_reader :cancellation_token, :invocation, :runtime, :shared_state, :tool_values

        # Seconds between two looks at a caller's own token.
        PAUSE = 0.05
        private_constant :PAUSE

        def initialize(definitions, runtime:, limits:, cancellation_token:, deadline:, observer:, parent_session:, path:)
          @definitions = definitions
          @runtime = runtime
          @limits = limits
          @cancellation_token = Support::CancellationToken.new(parent: cancellation_token)
          @observer = observer
          @session = parent_session
          @path = path
          @shared_state = DataMap.new({})
          @tool_values = Run::ToolValues.new
          @invocation = runtime.parse({"message" => "(subagents)", "deadline_at" => deadline}.compact)
          @lock = Mutex.new
          @handle = nil
          @closed = @stopped = false
          @driver = @failure = nil
          @over = false
        end

        # Has the engine do what the tool +name+ does.
        def operate(name, input, operation_id, token, deadline)
          wait(begun.delegate(name, input, operation_id), token, deadline)
        end

        # Stops everything.
        def close
          handle = @lock.synchronize do
            @closed = true
            @handle
          end
          return if handle.nil? || @stopped

          problem = closing(handle)
          cancellation_token.cancel
          @driver.is_a?(Thread) ? @driver.join : (sleep(PAUSE) until @over)
          @stopped = true
          problem ||= @failure
          raise problem if problem
        end

        # What the Pump asks of a run.

        def engine_kind = "agent"

        def engine_hooks = []

        def engine_parent = nil

        def open_entrypoint
          kinds = @definitions.map do |definition|
            key = parts.table.delegate(around) { |part| definition.build(part.agent_path, part.conversation_id, runtime) }
            {"kind" => definition.kind, "description" => definition.description, "persist" => definition.persist, "key" => key}
          end
          {"manager" => {"kinds" => kinds, "limits" => @limits, "path" => @path}}
        end

        def session = @session

        def stateless? = true

        def note_state = shared_state

        def parts
          @parts ||= Run::Parts.new(self)
        end

        def owner = nil

        def around = Native::Surroundings.new

        def workspace = nil

        def sandbox = nil

        def usage_so_far = Usage.new

        def take_result(hash) = result_of(hash)

        def result_of(hash)
          Native::EventBuilder.run_result(hash, hash.key?("scope") ? parts.state(hash["scope"]) : shared_state)
        end

        def operation_id = invocation.run_id

        def settle(_report, _exceptions)
        end

        def finish(_report, _exceptions)
        end

        private

        def begun
          @lock.synchronize do
            raise ToolError, "the subagents are stopped; no more work is taken" if @closed
            raise CancelledError, "the subagents were cancelled" if cancellation_token.cancelled?

            @handle ||= begin
              handle = Native::Handle.new(runtime.engine, invocation.to_engine, cancellation_token.native)
              handle.keep_subagents_with(@session.id.to_s, @session.actor_id&.to_s, {}, @session.store.native) if @session
              pump = Native::Pump.new(self, handle)
              @driver = Native::Concurrency.start(runtime.concurrency_backend) { drive(pump) }
              handle
            end
          end
        end

        def drive(pump)
          pump.drive(method(:observe))
        rescue CancelledError
          # The usual end.
        rescue StandardError => error
          @failure = error
        ensure
          @over = true
        end

        def observe(event)
          @observer&.call(event.data.fetch(:event)) if event.type == :subagent
        rescue StandardError
          # An observer changes nothing.
        end

        def closing(handle)
          wait(handle.delegate("close", {}, nil), nil, nil)
          nil
        rescue CancelledError
          nil
        rescue Error => error
          error
        end

        def wait(job, token, deadline)
          io = IO.for_fd(job.fd, autoclose: false)
          until io.wait_readable(pause(token, deadline))
            token&.raise_if_cancelled!
            raise DeadlineExceededError, "the deadline passed before the subagent answered" if deadline && Time.now >= deadline
          end
          job.take
        end

        def pause(token, deadline)
          token.nil? && deadline.nil? ? nil : PAUSE
        end
      end
    end
  end
end
