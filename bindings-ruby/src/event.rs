//! Stream events as `LittleGhost::StreamEvent` objects.

use std::sync::{Arc, OnceLock};

use little_ghost::host::{HostCall, Item};
use little_ghost::{ModelResponse, StreamEvent};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::{LazyId, Opaque, ReprValue, StaticSymbol};
use magnus::{Error, IntoValue, RArray, RClass, RHash, RModule, Ruby, Value, prelude::*};
use serde_json::Value as Json;

use crate::value;

// The class and the names that every delta needs; registered with the collector for good.
static STREAM_EVENT: OnceLock<Opaque<RClass>> = OnceLock::new();
static TEXT_DELTA: LazyId = LazyId::new("text_delta");
static REASONING_DELTA: LazyId = LazyId::new("reasoning_delta");
static TOOL_CALL_DELTA: LazyId = LazyId::new("tool_call_delta");
static TEXT: LazyId = LazyId::new("text");
static INDEX: LazyId = LazyId::new("index");
static ARGUMENTS: LazyId = LazyId::new("arguments");

/// Finds the event class, which Ruby defines before it loads the extension.
pub(crate) fn define(ruby: &Ruby) -> Result<(), Error> {
    let library: RModule = ruby.class_object().const_get("LittleGhost")?;
    let class: RClass = library.const_get("StreamEvent")?;
    ruby.gc_register_mark_object(class);
    let _ = STREAM_EVENT.set(class.into());
    Ok(())
}

fn symbol(ruby: &Ruby, id: &LazyId) -> StaticSymbol {
    StaticSymbol::from(LazyId::get_inner_with(id, ruby))
}

/// Builds the items of one batch.
#[derive(Default)]
pub(crate) struct Batch {
    // A response appears in two events that mostly arrive together; both get the same Hash. It
    // lives on the stack of the call that drains, where the collector finds it.
    response: Option<(Arc<ModelResponse>, Value)>,
}

impl Batch {
    /// Everything in `items`, as [`item`](Self::item) makes it.
    pub(crate) fn list(
        ruby: &Ruby,
        items: impl IntoIterator<Item = Item>,
        events: bool,
    ) -> Result<RArray, Error> {
        let array = ruby.ary_new();
        let mut batch = Self::default();
        for item in items {
            if let Some(item) = batch.item(ruby, item, events)? {
                array.push(item)?;
            }
        }
        Ok(array)
    }

    /// What the pump dispatches on: a `StreamEvent`; `[:event, type, data]` for an event whose
    /// data still needs value objects; `[kind, id, payload]` for a call; `[:notice, 0, payload]` and
    /// `[:instrument, 0, payload]` for what needs no answer; `[:part_over, scope, nil]`; an Integer for a
    /// withdrawn call; `:done`. Nothing for an event that nobody wants.
    fn item(&mut self, ruby: &Ruby, item: Item, events: bool) -> Result<Option<Value>, Error> {
        match item {
            Item::Event(_) if !events => Ok(None),
            Item::Event(event) => self.stream_event(ruby, event).map(Some),
            Item::Call(call) => host_call(ruby, &call).map(Some),
            Item::Cancelled(id) => Ok(Some(id.into_value_with(ruby))),
            Item::PartOver(scope) => {
                let over = (ruby.to_symbol("part_over"), scope, ());
                Ok(Some(over.into_value_with(ruby)))
            }
            Item::Notice(notice) => told(ruby, "notice", &notice.to_value()).map(Some),
            Item::Instrument(instrument) => {
                told(ruby, "instrument", &instrument.to_value()).map(Some)
            }
            Item::Done => Ok(Some(ruby.to_symbol("done").as_value())),
            // An item of a newer engine: the build of this extension would have to know it.
            _ => Ok(None),
        }
    }

