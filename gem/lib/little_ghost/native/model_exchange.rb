# frozen_string_literal: true

module LittleGhost
  module Native
    # One model request outside a run. It is driven by a Pump like a run is.
    class ModelExchange # :nodoc:
      # The engine that requests without a runtime use: it has no connections of its own.
      def self.engine
        @engine ||= Engine.new({})
      end

      attr_reader :runtime, :entrypoint, :provider_parts

      # +parts+ are the provider's that the model belongs to.
      def initialize(model, request, parts: nil)
        @model = model
        @request = request
        @provider_parts = parts
        @runtime = @entrypoint = nil
      end

      # Yields the events and returns the response. Raises what went wrong.
      def call(&consumer)
        invocation = {"message" => "(one model request)", "deadline_at" => @request.deadline&.to_f}.compact
        handle = Handle.new(engine, invocation, @request.cancellation_token.native)
        Pump.new(self, handle).drive(consumer)
        nil
      end

      # What the Pump asks of a run.

      def engine_kind = "model"

      def engine_hooks = []

      def engine_parent = nil

      def open_entrypoint
        {"model" => @model, "request" => ModelValues.whole_request(@request)}
      end

      def settle(_report, _exceptions)
      end

      def finish(_report, _exceptions)
      end

      private

      # Under Testing the layers of the current block apply here too.
      def engine
        engine = self.class.engine
        defined?(Testing::Overlay) ? Testing::Overlay.layers.reduce(engine) { |inner, layer| layer.over(inner) } : engine
      end
    end
  end
end
