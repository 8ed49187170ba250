# frozen_string_literal: true

module LittleGhost
  module Sandboxes
    # The sandbox of the operating system: Seatbelt on macOS, Bubblewrap on Linux. Elsewhere there is none, and nothing
    # less stands in for it.
    class Native < Sandbox
      DELEGATED = %i[list read replace scope write execute_program start_program].freeze
      private_constant :DELEGATED

      # Whether the sandbox of +platform+ can be used: <tt>{available:, reason:, capabilities:}</tt>.
      def self.probe(platform: RUBY_PLATFORM, **options)
        backend(platform).probe(platform: platform, **options)
      rescue UnsupportedPlatformError => error
        none = Sandbox::Capabilities.new(features: [], network_modes: [])
        {available: false, reason: error.message, capabilities: none}
      end

      # The class for +platform+. Raises UnsupportedPlatformError when there is none.
      def self.backend(platform) # :nodoc:
        case platform
        when /darwin|macos/ then Seatbelt
        when /linux/ then Bubblewrap
        else raise UnsupportedPlatformError, "there is no sandbox for #{platform}; Linux and macOS have one"
        end
      end

      # +options+ are those of every sandbox and of the one of +platform+.
      def initialize(workspace:, platform: RUBY_PLATFORM, **options)
        super(workspace: workspace, **options.slice(:policy, :profiles, :limits))
        @backend = self.class.backend(platform).new(workspace: workspace, platform: platform, **options)
      end

      # The Seatbelt or Bubblewrap that does the work.
      attr_reader :backend # :nodoc:

      # What it can do.
      def capabilities
        backend.capabilities
      end

      # Releases what it holds.
      def close
        backend.close
      end

      # What it enforces.
      def effective_policy
        backend.effective_policy
      end

      # Makes it ready and returns it. Raises DependencyError when something that it needs is missing.
      def open(run: nil)
        backend.open(run: run)
        self
      end

      ##
      # :method: execute_program
      # See Sandbox#execute_program.

      ##
      # :method: start_program
      # See Sandbox#start_program.

      DELEGATED.each do |name|
        define_method(name) { |*arguments, **options| backend.public_send(name, *arguments, **options) }
      end

      def engine # :nodoc:
        backend.engine
      end

      def own_engine? = true # :nodoc:

      def attach = backend.attach # :nodoc:

      def detach = backend.detach # :nodoc:
    end
  end
end
