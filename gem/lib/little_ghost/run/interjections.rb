# frozen_string_literal: true

module LittleGhost
  class Run
    # What may be said to an agent while it works.
    module Interjections
      # What is wrong with an interjection that would wait for itself.
      FROM_INSIDE = "the agent waits for this code and cannot answer it; interject from another thread or fiber"

      # Says +message+ to the agent at work and waits for what the model answers to it: a value with +text+,
      # +tool_calls?+ (whether the model goes on with tools), +interjection_ids+ and +batch_key+. Text, images and
      # documents may be said. The same +interjection_id+ with the same message is delivered once;
      # consecutive messages with the same +batch_key+ are delivered together. Raises
      # AgentInterjectionError before the agent is ready, after it finished, when it finishes first, and in the run's own
      # consumer, callbacks and tools, for which the agent waits;
      # CancelledError or DeadlineExceededError when the caller stops waiting, which takes an undelivered message
      # back.
      def interject(message, interjection_id: nil, batch_key: nil, metadata: {},
        cancellation_token: Support::CancellationToken.new, deadline: nil)
        deliver(
          message, interjection_id: interjection_id, batch_key: batch_key, metadata: metadata,
          cancellation_token: cancellation_token, deadline: deadline
        )
      end

      def deliver(message, **fields) # :nodoc:
        interjection = Interjection.new(message, **fields)
        handle = @handle
        raise AgentInterjectionError, "the run is over; it takes no more interjections" if handle.nil?
        raise AgentInterjectionError, FROM_INSIDE if Nesting.include?(self)

        interjection.deliver(handle)
      end
    end
  end
end
