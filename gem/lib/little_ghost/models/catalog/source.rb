# frozen_string_literal: true

module LittleGhost
  module Models
    class Catalog
      # Where fresh facts about models come from. Subclass it and register an instance with
      # Configuration#catalog_source.
      #
      #   class ContractSource < LittleGhost::Models::Catalog::Source
      #     def initialize = super(name: "contract")
      #
      #     def refresh(target: nil)
      #       {"primary:openai/gpt-5.6-luna" => {pricing: {input: 0.15, output: 0.9}}}
      #     end
      #   end
      class Source
        # What provenance calls the source.
        attr_reader :name

        def initialize(name:)
          @name = name.to_s.dup.freeze
        end

        # Attributes that do not replace older values: name => +:union+, for Arrays whose entries are added.
        def attribute_merge_strategies
          {}
        end

        # The facts by target, of all models or at least of +target+: a Hash of Hashes. Raises whatever went
        # wrong; the catalog then stays as it is.
        def refresh(target: nil)
          raise AbstractMethodError, "#{self.class} must implement refresh(target:)"
        end
      end
    end
  end
end
