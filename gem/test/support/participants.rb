# frozen_string_literal: true

require "little_ghost/testing"

# Agents with models that follow a script, to be put together.
module Participants
  # An agent class called +id+ whose model answers with +turns+; the last turn answers what follows.
  def participant(id, *turns, &declarations)
    scripted = LittleGhost::Testing::ScriptedModel.new(*turns, repeat: true)
    Class.new(LittleGhost::Agent) do
      agent_id id
      description "Does #{id}."
      system_prompt "Be #{id}."
      model scripted
      define_singleton_method(:requests) { scripted.requests }
      class_eval(&declarations) if declarations
    end
  end

  # One that answers with what it was asked.
  def echo(id, &declarations)
    participant(id, ->(request) { "#{id}: #{request.messages.last.text}" }, &declarations)
  end

  # A turn that hands on to +id+.
  def handoff(id, message = "Over to you", **more)
    {tool: "handoff_to_agent", input: {agent_id: id, message: message, **more}}
  end

  def workflow(id = "flow", &body)
    Class.new(LittleGhost::Workflow) do
      assembly_id id
      define_method(:perform, &body)
      private :perform
    end
  end

  def swarm(id = "swarm", &declarations)
    Class.new(LittleGhost::Swarm) do
      assembly_id id
      class_exec(&declarations)
    end
  end

  def graph(id = "graph", &declarations)
    Class.new(LittleGhost::Graph) do
      assembly_id id
      class_exec(&declarations)
    end
  end

  # A barrier: what comes first waits for as many as are announced.
  def meeting(count)
    arrived = Queue.new
    open = Queue.new
    lambda do
      arrived << true
      count.times { open << true } if (arrived.length % count).zero?
      open.pop(timeout: 5) || raise("the others did not come")
    end
  end

  # The run, its events by type, and the data of each.
  def streamed(assembly, message = "Why?", **options)
    events = []
    run = assembly.stream_ask(message, include_agent_events: false, **options).each { |event| events << event }
    [run, events]
  end

  def coordination(events)
    events.select { |event| event.type.start_with?("assembly_") }.map { |event| [event.type.name.delete_prefix("assembly_").to_sym, event.data[:participant] || [event.data[:from], event.data[:to] || event.data[:branches]]] }
  end
end
