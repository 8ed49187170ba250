# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What contains child processes by means of the operating system, and refuses what it cannot enforce.
    class IsolatedBackend < Sandbox
      include OwnEngine

      # Whether a kind of these can be used here.
      def self.probe_engine(kind, options) # :nodoc:
        probed = Native::JobWait.finish(Native::Sandbox.probe(kind, options.compact.transform_keys(&:to_s)))
        {available: probed["available"], reason: probed["reason"], capabilities: Capabilities.build(probed["capabilities"])}
      rescue DependencyError => error
        {available: false, reason: error.message, capabilities: Capabilities.new(features: [], network_modes: [])}
      end
      private_class_method :probe_engine
    end
  end
end
