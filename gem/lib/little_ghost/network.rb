# frozen_string_literal: true

module LittleGhost
  # What lets child processes of a sandbox reach some destinations and no others. It concerns neither providers nor tools
  # in this process, and enforces something only where the sandbox closes every other way out.
  #
  #   LittleGhost.configure do |config|
  #     config.sandbox = {
  #       provider: :native,
  #       network: {
  #         mode: :allowlist, allow: ["api.example.com:443"], inspection: :http,
  #         authorizer: ->(request) {
  #           next LittleGhost::Network::Decision.deny(reason: "read only") unless request.method == "GET"
  #
  #           LittleGhost::Network::Decision.allow(set_headers: {"authorization" => "Bearer #{ENV.fetch("API_TOKEN")}"})
  #         },
  #         mutation_headers: ["authorization"]
  #       }
  #     }
  #   end
  #
  # The program inside never sees the token. It takes Envoy on the PATH.
  module Network
    autoload :Attachment, "little_ghost/network/attachment"
    autoload :Decision, "little_ghost/network/decision"
    autoload :EngineGateway, "little_ghost/network/engine_gateway"
    autoload :EnvoyGateway, "little_ghost/network/envoy_gateway"
    autoload :ExternalGateway, "little_ghost/network/external_gateway"
    autoload :Gateway, "little_ghost/network/gateway"
    autoload :Request, "little_ghost/network/request"
  end
end
