# Runs one program. The first frame on standard input holds it; calls, texts and the end go out on standard output.
require "json"

module LittleGhostProgram
  INPUT = $stdin.dup.binmode
  OUTPUT = $stdout.dup.binmode
  MOST_BYTES = 64 * 1024 * 1024
  WRITING = Mutex.new
  WAITING = {}
  CALLS = Mutex.new
  $stdin.reopen(File::NULL)
  # What a child process of the program prints is output as well.
  $stdout.reopen($stderr)
  $stdout.sync = $stderr.sync = true

  module_function

  def read
    header = INPUT.read(4)
    return if header.nil? || header.bytesize < 4

    length = header.unpack1("N")
    exit!(3) if length > MOST_BYTES
    payload = INPUT.read(length)
    JSON.parse(payload.force_encoding(Encoding::UTF_8), max_nesting: false) if payload&.bytesize == length
  end

  # A whole number of more than 64 bits goes as text: as a JSON number it would be rounded.
  def exact(value)
    case value
    when Integer then (-2**63...2**64).cover?(value) ? value : value.to_s
    when Hash then value.transform_values { |part| exact(part) }
    when Array then value.map { |part| exact(part) }
    else value
    end
  end

  def write(frame)
    payload = JSON.generate(frame).b
    payload = JSON.generate(exact(frame)).b if payload.match?(/\d{19}/)
    raise ArgumentError, "a value of #{payload.bytesize} bytes is too large" if payload.bytesize > MOST_BYTES

    WRITING.synchronize do
      OUTPUT.write([payload.bytesize].pack("N"), payload)
      OUTPUT.flush
    end
  rescue Errno::EPIPE, IOError
    exit!(3)
  end

  def call(name, arguments)
    answer = Queue.new
    id = CALLS.synchronize do
      @reader ||= Thread.new { deliver }
      @count = @count.to_i + 1
      WAITING[@count.to_s] = answer
      @count.to_s
    end
    write({type: "call", id: id, name: name, arguments: arguments})
    result = answer.pop
    raise result["error"] if result["error"]

    result["value"]
  end

  def deliver
    while (frame = read)
      answer = CALLS.synchronize { WAITING.delete(frame["id"]) }
      answer&.push(frame)
    end
    exit!(3)
  end

  def finish(value)
    write({type: "done", value: value})
    exit!(0)
  end

  def fail(error)
    message = error.message.dup.force_encoding(Encoding::UTF_8).scrub
    # An address says nothing, and is another one each time.
    message = message.gsub(/ for #<Object:0x\h+>/, "")
    write({type: "error", error: "#{error.class}: #{message}"})
    exit!(1)
  end

  def text(value)
    text = value.to_s.dup
    text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding == Encoding::BINARY
    write({type: "text", value: text.force_encoding(Encoding::UTF_8).scrub})
  end

  # Standard output and error of the program.
  class Printer
    def write(*values)
      text = values.join
      LittleGhostProgram.text(text) unless text.empty?
      text.bytesize
    end

    def <<(value)
      write(value)
      self
    end

    def puts(*values)
      lines = values.empty? ? [""] : values.flatten.map { |value| value.to_s.chomp }
      write(lines.map { |line| "#{line}\n" }.join)
      nil
    end

    def print(*values)
      write(*values)
      nil
    end

    def printf(format, *values) = print(format(format, *values))
    def putc(value) = print(value.is_a?(Integer) ? value.chr : value.to_s[0])
    def flush = self
    def fsync = 0
    def sync = true
    def sync=(value); end
    def tty? = false
    def isatty = false
    def fileno = 2
    def close = nil
    def closed? = false
    def external_encoding = Encoding::UTF_8
    def inspect = "#<output>"
  end

  # What programs call `tools`.
  class Tools
    def initialize(catalog, concurrency)
      @concurrency = concurrency
      @names = catalog.to_h { |tool| [tool["name"], tool["canonical_name"]] }
      canonical = catalog.map { |tool| tool["canonical_name"] }
      @known = @names.merge(canonical.to_h { |name| [name, name] })
      @names.each do |name, canonical_name|
        define_singleton_method(name) do |input = {}, **arguments|
          raise ArgumentError, "tools.#{name} takes keywords or one Hash with its arguments" unless input.is_a?(Hash)

          LittleGhostProgram.call(canonical_name, input.merge(arguments))
        end
      end
    end

    def call(name, arguments = {})
      plain = name.to_s.delete_prefix("tools.")
      LittleGhostProgram.call(@known.fetch(plain, plain), arguments)
    end

    def parallel(*callables)
      callables.flatten.each_slice(@concurrency).flat_map do |batch|
        threads = batch.map do |callable|
          Thread.new { callable.call }.tap { |thread| thread.report_on_exception = false }
        end
        threads.each { |thread| thread.join rescue nil }
        threads.map(&:value)
      end
    end

    def inspect = "#<tools #{@names.keys.join(", ")}>"
  end

  request = read or exit!(3)
  all_tools = request.fetch("catalog").map { |tool| tool.fetch("specification") }
  freeze_all = lambda do |value|
    case value
    when Hash then value.each_value(&freeze_all)
    when Array then value.each(&freeze_all)
    end
    value.freeze
  end
  Object.const_set(:ALL_TOOLS, freeze_all.call(all_tools))
  Object.const_set(:FRAME, request["frame"]) unless request["frame"].nil?
  tools = Tools.new(request.fetch("catalog"), request.fetch("concurrency"))
  $stdout = $stderr = Printer.new
  program = Object.new
  program.define_singleton_method(:tools) { tools }
  program.define_singleton_method(:text) { |value| LittleGhostProgram.text(value); nil }
  program.define_singleton_method(:finish) { |value = nil| LittleGhostProgram.finish(value) }
  program.define_singleton_method(:inspect) { "main" }
  program.define_singleton_method(:to_s) { "main" }
  begin
    finish(program.instance_eval(request.fetch("source"), "(code-mode)", 1))
  rescue SystemExit => exit
    exit.success? ? finish(nil) : fail(exit)
  rescue Exception => error # rubocop:disable Lint/RescueException
    fail(error)
  end
end
