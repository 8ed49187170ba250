# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/loopback_server"
require "json"
require "tmpdir"

class BedrockCredentialsTest < Minitest::Test
  Resolver = LittleGhost::Providers::Bedrock::CredentialResolver
  PAIR = {"AWS_ACCESS_KEY_ID" => "AKID", "AWS_SECRET_ACCESS_KEY" => "hush-secret"}.freeze

  def test_keys_of_the_environment_which_may_change
    environment = PAIR.merge("AWS_SESSION_TOKEN" => "hush-session", "AWS_REGION" => "eu-central-1")
    resolver = Resolver.new(environment: environment)
    keys = resolver.call
    assert_equal %w[AKID hush-secret hush-session], [keys.access_key_id, keys.secret_access_key, keys.session_token]
    assert_nil keys.expires_at
    [keys.inspect, keys.to_s, resolver.inspect].each { |text| refute_match(/hush|AKID/, text) }
    assert_equal "eu-central-1", resolver.region
    environment["AWS_ACCESS_KEY_ID"] = "OTHER"
    environment.delete("AWS_SESSION_TOKEN")
    environment.delete("AWS_REGION")
    assert_equal ["OTHER", nil], [resolver.call.access_key_id, resolver.call.session_token]
    assert_nil resolver.region
  end

  def test_a_profile_and_a_file_may_be_chosen
    Dir.mktmpdir do |home|
      path = File.join(home, "keys")
      File.write(path, "[work]\naws_access_key_id = WORK\naws_secret_access_key = hush-work\nregion = eu-north-1\n")
      resolver = Resolver.new(environment: PAIR, profile: :work, credentials_file: path)
      assert_equal "WORK", resolver.call.access_key_id
      assert_equal "eu-north-1", resolver.region
    end
  end

  def test_nothing_found_says_what_was_tried
    environment = {"AWS_EC2_METADATA_DISABLED" => "true", "AWS_ACCESS_KEY_ID" => "AKID"}
    error = assert_raises(LittleGhost::CredentialError) { Resolver.new(environment: environment).call }
    assert_includes error.message, "AWS_SECRET_ACCESS_KEY is not"
    assert_includes error.message, "instance metadata: AWS_EC2_METADATA_DISABLED is true"
  end

  def test_keys_of_a_container_are_asked_for_once
    answer = lambda do |_|
      [200, JSON.generate(AccessKeyId: "BOX", SecretAccessKey: "hush-box", Token: "hush-t", Expiration: "2099-01-01T00:00:00Z")]
    end
    LoopbackServer.open(answer) do |server|
      environment = {"AWS_CONTAINER_CREDENTIALS_FULL_URI" => "#{server.url}/keys", "AWS_CONTAINER_AUTHORIZATION_TOKEN" => "hush-auth"}
      resolver = Resolver.new(environment: environment)
      found = Array.new(10) { Thread.new { resolver.call } }.map(&:value)
      assert_equal ["BOX"], found.map(&:access_key_id).uniq
      assert_equal Time.utc(2099), found.first.expires_at
      requests = server.taken
      assert_equal [["/keys", "hush-auth"]], requests.map { |request| [request.path, request.headers["authorization"]] }
    end
  end
end
