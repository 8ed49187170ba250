# frozen_string_literal: true

module LittleGhost
  # The events of a run that begins when they are first asked for.
  #
  #   stream = SupportAgent.stream_ask("Where is order 481?")
  #   run = stream.each { |event| print event.data[:text] if event.type == :text_delta }
  #
  # Read it with #each and the rest of Enumerable, or step by step with #next. It can be read once.
  # Leaving early cancels the run; so does forgetting a stream that was read step by step.
  class EventStream
    include Enumerable

    def initialize(&build) # :nodoc:
      @build = build
      @run = @steps = nil
    end

    # The Run behind the events. Asking for it builds it, which raises what ask would raise for input
    # that cannot make a run; it does not start it.
    def run
      @run ||= @build.call
    end

    # Yields every event and returns the finished Run. Without a block, an Enumerator.
    def each(&consumer)
      return enum_for(:each) unless consumer

      run.each(&consumer)
    end

    # The next event. Raises StopIteration after the last one, with the Run as its result.
    def next
      steps.next
    end

    # The next event, which stays the next one.
    def peek
      steps.peek
    end

    # As Enumerator#with_index.
    def with_index(offset = 0, &block)
      enum_for(:each).with_index(offset, &block)
    end

    # As Enumerator#with_object.
    def with_object(object, &block)
      enum_for(:each).with_object(object, &block)
    end

    # Unknown, as for any stream.
    def size
    end

    # Names the stream without its content.
    def inspect
      "#<#{self.class} #{@run.nil? ? "not started" : @run.inspect}>"
    end

    private

    def steps
      @steps ||= enum_for(:each)
    end
  end
end
