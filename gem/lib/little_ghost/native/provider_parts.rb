# frozen_string_literal: true

module LittleGhost
  module Native
    # What an application put in the place of parts of a provider that the engine runs.
    class ProviderParts # :nodoc:
      # What each must answer to.
      METHODS = {
        transport: :stream, client: :converse_stream, sleeper: :call, on_retry: :call, credential_resolver: :call, clock: :call
      }.freeze
      # Stands for nobody who wants to be told.
      IGNORE = ->(*) {}
      # What adapters have to know of when they make a connection.
      NAMED = %w[client credential_resolver].freeze
      # Names as options have them.
      NAMES = METHODS.keys.flat_map { |name| [name, name.name] }.to_h { |name| [name, true] }.freeze
      private_constant :METHODS, :NAMED, :NAMES

      class << self
        # Whether the option +name+ of a connection is one.
        def include?(name)
          NAMES.key?(name)
        end

        # Whether any option of the connection is one.
        def any?(options)
          options.any? { |name, value| !value.nil? && include?(name) }
        end

        # +options+ as the engine can check them, which knows of parts only that they are there.
        def told(options)
          parts, plain = options.compact.partition { |name, _| include?(name) }
          plain.to_h.merge(parts.to_h.slice(*NAMED).transform_values { true })
        end
      end

      # +spelling+ lists names of headers as a transport is told them; others are in lower case.
      def initialize(spelling: [], **parts)
        @spelling = spelling.to_h { |name| [name.to_s.downcase, name.to_s] }
        @parts = parts.reject { |_, part| part.nil? || IGNORE.equal?(part) }.freeze
        @parts.each do |name, part|
          method = METHODS.fetch(name)
          raise ConfigurationError, "#{name} must be an object with #{method}, got #{part.class}" unless part.respond_to?(method)
        end
        raise ConfigurationError, "a client sends requests itself; leave out the transport" if @parts.key?(:client) && @parts.key?(:transport)
      end

      # Their names, as the engine knows them.
      def names
        @parts.keys.map(&:name)
      end

      # The options that stand for them.
      def options
        names.intersection(NAMED).to_h { |name| [name, true] }
      end

      # What carries requests.
      def transport
        @parts[:transport] || ClientTransport.new(@parts.fetch(:client))
      end

      # The headers of a request as a transport is told them.
      def spelled(headers)
        headers.transform_keys { |name| @spelling.fetch(name, name) }
      end

      # Tells of a failed attempt.
      def retrying(payload, exceptions)
        @parts.fetch(:on_retry).call(payload["attempt"], exceptions.fetch(payload["error"]), payload["delay"])
        nil
      end

      # Does what the engine asks for besides.
      def perform(payload, token)
        case payload["op"]
        when "sleeper" then wait(payload["seconds"])
        when "clock" then time(@parts.fetch(:clock).call)
        when "credential_resolver" then credentials(payload["deadline_at"], token)
        else raise Error, "the engine asked for #{payload["op"].inspect}; the gem and its native library do not fit together"
        end
      end

      # Without them: they may hold credentials.
      def inspect
        "#<#{self.class} #{names.join(", ")}>"
      end

      private

      def wait(seconds)
        @parts.fetch(:sleeper).call(seconds)
        nil
      end

      def time(value)
        seconds = value.to_f if value.is_a?(Time) || value.is_a?(Numeric)
        return seconds if seconds&.finite?

        raise ConfigurationError, "the clock must return a Time, got #{seconds || value.class}"
      end

      def credentials(deadline_at, token)
        known = {cancellation_token: token, deadline: deadline_at && Time.at(deadline_at)}
        found = Keywords.call(@parts.fetch(:credential_resolver), **known)
        return AwsKeys.of(found) unless found.is_a?(String)
        return found if found.dup.force_encoding(Encoding::UTF_8).valid_encoding?

        raise CredentialError, "the credential_resolver must return a token of text; it returned bytes that are no UTF-8"
      end
    end
  end
end
