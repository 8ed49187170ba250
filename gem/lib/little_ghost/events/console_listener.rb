# frozen_string_literal: true

module LittleGhost
  module Events
    # Writes each event as one line of JSON, with credentials redacted.
    #
    #   LittleGhost::Events.subscribe(LittleGhost::Events::ConsoleListener.new(io: $stdout))
    class ConsoleListener
      # Writes to +io+; +redactor+ has +call(value)+.
      def initialize(io: $stderr, redactor: Support::Redactor.new)
        @io = io
        @redactor = redactor
        @lock = Mutex.new
      end

      # Writes one line at once.
      def emit(event)
        require "json"
        line = "#{JSON.generate(@redactor.call(event))}\n"
        @lock.synchronize do
          @io.write(line)
          @io.flush if @io.respond_to?(:flush)
        end
        nil
      end
    end
  end
end
