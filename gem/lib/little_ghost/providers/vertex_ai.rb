# frozen_string_literal: true

module LittleGhost
  module Providers
    # Gemini models in a project of Google Cloud.
    #
    #   provider = LittleGhost::Providers::VertexAI.new(
    #     model: "gemini-3-flash-preview", project: "my-project", access_token: token
    #   )
    #
    # +model+ is a name of Google's, or <tt>endpoints/ID</tt> of a tuned model. The format is the one of Gemini; the
    # models of other publishers have formats of their own and are refused.
    class VertexAI < Gemini
      autoload :CredentialResolver, "little_ghost/providers/vertex_ai/credential_resolver"

      # +location+ is a region, a multi-region (+us+, +eu+) or +global+. The proof of who asks is an +access_token+, or
      # else what +credential_resolver+ returns when it is called, before each attempt of a request: with a
      # +cancellation_token+ and a +deadline+ if it takes them. Takes the options of Gemini besides; an +api_key+ takes the
      # place of a token.
      def initialize(model:, project:, location: "global", access_token: nil, credential_resolver: nil, base_url: nil,
        **arguments)
        @own_options = {"project" => project, "location" => location, "access_token" => access_token}
        @own_parts = {credential_resolver: (credential_resolver if access_token.nil?)}
        super(api_key: nil, model: model, base_url: base_url, **arguments)
      end

      private

      attr_reader :own_options, :own_parts

      def adapter_name = "vertex_ai"
    end
  end
end
