# frozen_string_literal: true

require "test_helper"
require "json"

# Amazon Bedrock's list of models, by a client of the application.
class BedrockCatalogSourceTest < Minitest::Test
  Source = LittleGhost::Providers::Bedrock::CatalogSource
  Response = Struct.new(:status, :body)
  Keys = Struct.new(:access_key_id, :secret_access_key, :session_token)
  MODELS = JSON.generate(
    modelSummaries: [{modelId: "amazon.nova-lite-v1:0", modelName: "Nova Lite", inputModalities: %w[TEXT IMAGE], outputModalities: ["TEXT"]}]
  )
  PRICE = JSON.generate(
    product: {attributes: {model: "Nova Lite", usagetype: "USE1-input-tokens"}},
    terms: {OnDemand: {a: {priceDimensions: {b: {unit: "1K tokens", pricePerUnit: {USD: "0.00006"}}}}}}
  )

  # A source whose client answers with +answers+, and the requests that it was asked to send.
  def source(*answers, **options)
    requests = []
    client = lambda do |**request|
      requests << request
      Response.new(*answers.shift)
    end
    resolver = -> { Keys.new("AKIDEXAMPLE", "hush-hush", "quiet-quiet") }
    [Source.new(provider: :aws, region: "us-east-1", credential_resolver: resolver, http_client: client, **options), requests]
  end

  def test_all_models
    source, requests = source([200, MODELS], clock: -> { Time.utc(2026, 11, 30, 12) })
    catalog = LittleGhost::Models::Catalog.new(sources: [source])
    assert_equal ["aws:amazon.nova-lite-v1:0"], catalog.refresh!.fetch(:updated)
    assert_equal %w[text image], catalog.details("aws:amazon.nova-lite-v1:0").input_modalities
    request = requests.fetch(0)
    assert_equal %w[GET https://bedrock.us-east-1.amazonaws.com/foundation-models], request.values_at(:method, :url)
    headers = request.fetch(:headers)
    assert_equal %w[20261130T120000Z quiet-quiet], headers.values_at("x-amz-date", "x-amz-security-token")
    assert_includes headers.fetch("authorization"), "AKIDEXAMPLE/20261130/us-east-1/bedrock/aws4_request"
    assert_equal({input_modalities: :union, output_modalities: :union}, source.attribute_merge_strategies)
    refute_match(/hush|quiet/, source.name)
  end

  def test_one_model_with_its_price
    source, requests = source([200, MODELS], [200, JSON.generate(PriceList: [PRICE])], [200, "{}"])
    record = source.refresh(target: "aws:us.amazon.nova-lite-v1:0").fetch("aws:us.amazon.nova-lite-v1:0")
    assert_equal({"input" => 0.06}, record["pricing"])
    assert_equal %w[GET POST POST], requests.map { |request| request[:method] }
    assert_equal "AmazonBedrock", JSON.parse(requests[1].fetch(:body)).fetch("ServiceCode")
  end

  def test_failures
    source, = source([403, "denied"])
    error = assert_raises(LittleGhost::Providers::HTTPError) { source.refresh }
    assert_equal 403, error.status
    source, = source([200, "nonsense"])
    assert_raises(LittleGhost::ProtocolError) { source.refresh }
    wrong = Source.new(provider: :aws, region: "us-east-1/", credential_resolver: -> { Keys.new("a", "b") })
    assert_raises(LittleGhost::ConfigurationError) { wrong.refresh }
    wrong = Source.new(provider: :aws, region: "us-east-1", credential_resolver: -> { 5 })
    assert_raises(LittleGhost::CredentialError) { wrong.refresh }
  end
end
