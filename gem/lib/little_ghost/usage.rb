# frozen_string_literal: true

module LittleGhost
  # Token counts, the same for every provider. Every token is in exactly one field:
  # +input_tokens+ leaves out cache reads and writes, +output_tokens+ leaves out reasoning.
  class Usage
    FIELDS = %i[input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens].freeze
    private_constant :FIELDS

    # Uncached prompt tokens.
    attr_reader :input_tokens
    # Visible completion tokens.
    attr_reader :output_tokens
    # Prompt tokens served from the provider's cache.
    attr_reader :cache_read_tokens
    # Prompt tokens written to the provider's cache.
    attr_reader :cache_write_tokens
    # Hidden reasoning tokens.
    attr_reader :reasoning_tokens

    # Anything that is not a count becomes zero.
    def initialize(input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0)
      @input_tokens = count(input_tokens)
      @output_tokens = count(output_tokens)
      @cache_read_tokens = count(cache_read_tokens)
      @cache_write_tokens = count(cache_write_tokens)
      @reasoning_tokens = count(reasoning_tokens)
      freeze
    end

    # Adds field by field.
    def +(other)
      Usage.new(**FIELDS.to_h { |field| [field, public_send(field) + other.public_send(field)] })
    end

    # Sum of all five fields.
    def total_tokens
      input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + reasoning_tokens
    end

    # Every field and +total_tokens+, under Symbols.
    def to_h
      FIELDS.to_h { |field| [field, public_send(field)] }.merge(total_tokens: total_tokens)
    end

    private

    def count(value)
      value.is_a?(Integer) && value.positive? ? value : 0
    end
  end
end
