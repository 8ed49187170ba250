# frozen_string_literal: true

module LittleGhost
  module Native
    # Objects of the application that the engine knows by a number, for as long as somebody else keeps them.
    module HostObjects # :nodoc:
      @objects = ObjectSpace::WeakMap.new
      @lock = Mutex.new

      class << self
        # The number of +object+.
        def key(object)
          @lock.synchronize { @objects[object.object_id] = object }
          object.object_id
        end

        def fetch(key)
          @lock.synchronize { @objects[key] } || raise(Error, "the engine asked for an object that is gone")
        end
      end
    end
  end
end
