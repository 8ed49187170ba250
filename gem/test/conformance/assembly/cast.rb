# frozen_string_literal: true

require_relative "body"
require_relative "template"

module Conformance
  module Assembly
    # The agents and assemblies that a case declares, as classes.
    class Cast
      POLICY = %w[timeout retries retry_on retry_delay].freeze

      def initialize(test_case)
        @case = test_case
        @box = Toolbox.new
        @made = {}
      end

      # The class called +name+.
      def [](name)
        @made[name] ||= @case["agents"].key?(name) ? agent(name, @case["agents"][name]) : assembly(name, @case["assemblies"].fetch(name))
      end

      # Options of +spec+ that say how long and how often, with classes for names.
      def policy(spec)
        policy = spec.slice(*POLICY).transform_keys(&:to_sym)
        policy[:retry_on] = exceptions(policy[:retry_on]) if policy.key?(:retry_on)
        policy
      end

      def exceptions(names)
        names.map { |name| name == "Boom" ? Boom : Cast.exception(name) }
      end

      def self.exception(name)
        return LittleGhost::Providers::HTTPError if name == "HTTPError"

        LittleGhost.const_get(name)
      end

      private

      def agent(name, spec)
        tools = (spec["tools"] || []).map { |tool| @box.tool(Conformance.tool_defaults.merge(tool)) }
        asks = (spec["asks"] || []).map { |asked| asked.is_a?(String) ? {"run" => asked} : asked }
        cast = self
        Class.new(LittleGhost::Agent) do
          agent_id name
          description spec["description"] || "Does #{name}."
          model "scripted:scripted-model"
          system_prompt spec["system_prompt"] || "You are #{name}."
          tools(*tools)
          asks.each { |asked| assembly_as_tool(cast[asked["run"]], **asked.except("run").transform_keys(&:to_sym)) }
          limits(**spec["limits"].transform_keys(&:to_sym)) if spec["limits"]
          result_schema(spec["result_schema"]["schema"], **spec["result_schema"].except("schema").transform_keys(&:to_sym)) if spec["result_schema"]
        end
      end

      def assembly(name, spec)
        kind, parts = spec.first
        made = send(kind, parts)
        made.assembly_id(name)
        made.description("Does #{name}.")
        made
      end

      def workflow(statements)
        cast = self
        Class.new(LittleGhost::Workflow) do
          define_method(:perform) { Body.new(cast, self).run(statements) }
          private :perform
        end
      end

      def swarm(parts)
        cast = self
        Class.new(LittleGhost::Swarm) do
          parts["members"].each do |member|
            member = {"run" => member} if member.is_a?(String)
            flags = member.slice("history", "context", "as").transform_keys(&:to_sym)
            self.member(cast[member["run"]], **flags, **cast.policy(member))
          end
          start parts["start"] if parts["start"]
          (parts["handoffs"] || {}).each { |from, to| handoff from, to: to }
          max_steps parts["max_steps"]
          max_handoff_repeats parts["max_handoff_repeats"]
        end
      end

      def graph(parts)
        cast = self
        Class.new(LittleGhost::Graph) do
          parts["nodes"].each { |name, node| self.node(name, cast[node.is_a?(String) ? node : node["run"]], **cast.node(node)) }
          start parts["start"] if parts["start"]
          finish parts["finish"] if parts["finish"]
          (parts["edges"] || []).each { |route| cast.edge(self, route) }
          (parts["error_edges"] || []).each do |route|
            from, to = route["edge"].split(">")
            error_edge from, to, on: cast.exceptions(route["on"]), **cast.mapped(route)
          end
          max_steps parts["max_steps"]
          max_concurrency parts["max_concurrency"]
        end
      end

      public

      # Options of a node.
      def node(spec)
        return {} if spec.is_a?(String)

        {**spec.slice("history", "context").transform_keys(&:to_sym), **mapped(spec), **policy(spec)}
      end

      # Declares a route, such as <tt>"a>b,c"</tt>.
      def edge(graph, route)
        route = {"edge" => route} if route.is_a?(String)
        from, to = route["edge"].split(">").map { |side| side.include?(",") ? side.split(",") : side }
        options = {max_concurrency: route["max_concurrency"], **mapped(route)}
        options[:if] = condition(route["if"]) if route.key?("if")
        graph.edge(from, to, **options)
      end

      def mapped(spec)
        text = spec["input"] or return {}
        {input: ->(state) { text == "!" ? raise(Boom, "no input") : Template.of_state(text, state) }}
      end

      private

      def condition(spec)
        lambda do |state|
          next raise(Boom, "no decision") if spec == "!"
          next spec if spec == true || spec == false

          Template.of_state(spec.fetch("that"), state) == spec.fetch("is")
        end
      end
    end
  end
end
