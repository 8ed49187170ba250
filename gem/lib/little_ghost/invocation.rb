# frozen_string_literal: true

module LittleGhost
  # One application request: the message, and what the application knows about it.
  #
  #   invocation = LittleGhost::Invocation.new(message: "Why is transfer 481 pending?", account_id: "a-1")
  #   invocation.message.text # => "Why is transfer 481 pending?"
  #   invocation[:account_id] # => "a-1"
  #   invocation.account_id   # => "a-1"
  #
  # String and Symbol keys address the same field. Fields that the framework does not know stay
  # available by #[] and by readers and writers of their name. Missing identifiers are
  # generated. The actor is never inferred: pass +actor_id+ from your own authentication.
  #
  # Raises InvocationError for a payload, message or deadline that is not usable.
  class Invocation
    EMPTY = [nil, "", {}, []].freeze
    # Deeper values are refused: almost always they contain themselves.
    MAX_DEPTH = 100
    # What values raise that cannot be part of a request.
    UNUSABLE = [ArgumentError, TypeError, EncodingError].freeze
    private_constant :EMPTY, :MAX_DEPTH, :UNUSABLE

    def initialize(env = {})
      raise InvocationError, "the payload must be a Hash, got #{env.class}" unless env.is_a?(Hash)

      @env = {}
      @deadline = nil
      env.each_pair { |key, value| self[key] = (value.is_a?(Array) && name(key) == "history") ? lines(value) : copy(value) }
      self.message = nil unless @env.key?("message")
      fill_identifiers
      @env["history"] ||= [].freeze
      %w[settings context metadata].each { |field| @env[field] ||= {} }
    end

    # The value under +key+, or nil.
    def [](key)
      @env[name(key)]
    end

    # Stores +value+ under +key+. +message+ and +history+ are normalized first.
    def []=(key, value)
      case key = name(key)
      when "message" then self.message = value
      when "history" then self.history = value
      when "deadline_at" then self.deadline_at = value
      else @env[key] = value
      end
    end

    def fetch(key, *defaults, &block)
      @env.fetch(name(key), *defaults, &block)
    end

    def dig(key, *names)
      @env.dig(name(key), *names)
    end

    def key?(key)
      @env.key?(name(key))
    end

    %w[actor_id context invocation_id metadata run_id session_id settings].each do |field|
      define_method(field) { @env[field] }
      define_method(:"#{field}=") { |value| @env[field] = value }
    end

    # The current Message.
    def message
      @env["message"]
    end

    def message=(value)
      @env["message"] = user_message(value)
    end

    # Frozen Array of the Messages before the current one.
    def history
      @env["history"]
    end

    def history=(value)
      entries = value.is_a?(Hash) ? [value] : Array(value)
      @env["history"] = entries.each_with_index.map { |entry, index| earlier(entry, index) }.freeze
    end

    # When the run must end, as a Time, or nil. ISO 8601 text is parsed on first access.
    def deadline_at
      value = @env["deadline_at"]
      return if value.nil?

      @deadline ||= time(value)
    end

    def deadline_at=(value)
      @deadline = nil
      @env["deadline_at"] = value
    end

    # A copy of all fields that may be changed freely.
    def to_h
      copy(@env)
    end

    # What the engine needs to know.
    def to_engine(include_agent_events = false) # :nodoc:
      {
        "message" => message.to_engine, "history" => history.map(&:to_engine), "settings" => settings,
        "run_id" => run_id, "invocation_id" => invocation_id, "session_id" => session_id,
        "deadline_at" => deadline_at&.to_f, "include_agent_events" => include_agent_events
      }
    end

    # This request with other fields, as they are, for a participant of an assembly.
    def for_part(**fields) # :nodoc:
      env = @env.merge(fields.transform_keys(&:name))
      dup.tap do |copy|
        copy.instance_variable_set(:@env, env)
        copy.instance_variable_set(:@deadline, nil)
      end
    end

    # Names the request without its content.
    def inspect
      "#<#{self.class} run_id=#{run_id.inspect} session_id=#{session_id.inspect}>"
    end

    private

    def method_missing(method, *arguments)
      key = method.name
      if key.end_with?("=") && arguments.length == 1
        self[key.delete_suffix("=")] = arguments.first
      elsif arguments.empty? && @env.key?(key)
        @env[key]
      else
        super
      end
    end

    def respond_to_missing?(method, include_private = false)
      method.end_with?("=") || @env.key?(method.name) || super
    end

    def name(key)
      case key
      when String then key
      when Symbol then key.name
      else raise InvocationError, "keys are Strings or Symbols, got #{key.class}"
      end
    end

    def user_message(value)
      message = EMPTY.include?(value) ? nil : read_message(value)
      return message unless message.nil? || blank?(message)

      raise InvocationError, "message is blank; pass the text, image or document the agent should answer"
    end

    def read_message(value)
      case value
      when Message then value
      when Hash then hash_message(value)
      else Message.new(role: :user, content: value)
      end
    rescue *UNUSABLE => error
      raise InvocationError, error.message
    end

    def hash_message(hash)
      content = hash.key?(:type) || hash.key?("type")
      content ? Message.new(role: :user, content: hash) : Message.coerce(hash)
    end

    def blank?(message)
      message.content.all? { |block| block.is_a?(Content::Text) && !block.text.to_s.b.match?(/\S/n) }
    end

    def fill_identifiers
      @env["run_id"] = Native::Identifier.generate if @env["run_id"].to_s.empty?
      %w[invocation_id session_id].each { |field| @env[field] = run_id if @env[field].to_s.empty? }
    end

    def time(value)
      case value
      when Time then value
      when Numeric then Time.at(value)
      when String
        require "time"
        Time.iso8601(value)
      else
        raise ArgumentError unless value.respond_to?(:to_time)

        value.to_time
      end
    rescue ArgumentError, RangeError
      raise InvocationError, "deadline_at must be a Time or ISO 8601 text, got #{value.class}"
    end

    def earlier(entry, index)
      Message.coerce(entry)
    rescue *UNUSABLE => error
      raise InvocationError, "history[#{index}]: #{error.message}"
    end

    def copy(value, depth = 0)
      if depth > MAX_DEPTH
        raise InvocationError, "the payload is nested deeper than #{MAX_DEPTH} levels; does it contain itself?"
      end

      case value
      when Hash then value.each_pair.with_object({}) { |(key, nested), hash| hash[name(key)] = copy(nested, depth + 1) }
      when Array then value.map { |nested| copy(nested, depth + 1) }
      when String then value.dup
      when Message, Module, Proc, Method, Support::CancellationToken then value
      else duplicate(value)
      end
    end

    # Most of a long history is plain text, which is copied in one step.
    def lines(history)
      history.map do |entry|
        next copy(entry, 1) unless entry.is_a?(Hash) && entry.length == 2

        text = entry[:content] || entry["content"]
        text.instance_of?(String) ? entry.transform_values { |value| value.equal?(text) ? text.dup : value } : copy(entry, 1)
      end
    end

    def duplicate(value)
      value.frozen? ? value : value.dup
    rescue StandardError
      value
    end
  end
end
