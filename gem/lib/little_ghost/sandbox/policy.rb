# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What a sandbox is asked to enforce. What it does enforce is its Sandbox#effective_policy.
    class Policy
      KEYS = %i[files runtime_paths root_filesystem environment network].freeze
      private_constant :KEYS

      # Variables of child processes, an EnvironmentPolicy.
      attr_reader :environment
      # Named paths of the workspace that tools and child processes reach: names and +:read_only+ or +:read_write+.
      attr_reader :files
      # Where child processes may connect to, a NetworkPolicy; nil is the sandbox's own choice.
      attr_reader :network
      # What child processes see of the host beyond that: +:isolated+, +:read_only+ or +:read_write+.
      attr_reader :root_filesystem
      # Named paths that only child processes reach.
      attr_reader :runtime_paths

      # +value+ itself, or the policy of a Hash and options over it.
      def self.coerce(value = nil, **options)
        return value if value.is_a?(Policy) && options.empty?

        given = (value.is_a?(Policy) ? value.to_options : value.to_h.transform_keys(&:to_sym)).merge(options)
        unknown = given.keys - KEYS
        Declared.read("policy", unknown.to_h { |key| [key.to_s, true] }) unless unknown.empty?
        new(**given)
      end

      # Options of a sandbox with the keys of a policy among them, as +policy+ and the others.
      def self.split(options) # :nodoc:
        flat = options.slice(*KEYS)
        return options if flat.empty?
        raise PolicyError, "sandbox policy: give policy, or its keys beside the others, but not both" if options[:policy]

        {**options.except(*KEYS), policy: flat}
      end

      # Raises PolicyError for values that mean nothing.
      def initialize(files: {root: :read_only}, runtime_paths: {}, root_filesystem: :isolated, environment: {}, network: nil)
        @environment = EnvironmentPolicy.coerce(environment || {})
        @network = network.nil? ? nil : NetworkPolicy.coerce(network)
        @declaration = Declared.read(
          "policy",
          {
            "files" => files, "runtime_paths" => runtime_paths, "root_filesystem" => root_filesystem,
            "environment" => @environment.declaration, "network" => Declared.written(@network)
          }
        ).freeze
        @files = Declared.paths(@declaration["files"])
        @runtime_paths = Declared.paths(@declaration["runtime_paths"])
        @root_filesystem = @declaration["root_filesystem"].to_sym
        @walls = [].freeze
        freeze
      end

      attr_reader :declaration # :nodoc:

      # What keeps child processes in, such as +:namespaces+, +:seccomp+ and +:landlock+: a frozen Array, empty for what is only
      # asked for.
      attr_reader :walls

      # What a sandbox says of itself. Objects of +asked+ stay what they are.
      def self.enforced(hash, asked) # :nodoc:
        network = hash["network"]
        network = (network == asked.network&.declaration) ? asked.network : network && network["mode"]
        policy = new(
          files: hash["files"], runtime_paths: hash["runtime_paths"], root_filesystem: hash["root_filesystem"],
          environment: hash["environment"], network: network
        )
        policy.dup.tap { |copy| copy.instance_variable_set(:@walls, (hash["walls"] || []).map(&:to_sym).freeze) }.freeze
      end

      # Whether the workspace's root may be written.
      def workspace_writable?
        files[:root] == :read_write
      end

      def to_options # :nodoc:
        {files: files, runtime_paths: runtime_paths, root_filesystem: root_filesystem, environment: environment, network: network}
      end

      # Shows no values of the environment: they may be secrets.
      def inspect
        shown = {files: files, runtime_paths: runtime_paths, root_filesystem: root_filesystem, network: network&.mode, walls: walls}
        "#<#{self.class} #{shown.map { |name, value| "#{name}=#{value.inspect}" }.join(" ")} environment=#{environment.inspect}>"
      end

      def ==(other)
        other.is_a?(Policy) && to_options == other.to_options
      end
      alias_method :eql?, :==

      def hash
        to_options.hash
      end
    end
  end
end
