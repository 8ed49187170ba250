# frozen_string_literal: true

module LittleGhost
  # A provider together with one of its models and the settings of the profile that selected it. A
  # ModelResolver makes them.
  #
  #   model = LittleGhost.model_resolver.resolve(:customer_support)
  #   model.target                  # => "primary:openai/gpt-5.6-luna"
  #   model.details.context_window  # => 1050000
  class Model
    include ModelInterface

    # What is known about the model, a Models::Details.
    attr_reader :details
    # The connection to the service, a Providers::Base.
    attr_reader :provider
    # The role that was asked for, or nil.
    attr_reader :role
    # What every request starts from, a frozen Hash under Strings.
    attr_reader :settings
    # Canonical <tt>connection:model-id</tt>.
    attr_reader :target

    # A model of +provider+, which nothing is known about.
    def self.of(provider) # :nodoc:
      name = Native::Naming.underscore(provider.class.name&.split("::")&.last || "provider")
      new(provider: provider, target: "#{name}:#{provider.respond_to?(:model) ? provider.model : "model"}")
    end

    # +target+ is a String or a Models::Target. Without +details+ nothing is known about the model.
    def initialize(provider:, target:, settings: {}, details: nil, role: nil)
      @provider = provider
      @target = Models::Target.parse(target).to_s.freeze
      @details = details.is_a?(Models::Details) ? details : Models::Details.new(**details.to_h.transform_keys(&:to_sym), target: @target)
      @settings = clamp(settings.to_h.transform_keys(&:to_s)).freeze
      @role = role&.to_s&.freeze
    end

    # What the provider says about the model, given what is known of it.
    def capabilities
      @capabilities ||= provider.capabilities(metadata: details.attributes)
    end

    # The identifier at the service.
    def model_id
      @model_id ||= target.partition(":").last.freeze
    end

    # Sends +request+ and yields its events, +message_stop+ last. Without a block, an Enumerator. The request's
    # settings go over those of the profile. Raises UnsupportedInputError for attachments that the model is known
    # not to take.
    def stream(request, &block)
      return enum_for(:stream, request) unless block

      Native.check_attachments(target, Native::ModelValues.messages(request.messages), details.attributes)
      request = request.with(settings: clamp(settings.merge(request.settings.to_h.transform_keys(&:to_s))))
      provider.stream(provider.prepare_request(request, capabilities: capabilities), &block)
    end

    # Names the model; a provider may hold credentials.
    def inspect
      "#<#{self.class} #{target}#{" (#{role})" if role}>"
    end

    # The model as an agent's declaration names it: by its connection when the engine has the adapter.
    def to_engine # :nodoc:
      connection = provider.to_engine if provider.respond_to?(:to_engine)
      return Native::ModelDeclaration.of(self) if connection.nil?

      facts = {"details" => details.known? ? details.to_engine : nil, "role" => role, "settings" => settings}
      {"resolved" => {**connection, "connection" => target.partition(":").first, "model" => model_id, **facts}}
    end

    private

    def clamp(settings)
      most = details.max_output_tokens
      wanted = settings["max_tokens"]
      return settings unless most && wanted.is_a?(Integer) && wanted > most

      settings.merge("max_tokens" => most)
    end
  end
end
