# frozen_string_literal: true

module LittleGhost
  # Where conversations are kept. Subclass it for a database or a service of your own:
  #
  #   class DatabaseSessionStore < LittleGhost::SessionStore
  #     def load(id, actor_id: nil)
  #       Conversation.find_by(external_id: id, actor_id:)&.snapshot
  #     end
  #
  #     def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
  #       Conversation.append!(id, messages:, state:, metadata:, expected_count:, actor_id:)
  #     end
  #
  #     def replace(id, messages:, state:, metadata:, actor_id: nil)
  #       Conversation.replace!(id, messages:, state:, metadata:, actor_id:)
  #     end
  #   end
  #
  # A snapshot is a Hash of +:messages+ (Messages, or their Hashes), +:state+ and +:metadata+ (plain JSON data with
  # String keys). What comes here is already stripped of what must not be kept. Calls may overlap, except
  # those for one conversation inside #synchronize.
  class SessionStore
    autoload :Locks, "little_ghost/session_store/locks"

    @lock = Mutex.new

    class << self
      attr_reader :lock # :nodoc:
    end

    # Prepares #synchronize.
    def initialize
      locks
    end

    # Adds +messages+ after the +expected_count+ that are stored, and takes +state+ and +metadata+, all at once.
    # Must raise ProtocolError when another number of messages is stored.
    def append(_id, messages:, state:, metadata:, expected_count:, actor_id: nil)
      raise AbstractMethodError, "#{self.class} must implement append"
    end

    # The snapshot, or nil before the first write. Must raise when +actor_id+ is not the owner.
    def load(_id, actor_id: nil)
      raise AbstractMethodError, "#{self.class} must implement load"
    end

    # Shows others a view of the conversation; the stored one stays as it is. Does nothing by default.
    def project_conversation(_id, messages:, metadata:, actor_id: nil)
    end

    # Replaces everything that is stored, all at once.
    def replace(_id, messages:, state:, metadata:, actor_id: nil)
      raise AbstractMethodError, "#{self.class} must implement replace"
    end

    # Yields when no other thread or fiber of this process works on the conversation in this store, and
    # returns the block's value. Not re-entrant. Override it to lock across processes; yield exactly once, on the
    # caller's thread.
    def synchronize(id, actor_id: nil, &work)
      locks.synchronize([actor_id, id], &work)
    end

    # Yields inside the telemetry operation +_operation_id+, and returns the block's value.
    def with_operation_context(_operation_id)
      yield
    end

    # As #append, for a Session, which knows what is stored then.
    def add(id, snapshot, expected_count:, actor_id:) # :nodoc:
      append(id, **snapshot.to_h, expected_count: expected_count, actor_id: actor_id)
    end

    # The engine's store behind this one, when it does all the work itself.
    def native # :nodoc:
    end

    # Names the class only: what is stored is private.
    def inspect
      "#<#{self.class}>"
    end

    private

    # Made here too, for subclasses whose constructor does not call super.
    def locks
      @locks || SessionStore.lock.synchronize { @locks ||= Locks.new }
    end
  end
end
