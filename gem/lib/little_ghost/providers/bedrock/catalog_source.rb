# frozen_string_literal: true

module LittleGhost
  module Providers
    class Bedrock
      # Amazon Bedrock's own list of models in a region, and AWS's price list. Needs the permission
      # <tt>bedrock:ListFoundationModels</tt>; prices, which are asked for when one model is refreshed, need
      # <tt>pricing:GetProducts</tt>, and are left out without it.
      class CatalogSource < Models::Catalog::Source
        OPTIONS = %w[region profile endpoint credentials api_key].freeze
        private_constant :OPTIONS

        # The source of a connection whose options the block gives when they are needed.
        def self.of(provider, &options) # :nodoc:
          new(provider: provider, region: nil).tap { |source| source.instance_variable_set(:@options, options) }
        end

        # A source for the connection called +provider+ in +region+. +credential_resolver+ is called without arguments and
        # returns an object with +access_key_id+, +secret_access_key+ and +session_token+, such as
        # Bedrock::CredentialResolver, which is the default; signatures are made for the time of +clock+.
        #
        # An +http_client+ sends the requests in place of the library: it is called with +method:+, +url:+, +headers:+ and
        # +body:+, and returns an object with +status+ and +body+. It must not follow redirects.
        def initialize(provider:, region:, credential_resolver: nil, clock: -> { Time.now.utc }, http_client: nil)
          super(name: "bedrock:#{provider}")
          @provider = provider.to_s
          @options = -> { {region: region, credential_resolver: credential_resolver} }
          @clock = clock
          @http_client = http_client
        end

        # AWS names fewer modalities than the Converse API takes, so they are added to what is known.
        def attribute_merge_strategies
          {input_modalities: :union, output_modalities: :union}
        end

        # Facts about the models of the connection, or about +target+ with its prices. Raises CredentialError without
        # keys, Providers::HTTPError or ProtocolError.
        def refresh(target: nil)
          options = list_options
          return Native::JobWait.answer(Native::Job.own_models("bedrock", @provider, options, target&.to_s)) if @http_client.nil?

          inquiry = Native::Inquiry.bedrock_models(@provider, options, target&.to_s)
          while (request = Native::JobWait.answer(inquiry.question))
            response = @http_client.call(**request.transform_keys(&:to_sym))
            inquiry.answer(Integer(response.status), response.body.to_s)
          end
          inquiry.records
        end

        private

        def list_options
          given = @options.call.transform_keys(&:to_s)
          keys = given["credential_resolver"]&.call || given["credentials"]
          options = given.slice(*OPTIONS).compact.transform_values { |value| value.is_a?(Symbol) ? value.name : value }
          options["credentials"] = Native::AwsKeys.of(keys) if keys
          options.merge("signed_at" => @clock.call.to_f)
        end
      end
    end
  end
end
