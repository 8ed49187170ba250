# frozen_string_literal: true

module LittleGhost
  module Providers
    class Bedrock
      # Finds AWS credentials where the vendor's own tools do, without an SDK: in environment variables, in profiles of
      # the shared files (keys, roles, SSO sign-ins, +credential_process+), by a web identity, next to a container of
      # ECS or EKS, and on an EC2 instance.
      #
      #   resolver = LittleGhost::Providers::Bedrock::CredentialResolver.new(profile: "billing")
      #   resolver.call.access_key_id
      #
      # Bedrock looks there by itself; make one to choose a profile, or to sign requests to other services. Any number of
      # threads may share it. Keys are remembered, and renewed 5 minutes before they expire.
      class CredentialResolver
        # Keys with the token of temporary ones, and the Time when they expire. The last two may be nil.
        Credentials = Data.define(:access_key_id, :secret_access_key, :session_token, :expires_at) do
          # Shows when the keys expire, and nothing else of them.
          def inspect
            "#<#{self.class} expires_at=#{expires_at.inspect}>"
          end
          alias_method :to_s, :inspect
        end
        private_constant :Credentials

        # +environment+ answers to <tt>[]</tt> with the values of variables; its +HOME+ is where files are looked for. A
        # +profile+ goes over +AWS_PROFILE+ and over keys in the environment, a +credentials_file+ over
        # +AWS_SHARED_CREDENTIALS_FILE+.
        def initialize(environment: ENV, profile: nil, credentials_file: nil)
          @environment = environment
          @native = Native::AwsCredentials.new(profile&.to_s, credentials_file&.to_s)
        end

        # The first complete set, which answers to +access_key_id+, +secret_access_key+, +session_token+ and +expires_at+.
        # Raises CredentialError with what was tried, HTTPError when a service that is set up does not answer,
        # DeadlineExceededError past +deadline+, a Time, and CancelledError.
        def call(cancellation_token: nil, deadline: nil)
          search = Native::CredentialSearch
          job = @native.find(variables, search.seconds(deadline), search.token(cancellation_token))
          found = Native::JobWait.answer(job).transform_keys(&:to_sym)
          Credentials.new(**found, expires_at: found[:expires_at] && Time.at(found[:expires_at]).utc)
        end

        # +AWS_REGION+, +AWS_DEFAULT_REGION+, or the region of the profile; nil without.
        def region
          @native.region(variables)
        end

        # Hides the environment.
        def inspect
          "#<#{self.class}>"
        end

        private

        def variables
          Native::CredentialSearch.variables(@environment, Native::AwsCredentials.variables)
        end
      end
    end
  end
end
