# frozen_string_literal: true

module Conformance
  module Assembly
    # Events as short texts. An event whose data is not what its text and those before it imply is written in full.
    class Notation
      # What a model does in detail; the other cases check it.
      QUIET = %w[model_start model_stop message_start message_stop usage tool_call_start tool_call_delta tool_call_stop trace_context].freeze

      class << self
        # Whose request it is.
        def agent_of(body)
          text_of(body["messages"].first)[/\AYou are (\w+)\./, 1]
        end

        # The messages of a request after the instructions; one from the user is written as its text.
        def conversation(body)
          messages = body["messages"].drop(1).map { |message| [message["role"], spoken(message)] }
          return messages.first.last if messages.length == 1 && messages.first.first == "user"

          messages.map { |role, text| "#{role}: #{text}" }
        end

        private

        def spoken(message)
          calls = (message["tool_calls"] || []).map { |call| "#{call.dig("function", "name")}#{call.dig("function", "arguments")}" }
          [text_of(message), *calls].reject(&:empty?).join(" ")
        end

        def text_of(message)
          content = message["content"]
          content.is_a?(Array) ? content.map { |part| part["text"] }.join : content.to_s
        end
      end

      def initialize(test_case, seen)
        @case = test_case
        @seen = seen
        @steps = {}
      end

      # The events of the run, and by participant those of agents.
      def shorten(events)
        own = []
        agents = Hash.new { |hash, key| hash[key] = [] }
        wrapped = Hash.new(0)
        events.each do |type, data, source|
          next if QUIET.include?(type)

          text = source ? agent_event(type, data) : short(type, data)
          text ||= {"type" => type, "data" => data}
          if source
            wrapped[text] += 1
            text = "#{text}: #{source["input"]}" if source["input"]
            agents[name_of(source)] << text
          else
            check_wrapper(wrapped, text) if @case["invocation"]["include_agent_events"] && agent_event(type, data)
            own << text
          end
        end
        {own: own, agents: agents}
      end

      # The text of one event, for the steps of a case.
      def note(type, data, source = nil)
        return if QUIET.include?(type)
        return short(type, data) unless source

        "#{name_of(source)}: #{agent_event(type, data)}"
      end

      private

      # A wrapper comes before the same event among the run's own. Assemblies have no wrappers for their failures.
      def check_wrapper(wrapped, text)
        return if text.start_with?("failed ")

        raise "#{text} came without its wrapper" unless (wrapped[text] -= 1) >= 0
      end

      def name_of(source)
        path = source["path"].map do |assembly_id, kind, participant, branch, step_id|
          known = @steps[step_id]
          fits = known && known["assembly_id"] == assembly_id && known["assembly_kind"] == kind && known["participant"] == participant &&
            known["branch_id"] == branch
          fits || known.nil? ? participant : raise("#{participant} is not where it should be")
        end
        [*path, source["agent_id"]].join("/")
      end

      def short(type, data)
        case type
        when "assembly_step_start"
          return unless place(data) == data && data["step_id"].to_s.length > 8 && !@steps.key?(data["step_id"])

          @steps[data["step_id"]] = data
          "start #{step(data)}"
        when "assembly_step_stop"
          "stop #{step(data)} #{usage(data)}" if data.except("usage") == @steps[data["step_id"]]
        when "assembly_step_error"
          known = @steps[data["step_id"]] or return
          expected = %w[attempt error_type participant step_id terminal usage]
          return unless data.keys.sort == expected && data["participant"] == known["participant"]

          "error #{step(known)} #{data["attempt"]} #{error(data)} #{usage(data)}#{" final" if data["terminal"]}"
        when "assembly_step_retry"
          known = @steps[data["step_id"]] or return
          expected = %w[attempt delay error_type partial_text participant step_id]
          return unless data.keys.sort == expected && data["participant"] == known["participant"]

          pause = " after #{data["delay"]}" unless data["delay"].zero?
          "retry #{step(known)} #{data["attempt"]} #{error(data)}#{pause}#{" superseded" if data["partial_text"]}"
        else routed(type, data) || agent_event(type, data) || ending(type, data)
        end
      end

      def routed(type, data)
        id = data["assembly_id"]
        return unless id && data["assembly_kind"] == kind(id)

        fields = %w[assembly_id assembly_kind]
        case type
        when "assembly_transition"
          fields += %w[step from to]
          fields += %w[error branch_id] if kind(id) == "graph"
          fields << "partial_text" if data["error"]
          marks = [(" error" if data["error"]), (" superseded" if data["partial_text"]), (" @#{data["branch_id"]}" if data["branch_id"])].join
          "move #{id} #{data["from"]}>#{data["to"]} #{data["step"]}#{marks}" if data.keys.sort == fields.sort
        when "assembly_handoff_loop"
          "loop #{id} #{data["from"]}>#{data["to"]} #{data["count"]}" if data.keys.sort == (fields + %w[count from to]).sort
        when "assembly_fork"
          "fork #{id} #{data["from"]}>#{data["branches"].join(",")}" if data.keys.sort == (fields + %w[branches from]).sort
        when "assembly_join"
          "join #{id} #{data["from"].join(",")}>#{data["to"]}" if data.keys.sort == (fields + %w[from to]).sort
        end
      end

      def agent_event(type, data)
        case type
        when "invocation_start" then "begin #{data["agent_id"]}" if data.keys == ["agent_id"]
        when "text_delta" then "text #{data["text"]}" if data.keys == ["text"]
        when "tool_start" then "call #{data.dig("tool_use", "name")}"
        when "tool_stop"
          result = data["result"]
          "called #{data.dig("tool_use", "name")} #{result["status"]}: #{Template.shown(result["content"])}"
        when "invocation_stop" then "end #{Conformance::Notation.counts(data.dig("result", "usage")).to_json}"
        when "invocation_error"
          "failed #{data.dig("error", "class")} #{usage(data)}" if data.keys.sort == %w[error metadata usage]
        when "model_retry" then "model_retry"
        end
      end

      def ending(type, data)
        error = @seen[:error]
        case type
        when "run_start" then type if data.keys.sort == %w[run_id thread_id] && data["thread_id"] == @case["invocation"].fetch("session_id", data["run_id"])
        when "run_stop"
          type if @seen.empty? || data == {"outcome" => "completed", "response" => @seen[:response], "result" => @seen[:result]}
        when "run_cancel" then type if @seen.empty? || data == {"outcome" => "cancelled", "response" => "", "error" => error}
        when "run_error"
          expected = {"outcome" => "failed", "message" => data["message"], "cleanup_failed" => false, "error" => error}
          "run_error #{data["error"]["class"]}" if @seen.empty? || data == expected
        when "run_partial"
          expected = {"outcome" => "partial", "response" => data["response"], "error" => error}
          "run_partial #{data["response"]}".strip if @seen.empty? || data == expected
        else type unless type.start_with?("assembly_")
        end
      end

      # The data of a step that begins.
      def place(data)
        id = data["assembly_id"]
        fields = %w[assembly_id assembly_kind participant step_id]
        fields << "step" if kind(id) == "swarm"
        fields << "branch_id" if kind(id) == "graph"
        data.slice(*fields).merge("assembly_kind" => kind(id))
      end

      def step(data)
        number = " ##{data["step"]}" if data["step"]
        branch = " @#{data["branch_id"]}" if data["branch_id"]
        "#{data["assembly_id"]}/#{data["participant"]}#{number}#{branch}"
      end

      def kind(id)
        @case["assemblies"].fetch(id).keys.first
      end

      def usage(data)
        Conformance::Notation.counts(data["usage"]).to_json
      end

      def error(data)
        data["error_type"].split("::").last
      end
    end
  end
end
