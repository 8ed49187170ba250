# frozen_string_literal: true

module LittleGhost
  module Support
    # Lets the content of requests and answers into telemetry: redacted, scrubbed and bounded. Nothing is
    # captured before an application installs an enabled policy:
    #
    #   policy = LittleGhost::Support::ContentCapture.new(
    #     enabled: true, max_bytes: 16_384, redactions: [ENV.fetch("API_TOKEN")]
    #   )
    #   LittleGhost::Instrumentation.capture_content(policy)
    #
    # Captured content is what users and models wrote. Redaction and a scrubber cannot recognise
    # everything that is sensitive in it.
    class ContentCapture
      KINDS = %i[input output exception tool_definitions].freeze
      UNSERIALIZABLE = '"[unserializable]"'
      MAX_DEPTH = 100
      private_constant :KINDS, :UNSERIALIZABLE, :MAX_DEPTH

      # A policy that never captures anything.
      def self.disabled
        new
      end

      # Each captured attribute has at most +max_bytes+ bytes, 64 or more; nil is no bound. +scrubber+ is called
      # with an already redacted value, and with its kind before it when it takes two arguments; what it
      # returns is redacted again. For +redactions+ see Redactor. Raises ArgumentError for another bound.
      def initialize(enabled: false, max_bytes: nil, scrubber: nil, redactions: [])
        literals = Array(redactions).compact.map { |literal| Native::Text.utf8(literal.to_s) }
        @enabled = enabled == true
        @scrubber = scrubber
        @native = Native::ContentCapture.new(max_bytes.nil? ? nil : [Integer(max_bytes), 0].max, literals)
      end

      # Whether anything is captured.
      def enabled?
        @enabled
      end

      # Attributes for those of +values+ that are there: <tt>:input</tt>, <tt>:output</tt>, <tt>:exception</tt> and
      # <tt>:tool_definitions</tt> become <tt>:diagnostic_input</tt> and so on, Strings of JSON. Images and documents
      # are described by type and size. Empty for a disabled policy.
      def capture(values)
        return {} unless enabled?

        values.each_pair.with_object({}) do |(kind, value), attributes|
          kind = kind.to_sym
          attributes[:"diagnostic_#{kind}"] = text(kind, value) if KINDS.include?(kind) && !value.nil?
        end
      end

      # Never shows the secrets that it knows.
      def inspect
        "#<#{self.class} #{enabled? ? "enabled" : "disabled"}>"
      end

      private

      # A value that cannot be written must not break the work that it tells about.
      def text(kind, value)
        @native.capture(kind.name, @scrubber ? scrub(kind, @native.redact(plain(value))) : plain(value))
      rescue StandardError, SystemStackError
        UNSERIALIZABLE
      end

      def scrub(kind, value)
        plain(two_arguments? ? @scrubber.call(kind, value) : @scrubber.call(value))
      end

      def two_arguments?
        callable = @scrubber.respond_to?(:arity) ? @scrubber : @scrubber.method(:call)
        callable.arity == 2 || callable.arity == -3
      end

      def plain(value, depth = 0)
        raise ArgumentError, "the value is nested too deep" if depth > MAX_DEPTH

        case value
        when nil, true, false, Numeric then value
        when String then Native::Text.utf8(value)
        when Symbol then value.name
        when Exception then exception(value)
        when Array then value.map { |item| plain(item, depth + 1) }
        when Hash then value.each_pair.to_h { |key, item| [Native::Text.utf8(key.to_s), plain(item, depth + 1)] }
        else
          # Content blocks have a form of their own, in which media can be told from text.
          form = %i[serialize to_h].find { |name| value.respond_to?(name) }
          raise TypeError, "a #{value.class} is no plain data" if form.nil?

          plain(value.public_send(form), depth + 1)
        end
      end

      def exception(error)
        {
          "type" => error.class.name.to_s,
          "message" => Native::Text.utf8(error.message.to_s),
          "stacktrace" => error.backtrace && Native::Text.utf8(error.backtrace.join("\n"))
        }.compact
      end
    end
  end
end
