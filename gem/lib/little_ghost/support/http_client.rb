# frozen_string_literal: true

module LittleGhost
  module Support
    # HTTP for integrations: streamed, with limits, deadlines and cancellation.
    #
    #   client = LittleGhost::Support::HTTPClient.new(base_url: "https://api.example.com/v1/", read_timeout: 30)
    #   client.request(uri: "status", deadline: Time.now + 5)
    #
    # HTTPS is required unless <tt>allow_insecure_http</tt> is set, which exposes keys and content: use it for a
    # server on this machine. Redirects are not followed. Every other status than a success raises
    # Providers::HTTPError, and so does a failing network; a body over the limit raises ProtocolError.
    class HTTPClient
      autoload :Exchange, "little_ghost/support/http_client/exchange"

      # Bytes of a complete response: 50 MiB.
      DEFAULT_MAX_RESPONSE_BYTES = 50 * 1_024 * 1_024
      # Bytes that an error keeps of its response.
      DEFAULT_MAX_ERROR_BODY_BYTES = 4_096

      # Timeouts are in seconds; +base_url+ is what relative addresses start from.
      def initialize(base_url: nil, open_timeout: 10, read_timeout: 120, allow_insecure_http: false,
        max_response_bytes: DEFAULT_MAX_RESPONSE_BYTES, max_error_body_bytes: DEFAULT_MAX_ERROR_BODY_BYTES)
        @base_url = base_url && "#{base_url.to_s.delete_suffix("/")}/"
        @open_timeout = open_timeout
        @read_timeout = read_timeout
        @allow_insecure_http = allow_insecure_http
        @max_response_bytes = max_response_bytes
        @max_error_body_bytes = max_error_body_bytes
      end

      # Sends a request and yields the parts of the body as they come; without a block, returns an Enumerator.
      # +label+ names the request in errors. Raises CancelledError and DeadlineExceededError.
      def each_chunk(uri:, method: :get, headers: {}, body: nil, deadline: nil, cancellation_token: nil,
        allow_insecure_http: false, label: "HTTP request", &block)
        address = address(uri, allow_insecure_http, label)
        chunks = InterruptibleStream.new(cancellation_token: cancellation_token, deadline: deadline) do |emit|
          exchange(address, label, deadline).run(method, headers, body) { |chunk| emit.call(chunk) }
        end
        return chunks.each unless block

        chunks.each(&block)
        nil
      end

      # Sends a request and returns the complete body, as bytes.
      def request(uri:, method: :get, headers: {}, body: nil, allow_insecure_http: false, cancellation_token: nil, deadline: nil)
        each_chunk(
          uri: uri, method: method, headers: headers, body: body, deadline: deadline,
          cancellation_token: cancellation_token, allow_insecure_http: allow_insecure_http
        ).inject(String.new(encoding: Encoding::BINARY)) { |whole, chunk| whole << chunk }
      end

      # Posts +body+ to +path+ below the base and yields the parts of the answer; without a block, returns an
      # Enumerator.
      def stream(path:, headers:, body:, cancellation_token:, deadline: nil, &block)
        each_chunk(
          uri: path.to_s.delete_prefix("/"), method: :post, headers: headers, body: body, deadline: deadline,
          cancellation_token: cancellation_token, &block
        )
      end

      # Names the base only.
      def inspect
        "#<#{self.class} #{@base_url}>"
      end

      private

      def exchange(address, label, deadline)
        Exchange.new(
          address, label: label, open_timeout: @open_timeout, read_timeout: @read_timeout, deadline: deadline,
          max_response_bytes: @max_response_bytes, max_error_body_bytes: @max_error_body_bytes
        )
      end

      def address(uri, insecure, label)
        require "uri"
        address = URI.parse(uri.to_s)
        address = URI.join(@base_url, uri.to_s) if address.relative? && @base_url
        unless address.is_a?(URI::HTTP) && !address.host.to_s.empty?
          raise ArgumentError, "#{label}: the address must be http or https, with a host"
        end
        return address if address.scheme == "https" || insecure || @allow_insecure_http

        raise ConfigurationError, "#{label}: #{address.host} is asked by plain http, which anybody on the way can read; " \
          "use https, or set allow_insecure_http for a server on this machine"
      rescue URI::Error
        raise ArgumentError, "#{label}: the address is no valid URI"
      end
    end
  end
end
