# frozen_string_literal: true

require "digest"
require "json"
require "pathname"
require "tmpdir"
require_relative "../../test_helper"

class SessionStoresTest < Minitest::Test
  def setup
    @folder = Dir.mktmpdir
    @root = File.join(@folder, "sessions")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def filesystem
    LittleGhost::SessionStores::Filesystem.new(root: @root)
  end

  def stores
    [LittleGhost::SessionStores::Memory.new, filesystem]
  end

  def said(*texts, state: {}, metadata: {})
    {messages: texts.map { |text| LittleGhost::Message.new(role: :user, content: text) }, state: state, metadata: metadata}
  end

  def texts(snapshot)
    snapshot && snapshot[:messages].map(&:text)
  end

  def test_snapshots
    stores.each do |store|
      assert_nil store.load("a", actor_id: "u")
      first = store.append("a", **said("one", state: {n: 1}), expected_count: 0, actor_id: "u")
      assert_equal [["one"], {"n" => 1}, {}], [texts(first), first[:state], first[:metadata]]
      store.append("a", **said("two", state: {"f" => 0.1 + 0.2}, metadata: {m: [1, nil]}), expected_count: 1, actor_id: "u")
      found = store.load("a", actor_id: "u")
      assert_equal [%w[one two], {"f" => 0.30000000000000004}, {"m" => [1, nil]}], [texts(found), found[:state], found[:metadata]]
      assert_equal ["new"], texts(store.replace("a", **said("new"), actor_id: "u"))
      assert_equal ["new"], texts(store.load("a", actor_id: "u"))
    end
  end

  def test_conflicts_and_actors
    stores.each do |store|
      store.replace("a", **said("one"), actor_id: "u")
      error = assert_raises(LittleGhost::ProtocolError) { store.append("a", **said("two"), expected_count: 0, actor_id: "u") }
      assert_includes error.message, "another writer"
      [nil, "v"].each do |actor|
        error = assert_raises(LittleGhost::Error) { store.load("a", actor_id: actor) }
        assert_instance_of LittleGhost::Error, error
        assert_raises(LittleGhost::Error) { store.replace("a", **said("x"), actor_id: actor) }
      end
      assert_equal ["one"], texts(store.load("a", actor_id: "u"))
    end
  end

  def test_memory_gives_a_new_conversation_to_whoever_loads_it
    store = LittleGhost::SessionStores::Memory.new
    assert_nil store.load("a", actor_id: "u")
    assert_raises(LittleGhost::Error) { store.load("a", actor_id: "v") }
  end

  def test_actors_may_be_numbers
    stores.each do |store|
      store.replace("a", **said("one"), actor_id: 7)
      assert_equal ["one"], texts(store.load("a", actor_id: 7))
    end
  end

  def test_values_that_are_no_json_change_nothing
    stores.each do |store|
      store.replace("a", **said("one"))
      [{at: Time.now}, {n: Float::INFINITY}, {b: 2**70}, {s: "\xff"}].each do |state|
        assert_raises(LittleGhost::ProtocolError, state.inspect) { store.append("a", **said("two", state: state), expected_count: 1) }
      end
      assert_equal ["one"], texts(store.load("a"))
    end
  end

  def test_the_file
    filesystem.replace("conversation-42", **said("Hello", state: {n: 1}), actor_id: "user-7")
    name = Digest::SHA256.hexdigest("little_ghost/filesystem_session/v1\0conversation-42")
    assert_equal ["#{name}.json", "#{name}.lock"], Dir.children(@root).sort
    assert_equal [0o700, 0o600, 0o600], [@root, *Dir[@root + "/*"]].map { |path| File.stat(path).mode & 0o777 }
    document = JSON.parse(File.read("#{@root}/#{name}.json"))
    assert_equal %w[version actor_digest snapshot digest], document.keys
    assert_equal Digest::SHA256.hexdigest(JSON.generate([false, "user-7"])), document["actor_digest"]
    assert_equal Digest::SHA256.hexdigest(JSON.generate(document.except("digest"))), document["digest"]
    assert_equal({"messages" => [said("Hello")[:messages].first.to_h], "state" => {"n" => 1}, "metadata" => {}}, document["snapshot"])
  end

  def test_a_damaged_file_is_refused_and_stays
    store = filesystem
    store.replace("a", **said("one"))
    file = Dir[@root + "/*.json"].first
    text = File.read(file)
    [text.sub("one", "two"), text[0, 40], ""].each do |damaged|
      File.write(file, damaged)
      assert_raises(LittleGhost::ProtocolError) { store.load("a") }
      assert_raises(LittleGhost::ProtocolError) { store.replace("a", **said("x")) }
      assert_equal damaged, File.read(file)
    end
    File.write(file, text)
    File.chmod(0o644, file)
    assert_raises(LittleGhost::ProtocolError) { store.load("a") }
    File.chmod(0o600, file)
    assert_equal ["one"], texts(store.load("a"))
  end

  def test_unsuitable_roots
    Dir.mkdir(@root, 0o755)
    assert_raises(ArgumentError) { filesystem }
    File.chmod(0o700, @root)
    filesystem
    File.symlink(@root, @root + "-link")
    File.write(@root + "-file", "")
    ["", nil, @root + "-link", @root + "-link/", @root + "-file"].each do |root|
      assert_raises(ArgumentError, root.inspect) { LittleGhost::SessionStores::Filesystem.new(root: root) }
    end
    assert_kind_of LittleGhost::SessionStore, LittleGhost::SessionStores::Filesystem.new(root: Pathname(@root))
  end

  # The child has the parent's store and its own; everybody's turns are there in the end.
  def test_forked_children_take_turns
    store = filesystem
    store.replace("a", **said("start"))
    children = 4.times.map do |number|
      fork do
        [store, filesystem].each do |used|
          used.synchronize("a") do
            count = used.load("a")[:messages].length
            used.append("a", **said("child #{number}"), expected_count: count)
          end
        end
        exit!(0)
      end
    end
    assert(children.all? { |pid| Process.wait2(pid)[1].success? })
    assert_equal 9, store.load("a")[:messages].length
  end

  def test_a_child_of_a_holder_does_not_keep_the_lock
    store = filesystem
    reader, writer = IO.pipe
    holder = fork do
      store.synchronize("a") do
        writer << fork { sleep } << "\n"
        sleep
      end
    end
    grandchild = Integer(reader.gets)
    Process.kill(:KILL, holder)
    Process.wait(holder)
    assert_equal :free, Timeout.timeout(5) { store.synchronize("a") { :free } }
  ensure
    Process.kill(:KILL, grandchild) if grandchild
  end
end
