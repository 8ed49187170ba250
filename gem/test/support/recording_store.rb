# frozen_string_literal: true

# A session store as an application writes one; it notes its calls.
class RecordingStore < LittleGhost::SessionStore
  attr_reader :calls, :snapshots

  def initialize # without super, as applications do
    @calls = []
    @snapshots = {}
  end

  def load(id, actor_id: nil)
    @calls << [:load, id, actor_id]
    @snapshots[[actor_id, id]]
  end

  def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
    @calls << [:append, messages.map(&:text), state, metadata, expected_count]
    before = @snapshots.dig([actor_id, id], :messages) || []
    raise LittleGhost::ProtocolError, "changed" if before.length != expected_count

    @snapshots[[actor_id, id]] = {messages: before + messages, state: state, metadata: metadata}
  end

  def replace(id, messages:, state:, metadata:, actor_id: nil)
    @calls << [:replace, messages.map(&:text), state, metadata]
    @snapshots[[actor_id, id]] = {messages: messages, state: state, metadata: metadata}
  end

  def with_operation_context(operation_id)
    @calls << [:operation, operation_id] if operation_id
    yield
  end
end
