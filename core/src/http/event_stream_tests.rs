use super::*;

type Frames = Vec<(String, String)>;

/// A frame with text headers.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).unwrap());
        block.extend(name.as_bytes());
        block.push(7);
        block.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        block.extend(value.as_bytes());
    }
    raw(&block, payload)
}

fn raw(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(OVERHEAD + headers.len() + payload.len()).unwrap();
    let mut bytes = prelude(length, u32::try_from(headers.len()).unwrap());
    bytes.extend(headers);
    bytes.extend(payload);
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

fn prelude(length: u32, headers: u32) -> Vec<u8> {
    let mut bytes = [length.to_be_bytes(), headers.to_be_bytes()].concat();
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

fn event(kind: &str, payload: &str) -> Vec<u8> {
    let headers = [
        (":event-type", kind),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    frame(&headers, payload.as_bytes())
}

fn decode(chunks: &[&[u8]]) -> Result<Frames> {
    let mut frames = Frames::new();
    let mut decoder = EventStreamDecoder::new(1_000);
    let mut sink = |frame: Frame<'_>| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        frames.push((text(frame.event), text(frame.data)));
        Ok(())
    };
    for chunk in chunks {
        decoder.feed(chunk, &mut sink)?;
    }
    decoder.finish()?;
    Ok(frames)
}

fn refused(bytes: &[u8]) -> String {
    let whole = decode(&[bytes]).unwrap_err();
    let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
    let split = decode(&bytewise).unwrap_err();
    assert_eq!(whole.kind(), ErrorKind::Protocol);
    assert_eq!(split.kind(), ErrorKind::Protocol);
    whole.message().to_owned()
}

#[test]
fn every_split_gives_the_same_frames() {
    let bytes = [
        event("messageStart", r#"{"role":"assistant"}"#),
        event("contentBlockDelta", "{}"),
        frame(&[], b""),
        frame(
            &[
                (":exception-type", "throttlingException"),
                (":message-type", "exception"),
            ],
            br#"{"message":"slow"}"#,
        ),
        frame(
            &[
                (":message-type", "error"),
                (":error-code", "InternalFailure"),
                (":error-message", "a \"quoted\" reason"),
            ],
            b"",
        ),
    ]
    .concat();
    let expected: Frames = [
        ("messageStart", r#"{"role":"assistant"}"#),
        ("contentBlockDelta", "{}"),
        ("", ""),
        ("throttlingException", r#"{"message":"slow"}"#),
        (
            "InternalFailureException",
            r#"{"message":"a \"quoted\" reason"}"#,
        ),
    ]
    .map(|(event, data)| (event.to_owned(), data.to_owned()))
    .to_vec();
    assert_eq!(decode(&[&bytes]).unwrap(), expected);
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(decode(&[head, tail]).unwrap(), expected, "at {at}");
    }
    for size in 1..40 {
        let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
        assert_eq!(decode(&chunks).unwrap(), expected, "by {size}");
    }
}

#[test]
fn a_frame_is_delivered_with_its_last_byte() {
    let bytes = event("messageStart", "{}");
    let (last, head) = bytes.split_last().unwrap();
    let mut decoder = EventStreamDecoder::new(1_000);
    let mut seen = 0;
    for part in [head, std::slice::from_ref(last)] {
        assert_eq!(seen, 0);
        let count = |_: Frame<'_>| {
            seen += 1;
            Ok(())
        };
        decoder.feed(part, count).unwrap();
    }
    assert_eq!(seen, 1);
}

#[test]
fn any_flipped_bit_is_noticed() {
    let bytes = event("messageStart", r#"{"role":"assistant"}"#);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(refused(&damaged).contains("checksum"), "{at} {bit}");
        }
    }
}

#[test]
fn a_stream_that_ends_within_a_frame_is_broken() {
    let bytes = event("messageStart", "{}");
    for end in 1..bytes.len() {
        let error = decode(&[&bytes[..end]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert_eq!(error.retry(), Retry::Backoff);
        assert!(error.message().contains("ended"), "{error}");
    }
}

#[test]
fn what_is_no_event_stream_is_shown() {
    let page = refused(b"<html><body>It works!</body></html>");
    assert!(page.contains("not an AWS event stream") && page.contains("<html><body>"));
    assert!(refused(b"data: {\"sse\": 1}\n\n").contains("data: {"));
}

#[test]
fn lengths_are_bounded() {
    assert!(refused(&prelude(15, 0)).contains("impossible"));
    assert!(refused(&prelude(16, 1)).contains("impossible"));
    assert!(refused(&prelude(u32::MAX, 0)).contains("max_frame_bytes"));
    assert!(refused(&frame(&[], &[0; 985])).contains("max_frame_bytes"));
    assert_eq!(decode(&[&frame(&[], &[b'x'; 984])]).unwrap().len(), 1);
    let headers = MAX_HEADERS + 1;
    let bytes = raw(&vec![0; headers], b"");
    let mut decoder = EventStreamDecoder::new(usize::MAX);
    let error = decoder.feed(&bytes, |_| Ok(())).unwrap_err();
    assert!(
        error.message().contains("131073 bytes of headers"),
        "{error}"
    );
}

#[test]
fn a_faulty_header_is_named() {
    assert!(refused(&raw(&[1, b'x', 77], b"")).contains("unknown type 77"));
}

#[test]
fn an_error_of_the_sink_stops_the_feed() {
    let bytes = event("messageStart", "{}").repeat(2);
    let mut decoder = EventStreamDecoder::new(1_000);
    let mut seen = 0;
    let fed = decoder.feed(&bytes, |_| {
        seen += 1;
        Err(Error::new(ErrorKind::Protocol, "no"))
    });
    assert!(fed.is_err());
    assert_eq!(seen, 1);
}
