# frozen_string_literal: true

module LittleGhost
  # One conversation in a SessionStore: messages, application state and metadata, kept together.
  #
  #   session = LittleGhost::Session.new(
  #     id: "conversation-42", actor_id: "user-7", store: LittleGhost::SessionStores::Memory.new
  #   )
  #   session.append(messages: [LittleGhost::Message.new(role: :user, content: "Hello")], state: {language: "en"})
  #
  #   reopened = LittleGhost::Session.new(id: "conversation-42", actor_id: "user-7", store: session.store)
  #   reopened.history.last.text # => "Hello"
  #   reopened.state[:language]  # => "en"
  #
  # What is stored has neither system messages nor messages whose metadata says +transient+ nor the model's
  # reasoning. Failures of the store are raised. Take +actor_id+ from your own authentication; without one,
  # whoever knows the id has the conversation.
  class Session
    autoload :Snapshot, "little_ghost/session/snapshot"

    # Who owns the conversation, or nil.
    attr_reader :actor_id
    # Identifier of the conversation.
    attr_reader :id
    # The operation that this session belongs to in telemetry, or nil.
    attr_reader :operation_id
    # Where it is kept.
    attr_reader :store

    # Reads nothing yet. +metadata+ is that of a conversation that has none yet.
    def initialize(id:, store:, actor_id: nil, metadata: {}, operation_id: nil)
      raise ArgumentError, "a session needs an id" if id.nil? || id.to_s.empty?
      raise ArgumentError, "store must be a SessionStore, got #{store.class}" unless store.is_a?(SessionStore)

      @id = id
      @store = store
      @actor_id = actor_id
      @operation_id = operation_id
      @initial_metadata = DataMap.new(metadata).freeze
      @loaded = false
      @persisted = nil
    end

    # Adds +messages+ after those that are stored. Raises ProtocolError when another writer was faster;
    # #checkpoint does not need to know what is stored.
    def append(messages:, state: self.state, metadata: self.metadata)
      addition = Snapshot.of(messages, state, metadata)
      write_append(addition, expected_count: persisted ? persisted.count : 0)
    end

    # Writes the conversation as it is now: appends what is new when what is stored has not changed, and
    # replaces it otherwise. Writes nothing when all is the same.
    def checkpoint(messages:, state: self.state, metadata: self.metadata, parent_operation_id: @operation_id)
      current = Snapshot.of(messages, state, metadata)
      plan = Native.plan_write(persisted&.value, current.value)
      if plan.nil?
        persisted.to_h
      elsif plan.key?("append")
        write_append(Snapshot.new(plan["append"]), expected_count: plan["expected_count"], operation_id: parent_operation_id)
      else
        write_replace(current, operation_id: parent_operation_id)
      end
    end

    # Writes the messages and the state of a RunResult.
    def checkpoint_result(result)
      checkpoint(messages: result.messages, state: result.state)
    end

    # The stored messages, or +fallback+ for a new conversation.
    def history(fallback: [])
      persisted ? persisted.messages : fallback
    end

    # The stored snapshot, a Hash of +:messages+, +:state+ and +:metadata+, or nil for a new conversation. The
    # store is asked once.
    def load
      persisted&.to_h
    end

    # The stored metadata, or that of the constructor; a frozen DataMap.
    def metadata
      persisted ? DataMap.new(persisted.metadata).freeze : @initial_metadata
    end

    # Shows others a view of the conversation, where the store has one; else returns nil. Nothing is removed
    # from +messages+: leave out what is not meant for others.
    def project_conversation(messages:, metadata: self.metadata)
      in_operation(operation_id) do
        store.project_conversation(id, messages: messages, metadata: DataMap.new(metadata).to_h, actor_id: actor_id)
      end
    end

    # Replaces everything that is stored.
    def replace(messages:, state: self.state, metadata: self.metadata)
      write_replace(Snapshot.of(messages, state, metadata))
    end

    # A copy of the stored state, a DataMap. Change it and hand it to #checkpoint.
    def state
      DataMap.new(persisted ? persisted.state : {})
    end

    # Yields when nobody else works on the conversation, and keeps others waiting meanwhile. Not re-entrant.
    def synchronize(&block)
      store.synchronize(id, actor_id: actor_id, &block)
    end

    # Names the conversation without its content.
    def inspect
      "#<#{self.class} #{id.inspect}>"
    end

    # Equal for the same conversation.
    def key # :nodoc:
      [store.object_id, id.to_s, actor_id.to_s]
    end

    # Asks the store again next time.
    def forget # :nodoc:
      @loaded = false
    end

    def persisted # :nodoc:
      return @persisted if @loaded

      found = in_operation(operation_id) { store.load(id, actor_id: actor_id) }
      @persisted = found && Snapshot.from_store(found)
      @loaded = true
      @persisted
    end

    def write_append(addition, expected_count:, operation_id: self.operation_id) # :nodoc:
      before = persisted
      in_operation(operation_id) do
        store.add(id, addition, expected_count: expected_count, actor_id: actor_id)
      end
      remember(before ? before.followed_by(addition) : addition)
    end

    def write_replace(snapshot, operation_id: self.operation_id) # :nodoc:
      in_operation(operation_id) { store.replace(id, **snapshot.to_h, actor_id: actor_id) }
      remember(snapshot)
    end

    private

    def remember(snapshot)
      @persisted = snapshot
      @loaded = true
      snapshot.to_h
    end

    def in_operation(operation_id, &operation)
      store.with_operation_context(operation_id, &operation)
    end
  end
end