    fn stream_event(&mut self, ruby: &Ruby, event: StreamEvent) -> Result<Value, Error> {
        match event {
            StreamEvent::TextDelta { text } => delta(ruby, &TEXT_DELTA, &text),
            StreamEvent::ReasoningDelta { text } => delta(ruby, &REASONING_DELTA, &text),
            StreamEvent::ToolCallDelta { index, arguments } => {
                let data = ruby.hash_new_capa(2);
                data.aset(symbol(ruby, &INDEX), index)?;
                data.aset(symbol(ruby, &ARGUMENTS), ruby.str_new(&arguments))?;
                event_object(ruby, symbol(ruby, &TOOL_CALL_DELTA), data)
            }
            StreamEvent::MessageStop { response } => {
                let data = ruby.hash_new_capa(1);
                data.aset(ruby.to_symbol("response"), self.response(ruby, response)?)?;
                tagged(ruby, "message_stop", data)
            }
            StreamEvent::ModelStop { turn, response } => {
                let data = ruby.hash_new_capa(2);
                data.aset(ruby.to_symbol("turn"), turn)?;
                data.aset(ruby.to_symbol("response"), self.response(ruby, response)?)?;
                tagged(ruby, "model_stop", data)
            }
            // The pump holds the result already, from the invocation's end; the conversation is
            // not converted a second time.
            StreamEvent::RunStop { response, .. } => {
                let data = ruby.hash_new_capa(3);
                data.aset(ruby.to_symbol("outcome"), "completed")?;
                data.aset(ruby.to_symbol("response"), response)?;
                data.aset(ruby.to_symbol("result"), ruby.qnil())?;
                tagged(ruby, "run_stop", data)
            }
            event => {
                let data = value::to_event_data(ruby, &event.data())?;
                tagged(ruby, event.kind(), data)
            }
        }
    }

    fn response(&mut self, ruby: &Ruby, response: Arc<ModelResponse>) -> Result<Value, Error> {
        if let Some((known, value)) = &self.response
            && Arc::ptr_eq(known, &response)
        {
            return Ok(*value);
        }
        let value = value::to_ruby(ruby, &response.to_value())?;
        self.response = Some((response, value));
        Ok(value)
    }
}

fn delta(ruby: &Ruby, kind: &LazyId, text: &str) -> Result<Value, Error> {
    let data = ruby.hash_new_capa(1);
    data.aset(symbol(ruby, &TEXT), ruby.str_new(text))?;
    event_object(ruby, symbol(ruby, kind), data)
}

fn tagged(ruby: &Ruby, kind: &str, data: RHash) -> Result<Value, Error> {
    let item = ruby.ary_new_capa(3);
    item.push(ruby.to_symbol("event"))?;
    item.push(ruby.to_symbol(kind))?;
    item.push(data)?;
    Ok(item.as_value())
}

/// Fills in a frozen `StreamEvent` without `Data`'s keyword protocol, which would cost more than
/// the rest of a delta together.
#[allow(unsafe_code)]
fn event_object(ruby: &Ruby, kind: StaticSymbol, data: RHash) -> Result<Value, Error> {
    data.freeze();
    let Some(class) = STREAM_EVENT.get() else {
        return Err(Error::new(
            ruby.exception_name_error(),
            "LittleGhost::StreamEvent is missing",
        ));
    };
    let class = ruby.get_inner(*class);
    let members: RArray = ruby.ary_new_from_values(&[kind.as_value(), data.as_value()]);
    // SAFETY: the class is a `Data` class with exactly these two members, the instance is new,
    // and every argument is alive on this frame.
    unsafe {
        let event = rb_sys::rb_obj_alloc(class.as_raw());
        rb_sys::rb_struct_initialize(event, members.as_raw());
        Ok(Value::from_raw(event))
    }
}

/// `[kind, 0, payload]`: like a call, but nobody waits for an answer.
fn told(ruby: &Ruby, kind: &str, payload: &Json) -> Result<Value, Error> {
    let item = ruby.ary_new_capa(3);
    item.push(ruby.to_symbol(kind))?;
    item.push(0)?;
    item.push(value::to_ruby(ruby, payload)?)?;
    Ok(item.as_value())
}

fn host_call(ruby: &Ruby, call: &HostCall) -> Result<Value, Error> {
    let item = ruby.ary_new_capa(3);
    item.push(ruby.to_symbol(call.kind.as_str()))?;
    item.push(call.id)?;
    item.push(value::to_ruby(ruby, &call.payload)?)?;
    Ok(item.as_value())
}
