# frozen_string_literal: true

module LittleGhost
  module Providers
    class VertexAI
      # Finds access tokens where Google's own libraries do: by the file that +GOOGLE_APPLICATION_CREDENTIALS+ names or
      # that gcloud wrote, of a service account or an authorized user, and from the metadata server.
      #
      #   resolver = LittleGhost::Providers::VertexAI::CredentialResolver.new
      #   token = resolver.call
      #
      # Vertex AI looks there by itself; make one for other services. Any number of threads may share it. A token is
      # remembered, and renewed a minute before it expires.
      class CredentialResolver
        # +environment+ answers to <tt>[]</tt> with the values of variables; its +HOME+ is where gcloud's file is looked
        # for. An +access_token+ is returned as it is. +clock+ returns seconds since 1970, which proofs are made for and
        # tokens expire by.
        def initialize(environment: ENV, access_token: nil, clock: -> { Time.now.to_i })
          @environment = environment
          @access_token = access_token.to_s.strip.empty? ? nil : access_token.to_s
          @clock = clock
          @native = Native::GoogleCredentials.new
        end

        # A token that works now. Raises CredentialError with what was tried, HTTPError when a service that is set up
        # does not answer, DeadlineExceededError past +deadline+, a Time, and CancelledError.
        def call(cancellation_token: nil, deadline: nil)
          return @access_token unless @access_token.nil?

          search = Native::CredentialSearch
          variables = search.variables(@environment, Native::GoogleCredentials.variables)
          now, deadline, token = search.seconds(@clock.call), search.seconds(deadline), search.token(cancellation_token)
          Native::JobWait.answer(@native.find(variables, now, deadline, token)).fetch("token")
        end

        # Hides the environment and the token.
        def inspect
          "#<#{self.class}>"
        end
      end
    end
  end
end
