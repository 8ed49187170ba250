# frozen_string_literal: true

# What a prompt's code is evaluated on. The name is written in one piece, so that constants of a prompt
# are looked up as in any file of the application.
class LittleGhost::PromptResolver::View # :nodoc:
  # A lambda around +code+, which is the application's own.
  def self.compile(code, path)
    class_eval("lambda do |__locals| #{code}\nend", path, -1)
  end

  def initialize(session)
    @session = session
  end

  # Names a prompt without its values.
  def inspect
    "#<prompt>"
  end

  private

  # The text of another prompt, with only the given locals.
  def partial(name, locals: {})
    @session.render(name, locals, partial: true)
  end
end
