# frozen_string_literal: true

module LittleGhost
  # Settings that an application makes before its first agent runs.
  #
  #   LittleGhost.configure do |config|
  #     config.providers = {openrouter: {adapter: :openrouter, api_key: ENV.fetch("OPENROUTER_API_KEY")}}
  #     config.models = {customer_support: {target: "openrouter:openai/gpt-5.6-luna"}}
  #     config.default_model :customer_support
  #   end
  #
  # The first #runtime call builds the shared Runtime and locks the settings; a later change raises
  # ConfigurationError. A failed build leaves them open. Without +providers+, connections come from
  # the environment's keys.
  class Configuration
    UNSET = Object.new.freeze
    private_constant :UNSET

    # Starts with +values+, a Hash of settings.
    def initialize(values = {})
      @settings = {concurrency_backend: :auto, service_name: "little-ghost", invocation: Invocation}
      @lock = Mutex.new
      @runtime = nil
      values.each_pair { |name, value| self[name] = value }
    end

    # The setting called +name+. Raises KeyError when it was never set.
    def [](name)
      @settings.fetch(name.to_sym)
    end

    # Sets any setting, known or the application's own.
    def []=(name, value)
      name = name.to_sym
      writer = :"#{name}="
      respond_to?(writer) ? public_send(writer, value) : write(name, value)
    end

    # Yields the configuration for set-up and returns it.
    def configure
      yield self
      self
    end

    # Reads or sets how overlapping work starts: +:auto+ (fibers in a scheduled fiber, else threads),
    # +:thread+, or +:fiber+, which raises ConfigurationError outside a scheduled fiber.
    def concurrency_backend(value = UNSET)
      UNSET.equal?(value) ? @settings[:concurrency_backend] : self.concurrency_backend = value
    end

    def concurrency_backend=(value)
      backend = value.respond_to?(:to_sym) ? value.to_sym : value
      unless Native::Concurrency::BACKENDS.include?(backend)
        raise ArgumentError, "concurrency_backend must be :auto, :thread or :fiber, got #{value.inspect}"
      end

      write(:concurrency_backend, backend)
    end

    # Reads or sets the role that agents without a model use, as a String.
    def default_model(value = UNSET)
      UNSET.equal?(value) ? @settings[:default_model] : self.default_model = value
    end

    def default_model=(value)
      write(:default_model, value&.to_s)
    end

    # Reads or sets the class that payloads become; a subclass of Invocation.
    def invocation(value = UNSET)
      UNSET.equal?(value) ? @settings[:invocation] : self.invocation = value
    end

    def invocation=(value)
      unless value.is_a?(Class) && value <= Invocation
        raise ArgumentError, "invocation must be a subclass of LittleGhost::Invocation, got #{value.inspect}"
      end

      write(:invocation, value)
    end

    # Reads or sets the model profiles: role => settings. A role has no colon in its name.
    def models(value = UNSET)
      UNSET.equal?(value) ? @settings[:models] : self.models = value
    end

    def models=(value)
      write(:models, value)
    end

    # Reads or sets the provider connections: name => {adapter:, ...options}.
    def providers(value = UNSET)
      UNSET.equal?(value) ? @settings[:providers] : self.providers = value
    end

    def providers=(value)
      write(:providers, value)
    end

    # Reads or sets the name of this service in telemetry.
    def service_name(value = UNSET)
      UNSET.equal?(value) ? @settings[:service_name] : self.service_name = value
    end

    def service_name=(value)
      write(:service_name, value)
    end

    # The shared Runtime, built on first use. Locks the configuration once it exists.
    def runtime
      @runtime || @lock.synchronize { @runtime ||= Runtime.new(configuration: self) }
    end

    # A frozen copy of all settings.
    def snapshot # :nodoc:
      @settings.transform_values { |value| seal(value) }.freeze
    end

    # Shows which settings exist, never their values: they hold credentials.
    def inspect
      "#<#{self.class} #{@settings.keys.join(", ")}>"
    end

    private

    def write(name, value)
      if @runtime
        raise ConfigurationError, "the shared runtime is built; configure LittleGhost before the first agent runs"
      end

      @settings[name] = value
    end

    def seal(value)
      case value
      when Hash then value.transform_values { |nested| seal(nested) }.freeze
      when Array then value.map { |nested| seal(nested) }.freeze
      when String then value.frozen? ? value : value.dup.freeze
      else value
      end
    end
  end
end
