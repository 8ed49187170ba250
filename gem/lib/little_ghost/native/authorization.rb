# frozen_string_literal: true

module LittleGhost
  module Native
    # An authorizer of the application as the engine asks it.
    class Authorization # :nodoc:
      @lock = Mutex.new

      # The one of +authorizer+: the engine knows each by one number, however many sandboxes it decides for.
      def self.of(authorizer)
        @lock.synchronize do
          # One from before a fork would share its questions with the parent.
          @known = ObjectSpace::WeakMap.new unless @process == Process.pid
          @process = Process.pid
          @known[authorizer] ||= new(authorizer)
        end
      end
      private_class_method :new

      def initialize(authorizer)
        @answering = Answering.new { |question| decide(authorizer, question["request"]) }
        @registered = Authorizer.new(HostObjects.key(authorizer), @answering.questions)
      end

      def attach(user)
        @answering.start(user)
      end

      def detach(user)
        @answering.stop(user)
      end

      private

      def decide(authorizer, request)
        decision = authorizer.call(Network::Request.new(**request.transform_keys(&:to_sym)))
        raise ArgumentError, "a network authorizer returns a Decision, got #{decision.class}" unless decision.is_a?(Network::Decision)

        decision.to_h.transform_keys(&:to_s)
      end
    end
  end
end
