# frozen_string_literal: true

module LittleGhost
  module Network
    # What an authorizer answers: whether the request is +allowed+; the HTTP +status+ and the +reason+ that the program gets
    # otherwise; a Hash +set_headers+ and an Array +remove_headers+ of what the server gets to see besides. The policy's
    # +mutation_headers+ must name those headers. Names are in lower case.
    class Decision < Data.define(:allowed, :status, :reason, :set_headers, :remove_headers)
      class << self
        # Lets the request through.
        def allow(set_headers: {}, remove_headers: [])
          new(allowed: true, status: 200, set_headers: set_headers, remove_headers: remove_headers)
        end

        # Rejects the request. +status+ is one from 400 to 599; the program gets 403 in place of those from 500. Nothing secret
        # belongs in +reason+, one line of at most 1,000 bytes.
        def deny(status: 403, reason: nil)
          new(allowed: false, status: status, reason: reason)
        end
      end

      # Raises ArgumentError for a status that does not go with +allowed+, and for headers that belong to the connection or
      # cannot be sent.
      def initialize(allowed:, status:, reason: nil, set_headers: {}, remove_headers: [])
        decided = Native.network_decision(
          {
            "allowed" => allowed, "status" => status, "reason" => reason,
            "set_headers" => set_headers.to_h.transform_keys(&:to_s), "remove_headers" => remove_headers.map(&:to_s)
          }
        )
        super(
          allowed: allowed, status: status, reason: decided["reason"], set_headers: decided["set_headers"].freeze,
          remove_headers: decided["remove_headers"].freeze
        )
      end

      # Whether the request goes on.
      def allowed?
        allowed
      end

      # Hides the values of headers, which may be secrets.
      def inspect
        "#<#{self.class} allowed=#{allowed} status=#{status} reason=#{reason.inspect} " \
          "set_headers=#{set_headers.keys} remove_headers=#{remove_headers}>"
      end
      alias_method :to_s, :inspect
    end
  end
end
