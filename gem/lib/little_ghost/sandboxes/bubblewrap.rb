# frozen_string_literal: true

module LittleGhost
  module Sandboxes
    # Runs each program in fresh namespaces of Linux, by Bubblewrap. The kernel is the host's, and what is mounted inside is
    # trusted. Nothing stands in for a Bubblewrap that is missing.
    #
    #   sandbox = LittleGhost::Sandboxes::Bubblewrap.new(workspace: workspace, policy: {files: {root: :read_write}})
    #   sandbox.open
    #   sandbox.execute("id -un", timeout: 5)
    class Bubblewrap < Sandbox::IsolatedBackend
      # Where Bubblewrap is, unless it is said otherwise.
      DEFAULT_EXECUTABLE = "/usr/bin/bwrap"
      # What programs need to run at all.
      RUNTIME_ROOTS = %w[/usr].freeze

      # What it can do.
      def self.backend_capabilities
        probe_engine("bubblewrap", {}).fetch(:capabilities)
      end

      # Whether it can be used on +platform+: <tt>{available:, reason:, capabilities:}</tt>.
      def self.probe(executable: DEFAULT_EXECUTABLE, platform: RUBY_PLATFORM)
        probe_engine("bubblewrap", {bubblewrap: executable, platform: platform})
      end

      # +socat+ and +gateway_options+ are for the gateway of an allowlist. +command_wrapper+ is put in front of Bubblewrap: an
      # Array of Strings, or a callable that gets the whole command as +argv:+, the +workspace:+ and, for a program of one, the
      # +scope:+, as far as it takes them, and returns another command. It is called on a thread of its own, while the sandbox is
      # open; what it makes must become Bubblewrap or pass on its descriptors. +proc+ is +:new+, +:bind+ or +:none+. +tmpfs+ are empty directories in memory, +masks+ directories
      # that look empty, +runtime_roots+ what programs need to run at all, +uid+ and +gid+ whom they take themselves for.
      def initialize(workspace:, policy: nil, profiles: {}, limits: {}, bubblewrap: DEFAULT_EXECUTABLE,
        platform: RUBY_PLATFORM, socat: "/usr/bin/socat", gateway_options: {}, command_wrapper: nil, proc: :new,
        tmpfs: %w[/tmp /run], masks: [], runtime_roots: RUNTIME_ROOTS, uid: nil, gid: nil)
        super(workspace: workspace, policy: policy, profiles: profiles, limits: limits)
        wrapping = LittleGhost::Native::Wrapping.new(command_wrapper, self) if command_wrapper.respond_to?(:call)
        @attachment = Network::Attachment.new(self.policy.network, wrapping)
        build_engine(
          "bubblewrap", bubblewrap: bubblewrap, platform: platform, socat: socat, gateway_options: gateway_options,
          command_wrapper: wrapping ? wrapping.declaration : command_wrapper, proc: proc, tmpfs: tmpfs, masks: masks, runtime_roots: runtime_roots, uid: uid, gid: gid
        )
      end

      # Starts the gateway of an allowlist. Raises DependencyError when what it takes is missing.
      def open(run: nil)
        attach
        super
      rescue Exception
        detach
        raise
      end

      # Stops the gateway. Closing it again does nothing.
      def close
        attach
        super
      ensure
        detach
      end

      def attach # :nodoc:
        @attachment.attach
      end

      def detach # :nodoc:
        @attachment.detach
      end

      # The exact arguments of Bubblewrap before a command. +mounts+ are names of paths, by default all that the policy has.
      def bubblewrap_args(mounts: nil, cwd: workspace.root, environment: effective_policy.environment.to_h,
        inherit_environment: effective_policy.environment.inherit?, network: effective_policy.network)
        scope = narrowed(mounts&.map(&:to_sym), network)
        program = Sandbox::Programs.describe(["true"], environment: environment, inherit_environment: inherit_environment, cwd: workspace.reference(cwd))
        (scope || self).engine.wrapper(program)
      end

      # Replaces this process by a command under Bubblewrap, attached to its terminal and streams and contained like every other
      # program; it returns only by raising what kept it from that. What this process was doing ends, the gateway of an
      # allowlist included, unless the gateway outlives it.
      def exec_program(command, scope: nil, cwd: nil, environment: {}, inherit_environment: false)
        options = {environment: environment, inherit_environment: inherit_environment, cwd: cwd}
        @attachment.during { become(command, scope, **options) }
      end

      ##
      # :method: start_program
      # See Sandbox#start_program. Everything that the program started ends with it. Raises CapabilityError when
      # +allow_subprocesses+ is false, which Bubblewrap cannot enforce.

      private

      def narrowed(mounts, network)
        effective = effective_policy
        return if mounts.nil? && network == effective.network

        files, runtime_paths = [effective.files, effective.runtime_paths].map { |paths| mounts && paths.keys & mounts }
        scope(files: files, runtime_paths: runtime_paths, network: network)
      end
    end
  end
end
