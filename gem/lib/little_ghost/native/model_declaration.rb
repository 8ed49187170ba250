# frozen_string_literal: true

module LittleGhost
  module Native
    # A model that is written in Ruby, as an agent's declaration describes it to the engine.
    module ModelDeclaration # :nodoc:
      class << self
        def of(model)
          return Model.of(model).to_engine if model.is_a?(Providers::Base)
          return model.to_engine if model.respond_to?(:to_engine) && !model.is_a?(Model)
          return model.to_engine if model.is_a?(Model) && model.provider.respond_to?(:to_engine)

          unless model.respond_to?(:target) && model.respond_to?(:capabilities)
            raise ConfigurationError, "#{model.class} has stream but is no model; include LittleGhost::ModelInterface"
          end

          {"host" => described(model)}
        end

        private

        def described(model)
          details = model.details
          {
            "target" => model.target.to_s, "model_id" => model.model_id.to_s, "role" => model.role&.to_s,
            "capabilities" => model.capabilities.to_h,
            "details" => details.respond_to?(:to_engine) && details.known? ? details.to_engine : {}
          }
        end
      end
    end
  end
end
