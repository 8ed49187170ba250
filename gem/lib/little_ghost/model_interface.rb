# frozen_string_literal: true

module LittleGhost
  # What agents need of a model. Include it in a model of your own, override what differs, and add
  # <tt>stream(request)</tt>: it yields StreamEvents to its block, or returns an object with +each+ that does. The
  # last one is +message_stop+ with the ModelResponse.
  #
  #   class EchoModel
  #     include LittleGhost::ModelInterface
  #
  #     def stream(request)
  #       text = request.messages.last.text
  #       yield LittleGhost::StreamEvent.build(:text_delta, text: text)
  #       response = LittleGhost::ModelResponse.new(
  #         message: LittleGhost::Message.new(role: :assistant, content: text), stop_reason: :end_turn
  #       )
  #       yield LittleGhost::StreamEvent.build(:message_stop, response: response)
  #     end
  #   end
  #
  #   class EchoAgent < LittleGhost::Agent
  #     model EchoModel.new
  #   end
  module ModelInterface
    # What the model can do; everything, unless overridden.
    def capabilities
      ModelCapabilities.permissive
    end

    # Facts about the model, a Models::Details; none, unless overridden.
    def details
      Models::Details.unknown(target)
    end

    # The identifier at the service: the part of the target after the first colon.
    def model_id
      target.partition(":").last
    end

    # The role that selected the model, or nil.
    def role
    end

    # <tt>connection:model-id</tt>; from the class name, unless overridden.
    def target
      name = self.class.name&.split("::")&.last
      "ruby:#{name ? Native::Naming.underscore(name) : "model"}"
    end
  end
end
