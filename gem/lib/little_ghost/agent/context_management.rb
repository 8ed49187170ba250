# frozen_string_literal: true

module LittleGhost
  class Agent
    # Keeps long conversations within the model's context window: older messages are replaced by a
    # summary that the same model writes. Instructions and recent messages stay, and a tool call is never
    # separated from its result.
    #
    #   class CustomerSupportAgent < LittleGhost::Agent
    #     manage_context compression_threshold: 0.75, preserve_recent_messages: 12
    #   end
    #
    # It happens before a request that would fill the window to the threshold, and when a provider
    # reports that one was too long. The tokens of the summary count.
    module ContextManagement
      # Tokens of the window of a model about which nothing is known.
      DEFAULT_CONTEXT_WINDOW_TOKENS = 200_000
      # Share of the window from which messages are summarised.
      DEFAULT_COMPRESSION_THRESHOLD = 0.85
      # Share of the conversation that becomes the summary.
      DEFAULT_SUMMARY_RATIO = 0.3
      # Latest messages that stay as they are.
      DEFAULT_PRESERVE_RECENT_MESSAGES = 10

      # What agent classes declare.
      module ClassMethods
        # Turns context management on for the class and its subclasses. What is known of the model's window goes
        # before +context_window_tokens+. Raises ArgumentError unless it is positive, +compression_threshold+ above 0
        # and at most 1, +summary_ratio+ 0.1 to 0.8 and +preserve_recent_messages+ at least 2.
        def manage_context(
          context_window_tokens: DEFAULT_CONTEXT_WINDOW_TOKENS, compression_threshold: DEFAULT_COMPRESSION_THRESHOLD,
          summary_ratio: DEFAULT_SUMMARY_RATIO, preserve_recent_messages: DEFAULT_PRESERVE_RECENT_MESSAGES
        )
          options = {
            context_window_tokens: context_window_tokens, compression_threshold: compression_threshold,
            summary_ratio: summary_ratio, preserve_recent_messages: preserve_recent_messages
          }
          Native.check_agent("context_management" => options)
          @context_management = options.freeze
        end

        # The options in force, or nil.
        def context_management # :nodoc:
          @context_management || (superclass.context_management unless equal?(Agent) || @complete)
        end
      end
    end
  end
end
