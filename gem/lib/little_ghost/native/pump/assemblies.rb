# frozen_string_literal: true

module LittleGhost
  module Native
    class Pump
      # What a pump does for the participants of an assembly, each in its own part of the run.
      module Assemblies # :nodoc:
        private

        def parts
          @run.parts
        end

        # Begins a part. Its end is a call only if that fails, or if there is something to close then.
        def open_part(payload)
          part = parts.open(payload)
          part.when_closable { @handle.register_part(part.scope) }
          part
        end

        # A part that had nothing to close.
        def forget_part(scope)
          @runners.stop(scope, nil, nil)
          parts.forget(scope)
        end

        # Code of the part ends before the part does, if it is a subagent's.
        def close_part(payload)
          @runners.stop(payload["scope"], payload["stop_at"], payload["end_at"])
        ensure
          parts.close(payload["scope"])
        end

        # Who makes a call: the run, or a participant in its part of it.
        def subject(payload)
          scope = payload["scope"]
          scope ? parts.fetch(scope) : @run
        end

        # Whether others may be at work at the same time as whoever makes the call.
        def overlapping?(payload)
          payload["concurrent"] || (payload.key?("scope") && subject(payload).crowded?)
        end

        def decide(payload)
          code = parts.table.fetch(payload["key"])
          AssemblyCalls.public_send(payload["op"], code, payload, @exceptions) { |result| @run.result_of(result) }
        end

        # Runs the body of a workflow, here where nothing overlaps it.
        def perform_body(id, payload, consumer)
          scope = payload["scope"]
          request = scope ? open_part(payload) : @run
          beside = overlapping?(payload)
          drive = ->(&over) { drive_on(consumer, &over) } unless beside
          work = @performances[scope] = @calls[id] = Performance.new(@handle, payload, @exceptions, parts.table, drive)
          body = lambda do
            answer(id) { work.perform(request.entrypoint, request) }
          ensure
            @calls.delete(id)
            @performances.delete(scope)
          end
          return start_nested(id, work, payload["scope"], &body) if beside

          body.call
          raise @failure if @failure
        rescue *ORDINARY => error
          raise if @failure

          fail_call(id, error)
        end

        # Bodies that run beside learn that nothing comes any more.
        def give_up_bodies
          @performances.values.each(&:cancel)
        end

        def hand_over(payload)
          @performances[payload["scope"]]&.settled(payload)
          nil
        end

        # Drives the run on, for user code that waits inside of it, until the block is true. What is left of a batch
        # is for whoever drives further out.
        def drive_on(consumer)
          until yield || @done || @releasing
            if @index < @batch.length
              @index += 1
              take(@batch[@index - 1], consumer)
            else
              wait_within
              @batch = @handle.drain(!consumer.nil?)
              @index = 0
            end
            raise @failure if @failure
          end
        end

        # What interrupts the wait is meant for the caller of the run, and no failure of the body around it.
        def wait_within
          wait
        rescue StandardError => error
          @failure = error
          raise
        end
      end
    end
  end
end
