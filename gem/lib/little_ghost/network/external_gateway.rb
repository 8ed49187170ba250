# frozen_string_literal: true

module LittleGhost
  module Network
    # Shows a proxy of the application to programs in a sandbox. The application owns its policy, credentials, readiness,
    # logs and cleanup, and nothing here attests that it enforces anything.
    class ExternalGateway < Gateway
      include EngineGateway

      # Names of the workspace's paths that it uses, Symbols.
      attr_reader :runtime_paths

      # +runtime_paths+ names paths of +workspace+ that programs see and tools do not; they are the same inside and outside.
      # +proxy_mount_path+ is the path of the proxy's Unix socket in one of them. +environment+ are variables for programs.
      # +validate+ is called before each program, on a thread of its own, and raises to keep it from starting.
      def initialize(policy:, workspace:, runtime_paths:, proxy_mount_path:, environment: {}, validate: nil)
        super(policy: policy)
        names = runtime_paths.respond_to?(:keys) ? runtime_paths.keys : Array(runtime_paths)
        @runtime_paths = names.map(&:to_sym).freeze
        @answering = Native::Answering.new { validate.call.then { nil } } if validate
        build_engine(
          "external", workspace,
          "runtime_paths" => @runtime_paths, "proxy_mount_path" => proxy_mount_path.to_s,
          "environment" => environment.to_h { |name, value| [name.to_s, value.to_s] }
        )
      end

      # Variables for programs, as they were given.
      def environment
        super
      end

      # Remembers which directories its paths are. The workspace is open.
      def open(run: nil)
        super
      end

      # The path of the proxy's socket.
      def proxy_mount_path
        super
      end

      # Raises when one of the directories was replaced since #open, or +validate+ does.
      def validate!
        super
      end
    end
  end
end
