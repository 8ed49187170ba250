# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # A child process with bounded streams, in a process group of its own. Whoever started it closes it: that ends it and
    # its ordinary descendants. One that made a group of its own is only ended by a sandbox that owns the process tree.
    #
    #   session = sandbox.start_program(["/usr/bin/sort"])
    #   session.write("b\na\n")
    #   session.close_write
    #   session.wait(timeout: 5).success? # => true
    #   session.read.stdout               # => "a\nb\n"
    #   session.close
    #
    # Memory is sampled every 100 milliseconds, so short peaks may be missed.
    class ProcessSession
      # What a process has written, as bytes; +eof+ once both streams have ended.
      Output = Data.define(:stdout, :stderr, :eof) do
        # Whether both streams have ended.
        def eof? = eof
      end

      def self.wrap(native) # :nodoc:
        allocate.tap { |session| session.instance_variable_set(:@native, native) }
      end

      # Starts +command+, an Array of Strings, without a sandbox and with no other variables than +environment+, unless it
      # inherits those of this process. +output_bytes+ bounds both streams together. +memory_reader+ is called with the
      # process id in place of the system's own count of memory. Raises ArgumentError for a command that is none,
      # DependencyError and UnsupportedPlatformError when memory cannot be watched here.
      def initialize(command:, environment: {}, inherit_environment: false, chdir: nil, output_bytes: 1_000_000,
        memory_bytes: nil, memory_reader: nil, cpu_seconds: nil, file_bytes: nil)
        raise ArgumentError, "the command must be an Array of a program and its arguments, got #{command.class}" unless command.is_a?(Array)

        options = {
          "command" => command, "environment" => Programs.variables(environment), "inherit_environment" => inherit_environment, "chdir" => chdir&.to_s,
          "output_bytes" => output_bytes, "cpu_seconds" => cpu_seconds, "file_bytes" => file_bytes
        }
        options["memory_bytes"] = memory_bytes unless memory_reader
        job, starting = Native::ChildProcess.start(options.compact)
        Native::JobWait.finish(job)
        @native = starting.process
        @watch = MemoryWatch.new(self, memory_bytes, memory_reader) if memory_bytes && memory_reader
      end

      # Its number on the host.
      def pid
        @native.pid
      end

      # Whether it, or anything in its group, still runs. Raises ToolError when it exceeded a limit or can no longer be
      # watched.
      def alive?
        @watch&.check
        answer("alive")
      end

      # What it has written since, waiting at most +timeout+ seconds for something. Raises ToolError when it exceeded a
      # limit.
      def read(timeout: 0)
        @watch&.check
        read = answer("read", "timeout" => Float(timeout))
        Output.new(stdout: read["stdout_base64"].unpack1("m0"), stderr: read["stderr_base64"].unpack1("m0"), eof: read["eof"])
      end

      # Writes all of +value+, waiting while the process does not read. Returns the number of bytes. Raises IOError when
      # nobody reads any more.
      def write(value)
        answer("write", "data_base64" => [value.to_s].pack("m0"))
        value.to_s.bytesize
      rescue Error => error
        raise unless error.instance_of?(Error)

        raise IOError, error.message
      end

      # Ends its input.
      def close_write
        answer("close_write")
        nil
      end

      # Waits for its end and returns the Process::Status. Raises ToolError after +timeout+ seconds, having ended the
      # process when +terminate+ is true; CancelledError and DeadlineExceededError when +context+ says so.
      def wait(timeout: nil, context: nil, terminate: true)
        @watch&.check
        operation = {"op" => "wait", "timeout" => timeout&.to_f, "terminate" => terminate ? true : false}
        status(Native::JobWait.finish(@native.perform(operation), context))
      rescue CancelledError, DeadlineExceededError
        self.terminate if terminate
        raise
      end

      # Asks it to end, forces it half a second later, and returns the Process::Status when there is one.
      def terminate
        status(answer("terminate"))
      end

      # Ends it if necessary and closes its streams. Again is no error.
      def close
        @watch&.stop
        answer("close")
      end

      # Ends its input, waits for its end and returns an Execution.
      def collect(timeout, max_output_bytes, context) # :nodoc:
        operation = {"op" => "collect", "timeout" => Float(timeout), "max_output_bytes" => max_output_bytes}
        Programs.execution(Native::JobWait.finish(@native.perform(operation), context))
      end

      # Names the process.
      def inspect
        "#<#{self.class} #{pid}>"
      end

      private

      def answer(operation, options = {})
        Native::JobWait.finish(@native.perform({"op" => operation, **options}))
      end

      def status(ended)
        ended && Native::ChildProcess.status(ended["pid"], ended["code"], ended["signal"])
      end
    end
  end
end
