# frozen_string_literal: true

module LittleGhost
  module Models
    class Catalog
      # The public catalog models.dev.
      class ModelsDevSource < Source
        # +provider_adapters+ maps the names of connections to those of their adapters; +base_url+ names
        # a mirror.
        def initialize(provider_adapters:, base_url: nil)
          super(name: "models.dev")
          @provider_adapters = provider_adapters.to_h { |name, adapter| [name.to_s, adapter.to_s] }.freeze
          @base_url = base_url
        end

        # Facts about the models of all connections, or about +target+. Raises Providers::HTTPError or
        # ProtocolError.
        def refresh(target: nil)
          Native::JobWait.answer(Native::Job.models_dev(@provider_adapters, @base_url, target&.to_s))
        end
      end
    end
  end
end
