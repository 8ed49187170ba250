# frozen_string_literal: true

module LittleGhost
  module Native
    # Drives one run on the caller's own thread or fiber: waits, drains, hands events to the
    # consumer, runs user code and answers, until the engine says that the run is over.
    #
    # Whatever makes the caller leave early (break, an exception, Timeout, Thread#kill, a signal),
    # the run is interrupted and its resources are closed before the caller goes on.
    class Pump # :nodoc:
      autoload :Assemblies, "little_ghost/native/pump/assemblies"
      autoload :Runners, "little_ghost/native/pump/runners"

      include Assemblies

      UNINTERRUPTED = {Object => :never}.freeze
      # What a tool may raise without ending the caller. Everything else unwinds: Interrupt,
      # SystemExit, Timeout's own exception and a scheduler's stop are not the tool's.
      ORDINARY = [StandardError, ScriptError, SystemStackError].freeze
      # What must reach the caller even from a scheduled fiber of its own.
      FORWARDED = [SystemExit, SignalException].freeze
      # How often a scheduler may disturb the winding down, or a closer unwind it, before the rest is
      # left to the collector.
      PATIENCE = 16
      private_constant :UNINTERRUPTED, :ORDINARY, :FORWARDED, :PATIENCE

      def initialize(run, handle)
        @run = run
        @handle = handle
        @exceptions = ExceptionTable.new
        @events = EventBuilder.new(run, @exceptions)
        @calls = {}
        @performances = {}
        @runners = Runners.new
        @batch = []
        @index = 0
        @done = false
        @failure = @forwarded = @io = @releasing = nil
        @pid = Process.pid
      end

      # Runs to the end. Returns once every resource is closed; raises what keeps the ending from
      # being clean.
      def drive(consumer)
        begin
          start(!consumer.nil?)
          step(consumer) until @done
        ensure
          Thread.handle_interrupt(UNINTERRUPTED) { wind_down } unless @done
        end
        problem = finish
        raise problem if problem
      end

      # Closes the resources of a run that never started. False when it did start.
      def drive_close
        return false unless @handle.close

        begin
          step(nil) until @done
        ensure
          Thread.handle_interrupt(UNINTERRUPTED) { wind_down } unless @done
        end
        problem = finish
        raise problem if problem

        true
      end

      private

      def start(events)
        options = {"events" => events, "hooks" => @run.engine_hooks, "kind" => @run.engine_kind}
        options.update(Notices.wanted(@run)) if Instrumentation.listening?
        @handle.start(options)
      rescue Error
        @done = true
        raise
      end

      def step(consumer)
        wait
        @batch = @handle.drain(!consumer.nil?)
        @index = 0
        work_off(consumer)
      end

      # The rest of the batch; leaves it early when the session is released, for whoever holds it further out.
      def work_off(consumer)
        while @releasing.nil? && (item = @batch[@index])
          @index += 1
          take(item, consumer)
        end
      end

      def take(item, consumer)
        StreamEvent === item ? deliver(consumer, item) : dispatch(item, consumer)
      end

      # Frees the GVL, lets a Fiber scheduler run other fibers, obeys signals and Timeout.
      def wait
        # In a forked child the descriptor would stay silent; draining says what is wrong.
        @handle.drain(false) if @pid != Process.pid
        (@io ||= IO.for_fd(@handle.fd, autoclose: false)).wait_readable
      end

      def deliver(consumer, event)
        consumer.call(event)
      rescue StandardError => error
        @failure = error
        raise
      end

      def dispatch(item, consumer)
        case item
        when :done then @done = true
        when Integer then @calls.delete(item)&.cancel
        else
          kind, id, payload = item
          case kind
          when :event then announce(id, payload, consumer)
          when :entrypoint
            payload["participant"] ? answer_of_code(id) { open_part(payload).declaration } : answer(id) { @run.open_entrypoint }
          when :tool then run_tool(id, payload)
          when :close then close(id, payload)
          when :perform then perform_body(id, payload, consumer)
          when :settled then answer(id) { hand_over(payload) }
          when :assembly then answer_of_code(id) { decide(payload) }
          when :model then run_model(id, payload, consumer)
          when :transport, :provider then use_part(id, payload)
          when :callback then answer_of_code(id) { callbacks(payload["scope"]).call(payload) }
          when :sandbox then use_sandbox(id, payload)
          when :code_mode then use_programs(id, payload)
          when :part_over then forget_part(id)
          when :notice then Notices.report(payload)
          when :instrument then Notices.measure(payload)
          when :scripted_turn then answer(id) { Testing::Functions.call(payload) }
          when :state then answer(id) { payload["scope"] ? parts.live_state(payload["scope"]) : sessions.state }
          when :state_restored then answer(id) { sessions.restore(payload["state"]) }
          when :session then use_session(id, payload, consumer)
          when :hook then answer(id) { hook(payload) }
          else raise Error, "the engine asked for #{kind.inspect}; the gem and its native library do not fit together"
          end
        end
      end

      def announce(type, data, consumer)
        @run.settle(@handle.report, @exceptions) if type.start_with?("run_") && type != :run_start
        event = @events.build(type, data)
        deliver(consumer, event)
        announce_trace(consumer) if type == :run_start
      end

      # What a tracing subscriber wants the consumer to pass on.
      def announce_trace(consumer)
        return unless Instrumentation.listening?

        context = Instrumentation.trace_context(operation_id: @run.operation_id)
        deliver(consumer, StreamEvent.build(:trace_context, context: context)) unless context.empty?
      end

      def use_session(id, payload, consumer)
        case payload["op"]
        when "synchronize" then hold_session(id, consumer)
        when "release" then @releasing = id
        else answer(id) { sessions.operate(payload) }
        end
      end

      # Drives the run inside the store's own lock, until the engine gives the session back.
      def hold_session(id, consumer)
        place = :outside
        @run.session.synchronize do
          raise Error, "#{@run.session.store.class}#synchronize must yield once" unless place == :outside

          place = :inside
          @handle.complete(id, nil)
          work_off(consumer)
          step(consumer) until @releasing || @done
          place = :behind
        end
        raise Error, "#{@run.session.store.class}#synchronize must yield" if place == :outside

        release_session { |release| @handle.complete(release, nil) }
      rescue *ORDINARY => error
        raise if place == :inside

        place == :outside ? fail_call(id, error) : release_session { |release| fail_call(release, error) }
      end

      def release_session
        release, @releasing = @releasing, nil
        yield release if release
      end

      def hook(payload)
        case payload["name"]
        when "session_history" then sessions.history(payload)
        when "error_message" then @run.runtime.runtime_hooks.error_message(@exceptions.fetch(payload["error"]), @run)
        end
      end

      def callbacks(scope)
        return parts.callbacks(scope, @exceptions) if scope

        @callbacks ||= CallbackCalls.new(@run, @exceptions)
      end

      # Runs work beside the driver, as call +id+.
      def start_beside(id, call, scope = nil, &work)
        @calls[id] = call
        @runners.keep(scope, Concurrency.start(@run.runtime&.concurrency_backend || :auto) { apart(id, &work) })
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      # As start_beside, for code that the run waits for.
      def start_nested(id, call, scope = nil, &work)
        start_beside(id, call, scope) { Run::Nesting.within(@run, &work) }
      end

      def sessions
        @sessions ||= SessionCalls.new(@run)
      end

      # Runs on this thread or fiber. What the engine makes of the events is delivered meanwhile.
      def run_model(id, payload, consumer)
        call = ModelCall.new(subject(payload).entrypoint.model, payload, child_token)
        if overlapping?(payload)
          return start_nested(id, call, payload["scope"]) { answer(id) { call.perform { |event| @handle.emit(id, [event]) } } }
        end

        @calls[id] = call
        response = call.perform do |event|
          @handle.emit(id, [event])
          catch_up(consumer)
        end
        @handle.complete(id, response)
      rescue *ORDINARY => error
        raise if @failure

        fail_call(id, error)
      ensure
        @calls.delete(id)
      end

      # Works off what is there, without waiting.
      def catch_up(consumer)
        work_off(consumer)
        @batch = @handle.drain(!consumer.nil?)
        @index = 0
        work_off(consumer)
      end

      def run_tool(id, payload)
        from = subject(payload)
        call = ToolCall.new(from, payload, child_token)
        return perform(id, call, from) unless overlapping?(payload)

        start_nested(id, call, payload["scope"]) { perform(id, call, from) }
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      # What takes time of what the application put in the place of parts of a provider, beside the run: what a transport
      # brings is delivered at once, and a pause can be broken off.
      def use_part(id, payload)
        parts = subject(payload).provider_parts
        return answer(id) { parts.retrying(payload, @exceptions) } if payload["op"] == "on_retry"

        call = TransportCall.new(parts, payload, child_token)
        start_beside(id, call) { answer(id) { call.perform { |bytes| @handle.emit_bytes(id, bytes) } } }
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      # What the application does for programs. Sessions wait for tools that the run calls, so that they work beside it.
      def use_programs(id, payload)
        token = child_token
        start_nested(id, token) { answer(id) { programs.perform(subject(payload), payload, token) } }
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      def programs
        @programs ||= ProgramCalls.new(@handle)
      end

      # What a sandbox of the application does, beside the run.
      def use_sandbox(id, payload)
        start_beside(id, nil) { answer(id) { SandboxCalls.perform(payload) } }
      end

      def child_token
        @token ||= @handle.work_token
        Support::CancellationToken.wrap(@token.child)
      end

      def apart(id)
        answered = false
        yield
        answered = true
      rescue Runners::Stopped
        answered = true
      rescue Exception => error # rubocop:disable Lint/RescueException -- it is the caller's
        raise unless forwarded?(error)

        @forwarded = error
        @handle.cancel
        answered = true
      ensure
        fail_call(id, Error.new("the thread or fiber of the application's code ended before it had a result")) unless answered
      end

      # A scheduler stops its fibers by exceptions of its own; in a thread there are none of them.
      def forwarded?(error)
        Fiber.current_scheduler.nil? || FORWARDED.any? { |type| type === error }
      end

      def perform(id, call, from)
        value = ToolValue.plain(call.perform)
        begin
          from.stateless? ? @handle.complete_without_state(id, value) : @handle.complete(id, value)
        rescue ArgumentError, TypeError
          @handle.complete_json(id, ToolValue.json(value))
        end
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      # Closers also run while the caller is being unwound, so one that unwinds must not keep the
      # rest from running.
      def close(id, payload)
        answered = false
        answer(id) do
          close_what(payload)
          nil
        end
        answered = true
      ensure
        fail_call(id, CleanupError.new("a resource did not finish closing")) unless answered
      end

      def close_what(payload)
        return programs.close(payload["programs"]) if payload.key?("programs")

        payload["resource"] ? @run.close_resource(payload["resource"]) : close_part(payload)
      end

      def answer(id)
        @handle.complete(id, yield)
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      # As answer, for code that may have changed the state: the engine asks for it unless it is told otherwise.
      def answer_of_code(id)
        value = yield
        @run.stateless? ? @handle.complete_without_state(id, value) : @handle.complete(id, value)
      rescue *ORDINARY => error
        fail_call(id, error)
      end

      def fail_call(id, error)
        kept = @exceptions.keep(error)
        return @handle.fail(id, *kept) unless error.is_a?(Providers::HTTPError)

        status = error.status if error.status.is_a?(Integer) && error.status.between?(100, 999)
        @handle.fail_http(id, *kept, status, error.body && Text.utf8(error.body.to_s))
      end

      def wind_down
        @failure ? @handle.interrupt_with(*@exceptions.keep(@failure)) : @handle.interrupt
        give_up_bodies
        disturbed = []
        until @done || disturbed.length > PATIENCE
          begin
            drain_endings
          rescue Error
            # From the engine itself: in a forked child there is nothing to drive.
            return @done = true
          rescue Exception => error # rubocop:disable Lint/RescueException -- the other closers must run first
            disturbed << error
          end
        end
        finish
        raise disturbed.first unless disturbed.empty?
      end

      # Operations end also for a caller that left.
      def tell(item)
        case item[0]
        when :notice then Notices.report(item[2])
        when :instrument then Notices.measure(item[2])
        end
      end

      def wind_down_call(kind, id, payload)
        case kind
        when :close then close(id, payload)
        when :sandbox then use_sandbox(id, payload)
        else tell([kind, id, payload])
        end
      end

      # Takes up the batch where the caller left it; events and withdrawn calls are passed over.
      def drain_endings
        while (item = @batch[@index])
          @index += 1
          case item
          when :done, Integer then dispatch(item, nil)
          when Array then wind_down_call(*item)
          end
        end
        return if @done

        wait
        @batch = @handle.drain(false)
        @index = 0
      end

      # What kept the sandboxes of programs from being closed, or nil.
      def release_programs
        @programs&.release
        nil
      rescue *ORDINARY => error
        error
      end

      # Records the ending, lets the run's descriptor go, and returns what must be raised.
      def finish
        give_up_bodies
        report = @handle.report
        problem = @exceptions.fetch(report["raise"]) || release_programs
        @run.finish(report, @exceptions)
        @handle.release
        @forwarded || problem
      end
    end
  end
end
