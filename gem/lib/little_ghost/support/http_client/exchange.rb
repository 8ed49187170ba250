# frozen_string_literal: true

require "net/http"
require "openssl"

module LittleGhost
  module Support
    class HTTPClient
      # One request and its response. It blocks; an InterruptibleStream stops it.
      class Exchange # :nodoc:
        NETWORK = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError,
          Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, Zlib::Error].freeze
        private_constant :NETWORK

        def initialize(address, label:, open_timeout:, read_timeout:, deadline:, max_response_bytes:, max_error_body_bytes:)
          @address = address
          @label = label
          @open_timeout = open_timeout
          @read_timeout = read_timeout
          @deadline = deadline
          @max_response_bytes = max_response_bytes
          @max_error_body_bytes = max_error_body_bytes
        end

        # Yields the parts of the body of a successful response.
        def run(method, headers, body, &block)
          http.start do |connection|
            connection.request(request(method, headers, body)) { |response| read(response, &block) }
          end
        rescue *NETWORK => error
          raise Providers::HTTPError.new("#{@label} failed: #{error.class}")
        end

        private

        def http
          http = Net::HTTP.new(@address.host, @address.port)
          http.use_ssl = @address.scheme == "https"
          http.open_timeout = remaining(@open_timeout)
          http.read_timeout = http.write_timeout = remaining(@read_timeout)
          http.max_retries = 0
          http
        end

        def remaining(seconds)
          return seconds if @deadline.nil?

          rest = [@deadline - Time.now, 0.001].max
          seconds.nil? ? rest : [seconds, rest].min
        end

        def request(method, headers, body)
          name = method.to_s.upcase
          sent = headers.to_h { |key, value| [key.to_s, value.to_s] }.reject { |_, value| value.empty? }
          sent["Content-Type"] = "application/octet-stream" unless body.nil? || sent.keys.any? { |key| key.casecmp?("content-type") }
          # The last argument keeps Net::HTTP from asking for compression, whose bytes no limit would count.
          request = Net::HTTPGenericRequest.new(name, !body.nil?, name != "HEAD", @address.request_uri, {"Accept-Encoding" => "identity"}.merge(sent))
          request.body = body unless body.nil?
          request
        end

        def read(response, &block)
          return fail_with(response) unless response.is_a?(Net::HTTPSuccess)

          bytes = 0
          response.read_body do |chunk|
            bytes += chunk.bytesize
            if bytes > @max_response_bytes
              raise ProtocolError, "#{@label}: the response is over the limit of #{@max_response_bytes} bytes"
            end

            block.call(chunk) unless chunk.empty?
          end
        end

        def fail_with(response)
          body = String.new(encoding: Encoding::BINARY)
          response.read_body do |chunk|
            body << chunk
            break if body.bytesize >= @max_error_body_bytes
          end
          body = body.byteslice(0, @max_error_body_bytes)
          raise Providers::HTTPError.new("#{@label} failed with HTTP status #{response.code}", status: response.code.to_i, body: body)
        end
      end
    end
  end
end
