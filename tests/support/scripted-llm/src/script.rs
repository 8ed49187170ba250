//! The bytes of an answer, rendered once when the scenario is made.

use std::time::Duration;

/// Frames that follow each other without a pause are written together up to
/// this size, each still an HTTP chunk of its own.
const WRITE_SIZE: usize = 16 * 1024;

/// Bytes to write, and where each write ends.
#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Block {
    fn whole(bytes: Vec<u8>) -> Self {
        Self {
            ends: vec![bytes.len()],
            bytes,
        }
    }

    /// The pieces that are written one by one.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let segment = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            segment
        })
    }
}

#[derive(Debug)]
pub(crate) enum Step {
    /// Write a block some times, pausing between two of them.
    Write {
        block: Block,
        times: usize,
        pause: Option<Duration>,
    },
    /// Write the last bytes of the answer.
    Last(Block),
    Pause(Duration),
    WaitFor(String),
}

/// How the payload is framed and cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Framing {
    /// Chunked transfer encoding; otherwise the bytes go out as they are.
    pub(crate) chunked: bool,
    /// Bytes of payload in each write (and HTTP chunk); None: whole frames.
    pub(crate) split: Option<usize>,
    /// Pause between two frames.
    pub(crate) pause: Option<Duration>,
}

/// Collects frames and pauses into steps.
pub(crate) struct Script {
    framing: Framing,
    steps: Vec<Step>,
    /// Framed bytes that are not in a step yet.
    ready: Block,
    /// Payload that is still to be cut; only used with `split`.
    payload: Vec<u8>,
    frames: usize,
}

impl Script {
    pub(crate) fn new(head: Vec<u8>, framing: Framing) -> Self {
        Self {
            framing,
            steps: Vec::new(),
            ready: Block::whole(head),
            payload: Vec::new(),
            frames: 0,
        }
    }

    pub(crate) fn pause(&mut self, duration: Duration) {
        self.flush();
        self.steps.push(Step::Pause(duration));
    }

    pub(crate) fn wait_for(&mut self, label: String) {
        self.flush();
        self.steps.push(Step::WaitFor(label));
    }

    pub(crate) fn frame(&mut self, bytes: &[u8]) {
        self.separate();
        self.append(bytes);
    }

    /// The same frame `count` times, without `count` copies of it.
    pub(crate) fn repeat(&mut self, bytes: &[u8], count: usize) {
        // The last one goes the usual way, so that what ends the answer can
        // join it in one write.
        let Some(mut before) = count.checked_sub(1) else {
            return;
        };
        match self.framing {
            _ if before == 0 => {}
            Framing { pause: Some(_), .. } => {
                self.separate();
                self.flush();
                let block = match self.framing.split {
                    Some(_) => self.cut(bytes),
                    None => Block::whole(self.framed(bytes)),
                };
                self.write(block, before);
            }
            Framing { split: Some(_), .. } => {
                for _ in 0..before {
                    self.frame(bytes);
                }
            }
            _ => {
                self.flush();
                let framed = self.framed(bytes);
                let together = (WRITE_SIZE / framed.len().max(1)).clamp(1, before);
                self.write(Block::whole(framed.repeat(together)), before / together);
                self.frames += 1;
                before %= together;
                for _ in 0..before {
                    self.frame(bytes);
                }
            }
        }
        self.frame(bytes);
    }

    /// Ends the script; with `complete`, the chunked body is ended properly.
    pub(crate) fn finish(mut self, complete: bool) -> Vec<Step> {
        self.cut_payload();
        if complete && self.framing.chunked {
            // In the write of the last frame: a client that leaves as soon as
            // it has read that frame must not look like one that left early.
            self.ready.bytes.extend_from_slice(b"0\r\n\r\n");
            let end = self.ready.bytes.len();
            match self.ready.ends.last_mut() {
                Some(last) => *last = end,
                None => self.ready.ends.push(end),
            }
        }
        self.flush();
        let last = self
            .steps
            .iter()
            .rposition(|step| matches!(step, Step::Write { .. }));
        if let Some(slot) = last.and_then(|index| self.steps.get_mut(index))
            && let Step::Write {
                block, times: 1, ..
            } = slot
        {
            *slot = Step::Last(std::mem::take(block));
        }
        self.steps
    }

    /// The pause that belongs between the frame before and the next one.
    fn separate(&mut self) {
        if let (Some(pause), true) = (self.framing.pause, self.frames > 0) {
            self.pause(pause);
        }
        self.frames += 1;
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.framing.split.is_some() {
            self.payload.extend_from_slice(bytes);
            return;
        }
        if self.ready.bytes.len() >= WRITE_SIZE {
            self.flush();
        }
        let framed = self.framed(bytes);
        self.ready.bytes.extend_from_slice(&framed);
        self.ready.ends = vec![self.ready.bytes.len()];
    }

    fn framed(&self, bytes: &[u8]) -> Vec<u8> {
        // An empty chunk would end the body.
        if !self.framing.chunked || bytes.is_empty() {
            return bytes.to_vec();
        }
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        framed
    }

    fn cut(&self, bytes: &[u8]) -> Block {
        let mut block = Block::default();
        for piece in bytes.chunks(self.framing.split.unwrap_or(WRITE_SIZE).max(1)) {
            block.bytes.extend_from_slice(&self.framed(piece));
            block.ends.push(block.bytes.len());
        }
        block
    }

    fn cut_payload(&mut self) {
        if !self.payload.is_empty() {
            let payload = std::mem::take(&mut self.payload);
            let cut = self.cut(&payload);
            let before = self.ready.bytes.len();
            self.ready.bytes.extend_from_slice(&cut.bytes);
            self.ready
                .ends
                .extend(cut.ends.iter().map(|end| before + end));
        }
    }

    fn flush(&mut self) {
        self.cut_payload();
        if !self.ready.bytes.is_empty() {
            let block = std::mem::take(&mut self.ready);
            self.steps.push(Step::Write {
                block,
                times: 1,
                pause: None,
            });
        }
    }

    fn write(&mut self, block: Block, times: usize) {
        self.steps.push(Step::Write {
            block,
            times,
            pause: self.framing.pause,
        });
    }
}
