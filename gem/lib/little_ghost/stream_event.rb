# frozen_string_literal: true

module LittleGhost
  # One thing that happened during a run. Text, tools, usage and endings look the same for every
  # provider.
  #
  #   event = LittleGhost::StreamEvent.build(:text_delta, text: "Hello")
  #   event.type        # => :text_delta
  #   event.data[:text] # => "Hello"
  #
  # +type+ is a Symbol; +data+ is a frozen Hash with Symbol keys, whose values must not be changed.
  # A run's stream ends with exactly one of +:run_stop+, +:run_error+, +:run_partial+ and
  # +:run_cancel+.
  class StreamEvent < Data.define(:type, :data)
    # Creates an event.
    def self.build(type, **data)
      new(type: type.to_sym, data: data.freeze)
    end
  end
end
