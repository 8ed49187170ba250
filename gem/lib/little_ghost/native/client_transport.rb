# frozen_string_literal: true

require "json"

module LittleGhost
  module Native
    # Carries Converse requests by a client of AWS's SDK, or by anything else with its +converse_stream+: keys in snake
    # case, and bytes as bytes.
    class ClientTransport # :nodoc:
      # Their content belongs to the application; its keys are not renamed.
      FOREIGN = %w[input json additionalModelRequestFields additional_model_response_fields requestMetadata promptVariables].freeze
      BYTES = %w[bytes redactedContent].freeze
      private_constant :FOREIGN, :BYTES

      def initialize(client)
        @client = client
      end

      # Yields the events as the engine reads them.
      def stream(path:, body:, **)
        model = URI.decode_uri_component(path[%r{\Amodel/([^/]+)/}, 1])
        response = @client.converse_stream(model_id: model, **asked(JSON.parse(body)))
        stream = response.respond_to?(:stream) ? response.stream : response
        raise ProtocolError, "#{@client.class}#converse_stream must return an object whose stream has each" unless stream.respond_to?(:each)

        stream.each { |event| yield frame(event) }
      end

      private

      def asked(value)
        return value.map { |nested| asked(nested) } if value.is_a?(Array)
        return value unless value.is_a?(Hash)

        value.to_h do |key, nested|
          given = BYTES.include?(key) && nested.is_a?(String) ? nested.unpack1("m") : nested
          [Naming.underscore(key).to_sym, FOREIGN.include?(key) || !given.equal?(nested) ? given : asked(nested)]
        end
      end

      # An event is <tt>{event_type: ..., fields}</tt> or <tt>{type => fields}</tt>, or has a to_h that is.
      def frame(event)
        raise ProtocolError, "#{@client.class} must yield events that have to_h, got #{event.class}" unless event.respond_to?(:to_h)

        fields = told(event.to_h)
        name = fields.delete("eventType") || event_type(event)
        name, fields = fields.first if name.nil?
        name = camelize(name.to_s)
        raise ProtocolError, "an event of #{@client.class} has no type" if name.empty?

        "event: #{name}\ndata: #{JSON.generate(fields || {})}\n\n"
      end

      def event_type(event)
        event.event_type if event.respond_to?(:event_type)
      end

      def told(value)
        case value
        when Hash then value.to_h { |key, nested| told_pair(key.to_s, nested) }
        when Array then value.map { |nested| told(nested) }
        when Symbol then value.name
        when String, Numeric, true, false, nil then value
        else value.respond_to?(:to_h) ? told(value.to_h) : value.to_s
        end
      end

      def told_pair(key, value)
        return [camelize(key), value] if FOREIGN.include?(key)

        name = camelize(key)
        [name, BYTES.include?(name) && value.is_a?(String) ? [value].pack("m0") : told(value)]
      end

      def camelize(name)
        name.gsub(/_([a-z0-9])/) { Regexp.last_match(1).upcase }
      end
    end
  end
end
