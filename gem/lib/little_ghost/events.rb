# frozen_string_literal: true

module LittleGhost
  # Tells an application of things worth knowing, without choosing a logger for it.
  #
  #   LittleGhost::Events.subscribe(collector) { |event| %i[warn error].include?(event[:level]) }
  #   LittleGhost::Events.warn("support.case.stalled", case_id: "case-42")
  #
  # A listener has +emit(event)+. An event is a Hash of +name+, +level+, +payload+, +context+ and
  # +timestamp+ (nanoseconds since the epoch). Events are points in time; Instrumentation measures work
  # that starts and ends. A listener that fails never breaks the work that the event is about.
  module Events
    autoload :ConsoleListener, "little_ghost/events/console_listener"
    autoload :Payload, "little_ghost/events/payload"
    autoload :Reporter, "little_ghost/events/reporter"

    # The severities, least first.
    LEVELS = %i[debug info warn error].freeze

    @lock = Mutex.new
    @reporter = nil
    @console = nil
    @console_output = nil

    class << self
      # Where events are written as JSON lines: +:stdout+, +:stderr+ or nil.
      attr_reader :console_output

      # Writes events to +:stdout+ or +:stderr+ from now on, or nowhere for nil. Other listeners stay.
      def console_output=(destination)
        unless [nil, :stdout, :stderr].include?(destination)
          raise ArgumentError, "events are written to :stdout, :stderr or nil, got #{destination.inspect}"
        end

        console = destination && ConsoleListener.new(io: (destination == :stdout) ? $stdout : $stderr)
        before = @lock.synchronize do
          known = @console
          @console = console
          @console_output = destination
          known
        end
        reporter.unsubscribe(before) if before
        reporter.subscribe(console) if console
      end

      # A copy of the attributes that events carry now.
      def context
        reporter.context
      end

      # The process-wide Reporter.
      def reporter
        @reporter || @lock.synchronize { @reporter ||= Reporter.new }
      end

      # Replaces the process-wide Reporter, with the console staying what it is.
      def reporter=(value)
        console = @lock.synchronize do
          @reporter = value
          @console
        end
        value.subscribe(console) if console
      end

      # Emits an event of +level+; see Reporter#emit.
      def emit(level, name, payload = {})
        reporter.emit(level, name, payload)
      end

      LEVELS.each do |level|
        define_method(level) { |name, payload = {}, **attributes| emit(level, name, payload.merge(attributes)) }
      end

      # Adds a listener; the block chooses the events that it gets.
      def subscribe(...)
        reporter.subscribe(...)
      end

      # Adds +listener+ while the block runs, for events of this execution and what it starts.
      def subscribed(listener, &block)
        reporter.subscribed(listener, &block)
      end

      # Removes a listener.
      def unsubscribe(...)
        reporter.unsubscribe(...)
      end

      # Adds attributes to the events of the block.
      def with_context(...)
        reporter.with_context(...)
      end
    end
  end
end
