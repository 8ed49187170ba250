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
      # +location+ is a region, a multi-region (+us+, +eu+) or +global+. The proof of who asks is an +access_token+, or
      # else what +credential_resolver+ returns when it is called, before each request. Takes the options of Gemini
      # besides; an +api_key+ takes the place of a token.
      def initialize(model:, project:, location: "global", access_token: nil, credential_resolver: nil, base_url: nil,
        **arguments)
        super(api_key: nil, model: model, base_url: base_url, **arguments)
        @credential_resolver = credential_resolver
        own = {"project" => project, "location" => location, "access_token" => access_token}
        @options = @options.merge(own.compact)
      end

      # The connection as the engine makes it.
      def to_engine # :nodoc:
        return super if @credential_resolver.nil? || @options.key?("access_token")

        {**super, "options" => {**@options, "access_token" => @credential_resolver.call}}
      end

      private

      def adapter_name = "vertex_ai"
    end
  end
end
