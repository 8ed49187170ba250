# frozen_string_literal: true

module LittleGhost
  module Network
    # What gateways of the engine share.
    module EngineGateway # :nodoc:
      # The engine knows it from the beginning.
      def register
      end

      def open(run: nil)
        attach(self)
        Native::JobWait.answer(@engine.open)
        self
      rescue Exception
        detach(self)
        raise
      end

      def close
        Native::JobWait.answer(@engine.close)
      ensure
        detach(self)
      end

      def validate!
        Native::JobWait.answer(@engine.validate)
      end

      def mounts
        @engine.description["mounts"].map { |mount| mount.transform_keys(&:to_sym) }
      end

      def environment = @engine.description["environment"]

      def proxy_socket = @engine.description["proxy_socket"]

      def proxy_mount_path = @engine.description["proxy_mount_path"]

      private

      def build_engine(provider, workspace, options)
        declaration = policy.declaration.merge("gateway" => provider)
        key = Native::HostObjects.key(self)
        @engine = Native::Gateway.declared(key, declaration, options.compact, workspace&.native, @answering&.questions)
      end
    end
  end
end
