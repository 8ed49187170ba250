# frozen_string_literal: true

module LittleGhost
  module Models
    # Facts about models: those that the gem is shipped with, and over them what sources answered. Nothing is
    # fetched but by #refresh!.
    #
    #   catalog = LittleGhost.model_resolver.catalog
    #   catalog.details("openai:gpt-5.6-luna").pricing  # => {input: 0.2, output: 1.2, ...}
    class Catalog
      autoload :ModelsDevSource, "little_ghost/models/catalog/models_dev_source"
      autoload :ServiceList, "little_ghost/models/catalog/service_list"
      autoload :Source, "little_ghost/models/catalog/source"

      # The snapshot that the gem is shipped with, a JSON file of models by adapter. It is compiled into the engine;
      # the file is here to be read.
      SNAPSHOT_PATH = File.expand_path("../../../../core/src/catalog/snapshot.json", __dir__).freeze

      attr_reader :native # :nodoc:

      # +sources+ are what #refresh! asks, in order. A file in the snapshot's format may replace the
      # snapshot. +clock+ dates records that have no date of their own.
      def initialize(sources: [], snapshot_path: SNAPSHOT_PATH, clock: -> { Time.now.utc })
        @sources = sources.to_a.dup.freeze
        wrong = @sources.find { |source| !%i[name refresh attribute_merge_strategies].all? { |name| source.respond_to?(name) } }
        raise ArgumentError, "a catalog source is a LittleGhost::Models::Catalog::Source, got #{wrong.class}" unless wrong.nil?

        @clock = clock
        @native = Native::Catalog.new(snapshot_path == SNAPSHOT_PATH ? nil : File.read(snapshot_path, encoding: "UTF-8"))
        @adapters = {}.freeze
        @usual_sources = nil
      end

      # What is known about +target+, <tt>connection:model-id</tt>, as Details. A connection that the catalog does
      # not know may be called like an adapter.
      def details(target)
        target = Target.parse(target)
        facts = @native.details(target.to_s, @adapters[target.provider])
        Details.new(**facts.transform_keys(&:to_sym))
      end

      # Asks the sources for fresh facts about one target or all models. Returns a frozen Hash: +updated+, the
      # targets with fresh facts, and +errors+, the exceptions of sources, whose facts stay as they were.
      def refresh!(target: nil)
        target &&= Target.parse(target).to_s
        updated = []
        errors = []
        sources.each do |source|
          updated.concat(refresh_from(source, target))
        rescue StandardError => error
          errors << error
        end
        {updated: updated.uniq.freeze, errors: errors.freeze}.freeze
      end

      # Tells which adapters and sources the connections of a resolver have.
      def connect(adapters, &usual_sources) # :nodoc:
        @adapters = adapters.freeze
        @usual_sources = usual_sources
        self
      end

      private

      def sources
        @sources.empty? && @usual_sources ? @usual_sources.call : @sources
      end

      def refresh_from(source, target)
        records = source.refresh(target: target).to_h { |name, record| [name.to_s, dated(record)] }
        strategies = source.attribute_merge_strategies.to_h { |name, strategy| [name.to_s, strategy.to_s] }
        @native.apply(source.name.to_s, records, strategies)
      end

      def dated(record)
        record = record.to_h.transform_keys(&:to_s)
        observed_at = record["observed_at"] || @clock.call
        {**record, "observed_at" => observed_at.respond_to?(:strftime) ? observed_at.strftime("%Y-%m-%d") : observed_at.to_s}
      end
    end
  end
end
