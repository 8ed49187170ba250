//! Stream events as `LittleGhost::StreamEvent` objects.

use little_ghost::StreamEvent;
use little_ghost::host::{HostCall, Item};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::{Lazy, LazyId, ReprValue, StaticSymbol};
use magnus::{Error, IntoValue, RArray, RClass, RHash, RModule, Ruby, Value, prelude::*};

use crate::value;

// The classes and names that every delta needs; registered with the collector for good.
static STREAM_EVENT: Lazy<RClass> = Lazy::new(|ruby| {
    ruby.class_object()
        .const_get::<_, RModule>("LittleGhost")
        .and_then(|library| library.const_get("StreamEvent"))
        .unwrap_or_else(|_| ruby.class_object())
});
static TEXT_DELTA: LazyId = LazyId::new("text_delta");
static REASONING_DELTA: LazyId = LazyId::new("reasoning_delta");
static TOOL_CALL_DELTA: LazyId = LazyId::new("tool_call_delta");
static TEXT: LazyId = LazyId::new("text");
static INDEX: LazyId = LazyId::new("index");
static ARGUMENTS: LazyId = LazyId::new("arguments");

fn symbol(ruby: &Ruby, id: &LazyId) -> StaticSymbol {
    StaticSymbol::from(LazyId::get_inner_with(id, ruby))
}

/// What the pump dispatches on: a `StreamEvent`; `[:event, type, data]` for an event whose data
/// still needs value objects; `[kind, id, payload]` for a call; an Integer for a withdrawn call;
/// `:done`. Nil for an event that nobody wants.
pub(crate) fn item(ruby: &Ruby, item: Item, events: bool) -> Result<Option<Value>, Error> {
    match item {
        Item::Event(_) if !events => Ok(None),
        Item::Event(event) => stream_event(ruby, event).map(Some),
        Item::Call(call) => host_call(ruby, &call).map(Some),
        Item::Cancelled(id) => Ok(Some(id.into_value_with(ruby))),
        Item::Done => Ok(Some(ruby.to_symbol("done").as_value())),
    }
}

fn stream_event(ruby: &Ruby, event: StreamEvent) -> Result<Value, Error> {
    match event {
        StreamEvent::TextDelta { text } => delta(ruby, &TEXT_DELTA, &text),
        StreamEvent::ReasoningDelta { text } => delta(ruby, &REASONING_DELTA, &text),
        StreamEvent::ToolCallDelta { index, arguments } => {
            let data = ruby.hash_new_capa(2);
            data.aset(symbol(ruby, &INDEX), index)?;
            data.aset(symbol(ruby, &ARGUMENTS), ruby.str_new(&arguments))?;
            Ok(event_object(ruby, symbol(ruby, &TOOL_CALL_DELTA), data))
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

fn delta(ruby: &Ruby, kind: &LazyId, text: &str) -> Result<Value, Error> {
    let data = ruby.hash_new_capa(1);
    data.aset(symbol(ruby, &TEXT), ruby.str_new(text))?;
    Ok(event_object(ruby, symbol(ruby, kind), data))
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
fn event_object(ruby: &Ruby, kind: StaticSymbol, data: RHash) -> Value {
    data.freeze();
    let class = ruby.get_inner(&STREAM_EVENT);
    let members: RArray = ruby.ary_new_from_values(&[kind.as_value(), data.as_value()]);
    // SAFETY: the class is a `Data` class with exactly these two members, the instance is new,
    // and every argument is alive on this frame.
    unsafe {
        let event = rb_sys::rb_obj_alloc(class.as_raw());
        rb_sys::rb_struct_initialize(event, members.as_raw());
        Value::from_raw(event)
    }
}

fn host_call(ruby: &Ruby, call: &HostCall) -> Result<Value, Error> {
    let item = ruby.ary_new_capa(3);
    item.push(ruby.to_symbol(call.kind.as_str()))?;
    item.push(call.id)?;
    item.push(value::to_ruby(ruby, &call.payload)?)?;
    Ok(item.as_value())
}
