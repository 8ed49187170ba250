# frozen_string_literal: true

module LittleGhost
  module Testing
    # Turns that are functions of the request, under the numbers by which the engine knows them.
    module Functions # :nodoc:
      @functions = ObjectSpace::WeakMap.new
      @next = 0
      @lock = Mutex.new

      class << self
        # The number of +function+, for as long as somebody holds it.
        def keep(function)
          @lock.synchronize do
            @next += 1
            @functions[@next] = function
            @next
          end
        end

        # The turn that a function makes of a request, as the engine needs it.
        def call(payload)
          function = @lock.synchronize { @functions[payload["function"]] }
          raise Error, "the scripted model is gone: keep a reference to it while agents use it" if function.nil?

          request = Script.request(payload["request"])
          turn = function.call(request)
          turn = turn.call(request) while turn.is_a?(Proc) || turn.is_a?(Method)
          Script.turn(turn)
        end
      end
    end
  end
end
