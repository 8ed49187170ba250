# frozen_string_literal: true

module LittleGhost
  module Native
    # What the engine asks of sandboxes, and of processes in them, that the application wrote.
    module SandboxCalls # :nodoc:
      @processes = {}
      @lock = Mutex.new

      class << self
        # A sandbox as the engine knows it: a handle of its own, or this process's object.
        def describe(sandbox)
          return {"native" => sandbox.engine.id} if sandbox.own_engine?

          {
            "host" => {
              "key" => HostObjects.key(sandbox), "workspace" => sandbox.workspace.native.id, "policy" => sandbox.policy.declaration,
              "effective_policy" => sandbox.effective_policy.declaration, "capabilities" => sandbox.capabilities.declaration,
              "limits" => sandbox.limits.to_h
            }
          }
        end

        def perform(payload)
          payload.key?("process") ? use(payload["process"], payload) : operate(HostObjects.fetch(payload["key"]), payload)
        end

        private

        def operate(sandbox, payload)
          case payload["op"]
          when "read", "list" then sandbox.public_send(payload["op"], payload["path"])
          when "write" then sandbox.write(payload["path"], payload["content_base64"].unpack1("m0"))
          when "replace" then sandbox.replace(payload["path"], payload["old_text"], payload["new_text"])
          when "start" then start(sandbox, payload)
          when "execute" then execute(sandbox, payload)
          end
        end

        def start(sandbox, payload)
          process = sandbox.start_program(payload["command"], **options(sandbox.method(:start_program), payload))
          @lock.synchronize { @processes[process.object_id] = process }
          {"process" => process.object_id, "pid" => process.pid}
        end

        def execute(sandbox, payload)
          execution = sandbox.execute_program(payload["command"], **options(sandbox.method(:execute_program), payload))
          {
            "stdout" => Text.utf8(execution.stdout), "stderr" => Text.utf8(execution.stderr), "exit_code" => execution.exit_code,
            "error" => execution.error&.message
          }
        end

        def options(method, payload)
          Keywords.taken(method, payload.except("op", "key", "command", "scope").compact.transform_keys(&:to_sym))
        end

        def use(key, payload)
          process = @lock.synchronize { @processes[key] } || raise(Error, "the process is closed")
          case payload["op"]
          when "process_read" then output(process.read(timeout: payload["timeout"]))
          when "process_write" then process.write(payload["data_base64"].unpack1("m0")) && nil
          when "process_close_write" then process.close_write && nil
          when "process_alive" then process.alive? ? true : false
          when "process_wait" then status(process.wait(timeout: payload["timeout"], terminate: payload["terminate"]))
          when "process_terminate" then status(process.terminate)
          when "process_close" then close(key, process)
          end
        end

        def close(key, process)
          @lock.synchronize { @processes.delete(key) }
          process.close
          nil
        end

        def output(output)
          {"stdout_base64" => [output.stdout].pack("m0"), "stderr_base64" => [output.stderr].pack("m0"), "eof" => output.eof ? true : false}
        end

        def status(status)
          status && {"code" => status.exitstatus, "signal" => status.termsig}
        end
      end
    end
  end
end
