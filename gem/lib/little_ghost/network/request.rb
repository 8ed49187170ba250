# frozen_string_literal: true

module LittleGhost
  module Network
    # What an authorizer is told of an HTTP request: +method+ in upper case, +scheme+, +host+ and +port+ of the allowed
    # destination, +path+ with the query exactly as the server will get it, and the +headers+ that the policy forwards, a
    # Hash with names in lower case. There is no body.
    class Request < Data.define(:method, :scheme, :host, :port, :path, :headers)
      # Raises ArgumentError for an empty part, an impossible port or header.
      def initialize(method:, scheme:, host:, port:, path:, headers: {})
        given = {
          "method" => method.to_s, "scheme" => scheme.to_s, "host" => host.to_s, "port" => port, "path" => path.to_s,
          "headers" => headers.to_h { |name, value| [name.to_s, value.to_s] }
        }
        told = Native.network_request(given).transform_keys(&:to_sym)
        super(**told, headers: told[:headers].freeze)
      end

      # Hides the query and the values of headers, which may be secrets.
      def inspect
        "#<#{self.class} #{method} #{scheme}://#{host}:#{port}#{path[/\A[^?]*/]} headers=#{headers.keys}>"
      end
      alias_method :to_s, :inspect
    end
  end
end
